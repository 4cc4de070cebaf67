package io.espalier.core.logs;

import io.espalier.core.config.Job;
import io.espalier.core.config.task.LogOptions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The retention and redaction rules of a log store.
 *
 * @param all retention: its age applies to jobs without their own, its size to all jobs together
 * @param jobs retention of jobs that have their own
 * @param redact patterns for jobs without patterns of their own
 * @param jobRedact complete patterns of jobs that have some
 */
public record LogPolicy(
    LogRetention all,
    Map<String, LogRetention> jobs,
    List<String> redact,
    Map<String, List<String>> jobRedact) {
  /** Retains everything and redacts nothing. */
  public static final LogPolicy NONE = new LogPolicy(LogRetention.ALL, List.of());

  private static final long DAY_MILLIS = 86_400_000;
  private static final long MB = 1 << 20;

  public LogPolicy {
    jobs = Map.copyOf(jobs);
    redact = List.copyOf(redact);
    Map<String, List<String>> copy = new HashMap<>();
    jobRedact.forEach((job, patterns) -> copy.put(job, List.copyOf(patterns)));
    jobRedact = Map.copyOf(copy);
  }

  /** Creates a policy that is the same for all jobs. */
  public LogPolicy(LogRetention all, List<String> redact) {
    this(all, Map.of(), redact, Map.of());
  }

  /** A copy with the options of the jobs. */
  public LogPolicy withJobs(Iterable<Job> configured) {
    Map<String, LogOptions> options = new HashMap<>();
    configured.forEach(job -> options.put(job.name(), job.logs()));
    return withOptions(options);
  }

  /**
   * A copy with the options of the jobs.
   *
   * @param configured options by job
   */
  public LogPolicy withOptions(Map<String, LogOptions> configured) {
    Map<String, LogRetention> retentions = new HashMap<>();
    Map<String, List<String>> patterns = new HashMap<>();
    for (Map.Entry<String, LogOptions> job : configured.entrySet()) {
      LogOptions options = job.getValue();
      if (options.retentionDays().isPresent() || options.maxMb().isPresent()) {
        long age =
            options.retentionDays().isPresent()
                ? options.retentionDays().getAsInt() * DAY_MILLIS
                : all.maxAgeMillis();
        retentions.put(job.getKey(), new LogRetention(age, options.maxMb().orElse(0) * MB));
      }
      if (!options.redact().isEmpty()) {
        List<String> both = new ArrayList<>(redact);
        both.addAll(options.redact());
        patterns.put(job.getKey(), both);
      }
    }
    return new LogPolicy(all, retentions, redact, patterns);
  }

  /** Age and size limits of one job; excludes the size of all jobs together. */
  public LogRetention of(String job) {
    LogRetention own = jobs.get(job);
    return own != null ? own : new LogRetention(all.maxAgeMillis(), 0);
  }

  /** The patterns that apply to one job. */
  public List<String> patternsOf(String job) {
    return jobRedact.getOrDefault(job, redact);
  }
}
