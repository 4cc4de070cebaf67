package io.espalier.server.app.metrics;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Publishes what tasks of a job do: how many start and end, how long they wait and take. By job for
 * the first 1,000 jobs that have tasks started; all others together are {@code other}. Jobs that
 * are no longer configured make room for new ones. Confined to the thread that publishes events.
 */
final class JobMetrics {
  private static final int MOST_JOBS = 1_000;
  private static final String LABEL = "espalier_job";
  private static final String OTHER = "other";
  private static final long TIDY_NANOS = Duration.ofMinutes(1).toNanos();

  private static final Duration[] WAIT_BUCKETS = {
    Duration.ofMillis(100),
    Duration.ofSeconds(1),
    Duration.ofSeconds(10),
    Duration.ofMinutes(1),
    Duration.ofMinutes(10),
    Duration.ofHours(1),
    Duration.ofHours(6)
  };

  private final MeterRegistry metrics;
  private final Supplier<Set<String>> configured;
  private final Map<String, OfJob> jobs = new HashMap<>();
  private long tidied = System.nanoTime() - TIDY_NANOS;

  /** The meters of one job. */
  static final class OfJob {
    private final MeterRegistry metrics;
    private final String job;
    private final Timer placed;
    private final Timer started;
    private final Timer took;
    private final Counter starts;

    /** By status; a job has few of them. */
    private final Map<String, Counter> ends = new HashMap<>();

    OfJob(MeterRegistry metrics, String job) {
      this.metrics = metrics;
      this.job = job;
      placed = wait("placed");
      started = wait("started");
      took =
          Timer.builder("espalier.job.duration")
              .description("How long invocations took, by job")
              .tag(LABEL, job)
              .register(metrics);
      starts =
          Counter.builder("espalier.job.starts")
              .description("Starts of tasks made durable, by job")
              .tag(LABEL, job)
              .register(metrics);
    }

    private Timer wait(String until) {
      return Timer.builder("espalier.task.wait")
          .description("From when tasks could start until placed, then until started")
          .tag(LABEL, job)
          .tag("until", until)
          .serviceLevelObjectives(WAIT_BUCKETS)
          .register(metrics);
    }

    /**
     * @param waited from eligible to placed; null: not known
     */
    void started(@Nullable Duration waited) {
      starts.increment();
      if (waited != null) {
        placed.record(waited);
      }
    }

    /**
     * @param status the status that the task was left in
     * @param lasted from placed to ended; null: not known
     * @param toStart from placed to the start of the process or call; null: not known
     */
    void ended(String status, @Nullable Duration lasted, @Nullable Duration toStart) {
      ends.computeIfAbsent(
              status,
              each ->
                  Counter.builder("espalier.job.ends")
                      .description("Ends of invocations, by job and status of their task")
                      .tag(LABEL, job)
                      .tag("status", each)
                      .register(metrics))
          .increment();
      if (lasted != null) {
        took.record(lasted);
      }
      if (toStart != null) {
        started.record(toStart);
      }
    }

    private void remove() {
      for (Meter each : List.of(placed, started, took, starts)) {
        metrics.remove(each);
      }
      ends.values().forEach(metrics::remove);
    }
  }

  /**
   * @param configured returns the names of the configured jobs; any thread may call it
   */
  JobMetrics(MeterRegistry metrics, Supplier<Set<String>> configured) {
    this.metrics = metrics;
    this.configured = configured;
  }

  OfJob of(String job) {
    OfJob known = jobs.get(job);
    if (known != null) {
      return known;
    }
    if (jobs.size() >= MOST_JOBS && System.nanoTime() - tidied >= TIDY_NANOS) {
      tidied = System.nanoTime();
      Set<String> left = configured.get();
      jobs.entrySet()
          .removeIf(
              each -> {
                boolean isGone = !left.contains(each.getKey()) && !each.getKey().equals(OTHER);
                if (isGone) {
                  each.getValue().remove();
                }
                return isGone;
              });
    }
    return jobs.size() < MOST_JOBS
        ? jobs.computeIfAbsent(job, this::register)
        : jobs.computeIfAbsent(OTHER, this::register);
  }

  private OfJob register(String job) {
    return new OfJob(metrics, job);
  }
}
