package io.espalier.core.config;

import io.espalier.core.config.rollout.RolloutSpec;
import io.espalier.core.config.task.BatchSpec;
import io.espalier.core.config.window.Schedule;
import io.soabase.recordbuilder.core.RecordBuilder;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * The scheduling options of a job, apart from priority and needs.
 *
 * @param queue queue to which it belongs
 * @param maxConcurrent maximum number of running tasks; 0: unlimited
 * @param maxStarting maximum number of starts in flight: placed, and not confirmed by the runner;
 *     0: unlimited
 * @param startRate maximum rate at which its tasks start; empty: unlimited
 * @param reserveAfter how long a task may wait only for slots until a node is reserved for it
 *     (docs/design/design.md#room-kept-for-heavy-tasks); empty: forever
 * @param roles roles that it may use where a node has several parents; empty: all
 * @param schedule when its tasks may start, apart from what its queue and the settings say
 * @param mayOverrun whether a task may start that will probably not end before its window does
 * @param assume how long a task is taken to last while too few have ended; empty: what is known of
 *     these
 * @param atWindowEnd what happens to its running tasks when a window ends
 * @param rollout the stages in which its tasks start; empty: all at once
 * @param quarantine what happens when the failures of its tasks concentrate below a node
 * @param batch which tasks one process may run together; empty: each has its own
 */
@RecordBuilder
public record JobScheduling(
    String queue,
    int maxConcurrent,
    int maxStarting,
    Optional<StartRate> startRate,
    Optional<Duration> reserveAfter,
    List<String> roles,
    Schedule schedule,
    boolean mayOverrun,
    Optional<Duration> assume,
    AtWindowEnd atWindowEnd,
    Optional<RolloutSpec> rollout,
    Quarantining quarantine,
    Optional<BatchSpec> batch)
    implements JobSchedulingBuilder.With {
  /** The queue of jobs that name none. */
  public static final String DEFAULT_QUEUE = "default";

  public static final JobScheduling DEFAULT =
      new JobScheduling(
          DEFAULT_QUEUE,
          0,
          0,
          Optional.empty(),
          Optional.of(Duration.ofSeconds(60)),
          List.of(),
          Schedule.ALWAYS,
          false,
          Optional.empty(),
          AtWindowEnd.FINISH,
          Optional.empty(),
          Quarantining.OFF,
          Optional.empty());

  /** What happens to running tasks when the window of their job or node ends. */
  public enum AtWindowEnd {
    /** They go on. */
    FINISH,
    /** They are told to pause. */
    ASK,
    /** They are killed. */
    KILL;

    /** Returns the name in the configuration. */
    public String word() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** What happens when the failures of a job concentrate below a node. */
  public enum Quarantining {
    /** Nothing: nobody looks. */
    OFF,
    /** It is reported. */
    SUGGEST,
    /** The node is closed for the job, apart from trials. */
    AUTO;

    /** Returns the name in the configuration. */
    public String word() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  public JobScheduling {
    roles = List.copyOf(roles);
  }
}
