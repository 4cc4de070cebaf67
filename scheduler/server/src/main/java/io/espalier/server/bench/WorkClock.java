package io.espalier.server.bench;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;
import java.util.Locale;

/** What the scheduler's own work is measured with. Used by one thread, the one that is measured. */
public interface WorkClock {
  /** Nanoseconds since some fixed instant; never less than before. */
  long nanos();

  /** Which clocks there are. */
  enum Kind {
    /** Processor time of the thread: what else the machine does hardly disturbs it. */
    CPU,
    /** Time as it passes: includes waiting for a processor, and collections of garbage. */
    WALL,
    /** Nothing is measured: the scheduler takes no time. Results depend on the seed alone. */
    NONE;

    /** As on a command line. */
    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }

    /** Opens the clock, for the calling thread. */
    public WorkClock open() {
      return switch (this) {
        case CPU -> cpu();
        case WALL -> System::nanoTime;
        case NONE -> () -> 0;
      };
    }
  }

  private static WorkClock cpu() {
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    return threads::getCurrentThreadCpuTime;
  }

  /** What two readings of the clock differ by when nothing lies between them: the median. */
  default long overheadNanos() {
    long[] differences = new long[2_001];
    for (int warmUp = 0; warmUp < 10; warmUp++) {
      for (int i = 0; i < differences.length; i++) {
        long before = nanos();
        differences[i] = nanos() - before;
      }
    }
    Arrays.sort(differences);
    return differences[differences.length / 2];
  }
}
