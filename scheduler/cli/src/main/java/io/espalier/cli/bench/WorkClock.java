package io.espalier.cli.bench;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;
import java.util.Locale;

/** The clock that measures the scheduler's own work. Used by one thread, the measured one. */
interface WorkClock {
  /** Returns nanoseconds since some fixed instant, never decreasing. */
  long nanos();

  /** The kinds of clocks. */
  enum Kind {
    /** Processor time of the thread, which other load on the machine hardly disturbs. */
    CPU,
    /** Elapsed time, including waiting for a processor and garbage collections. */
    WALL,
    /** Measures nothing: the scheduler takes no time. Results depend on the seed alone. */
    NONE;

    /** Returns the name on the command line. */
    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }

    /** Opens the clock for the calling thread. */
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

  /** Returns the median difference between two consecutive readings of the clock. */
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
