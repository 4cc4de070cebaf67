package io.espalier.worker.resources;

import io.espalier.core.running.MeasuredLoad;
import java.io.IOException;
import java.nio.file.Path;
import java.util.regex.Pattern;

/**
 * Measures how busy a host is, as a share of what a worker may use of it: of the processors since
 * the measurement before, and of the memory now. It reads two small files. For one thread.
 */
public final class HostLoadReader {
  private static final Pattern PROCESSOR = Pattern.compile("(?m)^cpu\\d+ ");
  private static final long KB_PER_MB = 1024;

  /** Of user, nice, system, idle, iowait, irq, softirq and steal. */
  private static final int TIMES = 8;

  private static final int IDLE = 3;
  private static final int WAITS = 4;

  /** Small differences are no reason to tell the scheduler. */
  private static final int STEP = 10;

  private final Path root;
  private long busyBefore = -1;
  private long allBefore;

  /**
   * @param root {@code /}, or its substitute in a test
   */
  public HostLoadReader(Path root) {
    this.root = root;
  }

  /**
   * Measures; what cannot be read is unknown, and so are the processors the first time.
   *
   * @param own what the worker may use
   */
  public MeasuredLoad read(HostResources own) {
    return new MeasuredLoad(cpu(own.cpuCores()), memory(own.memoryMb()));
  }

  private int cpu(int ownCores) {
    try {
      String text = KernelFiles.text(root.resolve("proc/stat"));
      String[] all = text.lines().findFirst().orElse("").split(" +", -1);
      long busy = 0;
      long sum = 0;
      for (int i = 0; i < TIMES; i++) {
        long time = Long.parseLong(all[i + 1]);
        sum += time;
        busy += i == IDLE || i == WAITS ? 0 : time;
      }
      long busySince = busy - busyBefore;
      long allSince = sum - allBefore;
      boolean isFirst = busyBefore < 0;
      busyBefore = busy;
      allBefore = sum;
      long cores = PROCESSOR.matcher(text).results().count();
      return isFirst || allSince <= 0 || ownCores <= 0
          ? -1
          : share(Math.max(0, busySince) * cores, allSince * ownCores);
    } catch (IOException | NumberFormatException | ArrayIndexOutOfBoundsException e) {
      return -1;
    }
  }

  private int memory(long ownMb) {
    try {
      MemInfo host = MemInfo.read(root);
      return ownMb <= 0 ? -1 : share(host.totalKb() - host.availableKb(), ownMb * KB_PER_MB);
    } catch (IOException e) {
      return -1;
    }
  }

  private static int share(long used, long of) {
    long steps = (used * MeasuredLoad.FULL / of + STEP / 2) / STEP;
    return (int) Math.min(MeasuredLoad.FULL, Math.max(0, steps * STEP));
  }
}
