package io.espalier.worker.cgroup;

import io.espalier.core.config.task.CgroupLimits;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;

/** Control groups of version 2: one hierarchy for all controllers. */
final class CgroupV2 extends CgroupDirectory {
  private static final long MB = 1L << 20;
  private static final long PERIOD_MICROS = 100_000;

  private static final int MOST_WEIGHT = 10_000;

  private long peakSeen = -1;

  CgroupV2(Path path, Set<String> controllers) {
    super(path, controllers);
  }

  @Override
  int version() {
    return 2;
  }

  @Override
  void setUp() {}

  @Override
  void set(CgroupLimit limit, CgroupLimits limits) throws IOException {
    switch (limit) {
      case MEMORY -> writeAndVerify(file("memory.max"), limits.memoryMb().getAsLong() * MB, MB);
      case SWAP ->
          writeAndVerify(file("memory.swap.max"), limits.memorySwapMb().getAsLong() * MB, MB);
      case CPU_WEIGHT -> {
        int weight = limits.cpuWeight().orElseGet(() -> limits.cpuShares().getAsInt());
        writeAndVerify(file("cpu.weight"), Math.max(1, Math.min(MOST_WEIGHT, weight)), 0);
      }
      case CPU_QUOTA -> {
        String quota =
            limits.cpuQuotaPercent().getAsInt() * PERIOD_MICROS / 100 + " " + PERIOD_MICROS;
        CgroupFiles.write(file("cpu.max"), quota);
        String found = CgroupFiles.read(file("cpu.max"));
        require(found.equals(quota), file("cpu.max"), quota, found);
      }
      case PIDS -> writeAndVerify(file("pids.max"), limits.pidsMax().getAsInt(), 0);
      case IO_WEIGHT -> {
        Path weight = file("io.weight");
        Path file = Files.exists(weight) ? weight : file("io.bfq.weight");
        int value = limits.ioWeight().getAsInt();
        CgroupFiles.write(file, "default " + (file.equals(weight) ? value : Math.min(1000, value)));
      }
    }
  }

  @Override
  boolean isEmpty() {
    // 1 when processes are in the group or below it; a missing group is empty.
    Path events = file("cgroup.events");
    return CgroupFiles.field(events, "populated") == 0 || Files.notExists(events);
  }

  @Override
  long cpuMillis() {
    long micros = CgroupFiles.field(file("cpu.stat"), "usage_usec");
    return micros < 0 ? -1 : micros / 1000;
  }

  @Override
  long memoryBytes() {
    long now = CgroupFiles.number(file("memory.current"));
    peakSeen = Math.max(peakSeen, now);
    return now;
  }

  @Override
  long peakMemoryBytes() {
    long peak = CgroupFiles.number(file("memory.peak"));
    // Kernels before 5.19 do not record the peak: then it is the largest value read so far.
    return peak >= 0 ? peak : Math.max(peakSeen, memoryBytes());
  }

  @Override
  long readBytes() {
    return io("rbytes=");
  }

  @Override
  long writtenBytes() {
    return io("wbytes=");
  }

  /** Sums lines of the form DEVICE rbytes=N wbytes=N ... */
  private long io(String key) {
    if (!has("io")) {
      return -1;
    }
    long sum = 0;
    try {
      for (String line : CgroupFiles.read(file("io.stat")).split("\n", -1)) {
        for (String word : line.split(" ", -1)) {
          if (word.startsWith(key)) {
            sum += Long.parseLong(word.substring(key.length()));
          }
        }
      }
    } catch (IOException | NumberFormatException e) {
      return -1;
    }
    return sum;
  }

  @Override
  long outOfMemoryKills() {
    return CgroupFiles.field(file("memory.events"), "oom_kill");
  }

  @Override
  boolean canKill() {
    return Files.exists(file("cgroup.kill")) || Files.exists(file("cgroup.freeze"));
  }

  @Override
  boolean killAtOnce() throws IOException {
    Path kill = file("cgroup.kill");
    if (!Files.exists(kill)) {
      return false;
    }
    CgroupFiles.write(kill, "1");
    return true;
  }

  @Override
  boolean freeze() throws IOException {
    CgroupFiles.write(file("cgroup.freeze"), "1");
    return CgroupFiles.field(file("cgroup.events"), "frozen") == 1;
  }

  @Override
  void thaw() throws IOException {
    CgroupFiles.write(file("cgroup.freeze"), "0");
  }
}
