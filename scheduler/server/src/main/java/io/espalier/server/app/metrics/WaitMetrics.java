package io.espalier.server.app.metrics;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

/**
 * Publishes how long tasks wait, by job, for the first 1,000 jobs that have tasks started; all
 * others together are {@code other}. Jobs that are no longer configured make room for new ones.
 * Confined to the thread that publishes events.
 */
final class WaitMetrics {
  private static final int MOST_JOBS = 1_000;
  private static final long TIDY_NANOS = Duration.ofMinutes(1).toNanos();

  private static final Duration[] BUCKETS = {
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

  /**
   * The waits of one job.
   *
   * @param placed from eligible to placed
   * @param started from placed to the start of the process or call
   */
  record OfJob(Timer placed, Timer started) {}

  /**
   * @param configured returns the names of the configured jobs; any thread may call it
   */
  WaitMetrics(MeterRegistry metrics, Supplier<Set<String>> configured) {
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
                boolean isGone = !left.contains(each.getKey());
                if (isGone) {
                  metrics.remove(each.getValue().placed());
                  metrics.remove(each.getValue().started());
                }
                return isGone;
              });
    }
    return jobs.size() < MOST_JOBS
        ? jobs.computeIfAbsent(job, this::register)
        : jobs.computeIfAbsent("other", this::register);
  }

  private OfJob register(String job) {
    return new OfJob(timer(job, "placed"), timer(job, "started"));
  }

  private Timer timer(String job, String until) {
    return Timer.builder("espalier.task.wait")
        .description("From when tasks could start until placed, then until started")
        .tag("espalier_job", job)
        .tag("until", until)
        .serviceLevelObjectives(BUCKETS)
        .register(metrics);
  }
}
