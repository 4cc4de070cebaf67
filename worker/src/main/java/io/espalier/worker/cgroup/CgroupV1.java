package io.espalier.worker.cgroup;

import io.espalier.core.config.task.CgroupLimits;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;

/** Control groups of version 1: a separate hierarchy for each controller, or for a few together. */
final class CgroupV1 extends CgroupDirectory {
  private static final long MB = 1L << 20;
  private static final long PERIOD_MICROS = 100_000;
  private static final int LEAST_SHARES = 2;
  private static final int MOST_SHARES = 262_144;

  CgroupV1(Path path, Set<String> controllers) {
    super(path, controllers);
  }

  @Override
  int version() {
    return 1;
  }

  @Override
  void setUp() throws IOException {
    CgroupFiles.write(file("notify_on_release"), "1");
    if (has("cpuset")) {
      // No process can join a group without CPUs and memory nodes, and a new group has none.
      for (String name : new String[] {"cpuset.cpus", "cpuset.mems"}) {
        Path parent = path().resolveSibling(name);
        if (CgroupFiles.read(file(name)).isEmpty()) {
          CgroupFiles.write(file(name), CgroupFiles.read(parent));
        }
      }
    }
  }

  @Override
  void set(CgroupLimit limit, CgroupLimits limits) throws IOException {
    switch (limit) {
      case MEMORY ->
          // The kernel rounds to pages, up or down.
          writeAndVerify(file("memory.limit_in_bytes"), limits.memoryMb().getAsLong() * MB, MB);
      case SWAP -> {
        long memory = CgroupFiles.number(file("memory.limit_in_bytes"));
        if (limits.memoryMb().isEmpty()) {
          throw new IOException(
              "memory_swap_mb needs memory_mb beside it: version 1 only limits their sum");
        }
        writeAndVerify(
            file("memory.memsw.limit_in_bytes"),
            memory + limits.memorySwapMb().getAsLong() * MB,
            MB);
      }
      case CPU_WEIGHT -> {
        long shares =
            limits.cpuWeight().isPresent()
                ? limits.cpuWeight().getAsInt() * 1024L / 100
                : limits.cpuShares().getAsInt();
        writeAndVerify(
            file("cpu.shares"), Math.max(LEAST_SHARES, Math.min(MOST_SHARES, shares)), 0);
      }
      case CPU_QUOTA -> {
        CgroupFiles.write(file("cpu.cfs_period_us"), Long.toString(PERIOD_MICROS));
        writeAndVerify(
            file("cpu.cfs_quota_us"), limits.cpuQuotaPercent().getAsInt() * PERIOD_MICROS / 100, 0);
      }
      case PIDS -> writeAndVerify(file("pids.max"), limits.pidsMax().getAsInt(), 0);
      case IO_WEIGHT -> {
        Path weight = file("blkio.weight");
        Path file = Files.exists(weight) ? weight : file("blkio.bfq.weight");
        int least = Files.exists(weight) ? 10 : 1;
        // The default is 500 of 1000 here, and 100 of 10000 in the configuration.
        long value = Math.min(1000, Math.max(least, limits.ioWeight().getAsInt() * 5L));
        CgroupFiles.write(file, Long.toString(value));
      }
    }
  }

  @Override
  boolean isEmpty() {
    try {
      return pids().isEmpty();
    } catch (IOException e) {
      return false;
    }
  }

  @Override
  long cpuMillis() {
    long nanos = CgroupFiles.number(file("cpuacct.usage"));
    return nanos < 0 ? -1 : nanos / 1_000_000;
  }

  @Override
  long memoryBytes() {
    return CgroupFiles.number(file("memory.usage_in_bytes"));
  }

  @Override
  long peakMemoryBytes() {
    return CgroupFiles.number(file("memory.max_usage_in_bytes"));
  }

  @Override
  long readBytes() {
    return io("Read");
  }

  @Override
  long writtenBytes() {
    return io("Write");
  }

  /** Sums lines of the form DEVICE Read|Write|... BYTES. */
  private long io(String operation) {
    Path file = file("blkio.throttle.io_service_bytes_recursive");
    if (!has("blkio") || !Files.exists(file)) {
      return -1;
    }
    long sum = 0;
    try {
      for (String line : CgroupFiles.read(file).split("\n", -1)) {
        String[] words = line.split(" ", -1);
        if (words.length == 3 && words[1].equals(operation)) {
          sum += Long.parseLong(words[2]);
        }
      }
    } catch (IOException | NumberFormatException e) {
      return -1;
    }
    return sum;
  }

  @Override
  long outOfMemoryKills() {
    return has("memory") ? CgroupFiles.field(file("memory.oom_control"), "oom_kill") : -1;
  }

  @Override
  boolean canKill() {
    return has("freezer");
  }

  @Override
  boolean killAtOnce() {
    return false;
  }

  @Override
  boolean freeze() throws IOException {
    Path state = file("freezer.state");
    if (CgroupFiles.read(state).equals("THAWED")) {
      CgroupFiles.write(state, "FROZEN");
    }
    return CgroupFiles.read(state).equals("FROZEN");
  }

  @Override
  void thaw() throws IOException {
    CgroupFiles.write(file("freezer.state"), "THAWED");
  }
}
