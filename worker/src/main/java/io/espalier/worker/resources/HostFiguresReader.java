package io.espalier.worker.resources;

import com.sun.management.OperatingSystemMXBean;
import io.espalier.core.running.HostFigures;
import io.espalier.core.running.HostFigures.Space;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/**
 * Measures a host or container for people: load, memory, and the disk of a directory. For one
 * thread.
 *
 * <p>If the disk belongs to a server that does not answer, the question never ends. So another
 * thread asks for it, and a measurement has what was answered to the one before it, or the disk as
 * unknown. There is one question at a time.
 */
public final class HostFiguresReader {
  private static final long BYTES_PER_KB = 1024;

  private final Path root;
  private final Source source;
  private final Executor diskThread;
  private CompletableFuture<Space> disk;

  /** Where the figures come from. */
  interface Source {
    /** Returns the load average of the last minute; negative: unknown. */
    double load();

    /** Returns the bytes of memory, and those that are not used, for systems other than Linux. */
    Space memory();

    /** Returns the bytes of the disk, and those that this process may still write; may block. */
    Space disk() throws IOException;
  }

  HostFiguresReader(Path root, Source source, Executor diskThread) {
    this.root = root;
    this.source = source;
    this.diskThread = diskThread;
    this.disk = askForDisk();
  }

  /**
   * Returns a reader of this host, or of the container that this process is in.
   *
   * @param directory on the disk of interest
   */
  public static HostFiguresReader ofThisHost(Path directory) {
    OperatingSystemMXBean system = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
    return new HostFiguresReader(
        Path.of("/"), new Platform(system, directory), HostFiguresReader::runOnNewThread);
  }

  private static void runOnNewThread(Runnable work) {
    Thread thread = new Thread(work, "disk");
    thread.setDaemon(true);
    thread.start();
  }

  /** Measures, without waiting for the disk; what cannot be read is unknown. */
  public HostFigures read() {
    Space newestDisk = disk.getNow(Space.UNKNOWN);
    if (disk.isDone()) {
      disk = askForDisk();
    }
    return new HostFigures(load(), memory(), newestDisk);
  }

  private CompletableFuture<Space> askForDisk() {
    return CompletableFuture.supplyAsync(
        () -> {
          try {
            return source.disk();
          } catch (IOException | RuntimeException e) {
            return Space.UNKNOWN;
          }
        },
        diskThread);
  }

  private int load() {
    double load = source.load();
    return load >= 0 ? (int) Math.min(Integer.MAX_VALUE, Math.round(load * 1_000)) : -1;
  }

  /** What the control groups of this process leave of the memory of the host. */
  private Space memory() {
    try {
      MemInfo host = MemInfo.read(root);
      CgroupPlace place = CgroupPlace.ofSelf(root);
      long total = host.totalKb() * BYTES_PER_KB;
      long available = host.availableKb() * BYTES_PER_KB;
      long limit = CgroupLimitsSeen.memoryBytes(place).orElse(Long.MAX_VALUE);
      return limit < total
          ? new Space(limit, Math.min(available, CgroupLimitsSeen.memoryLeftBytes(place).orElse(0)))
          : new Space(total, available);
    } catch (IOException e) {
      return source.memory();
    }
  }

  private record Platform(OperatingSystemMXBean system, Path directory) implements Source {
    @Override
    public double load() {
      return system.getSystemLoadAverage();
    }

    @Override
    public Space memory() {
      return new Space(system.getTotalMemorySize(), system.getFreeMemorySize());
    }

    @Override
    public Space disk() throws IOException {
      FileStore store = Files.getFileStore(directory);
      return new Space(store.getTotalSpace(), store.getUsableSpace());
    }
  }
}
