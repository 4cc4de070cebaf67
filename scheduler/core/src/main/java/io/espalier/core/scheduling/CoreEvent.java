package io.espalier.core.scheduling;

import io.espalier.core.config.Config;
import io.espalier.core.running.WorkerInfo;
import io.espalier.core.running.WorkerRef;
import io.espalier.core.status.LimitOverride;
import io.espalier.core.status.QueueUsage;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.topology.Topology;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One thing that was done to a {@link SchedulingCore}, with what came of it. Because the core is a
 * function of its seed and of these, in their order, they are all that {@link Replay} needs.
 *
 * <p>Between {@link RoundBegan} and its {@link RoundEnded} stand a {@link Placed} for each start,
 * each followed by what its receiver did to the core.
 */
public sealed interface CoreEvent {
  /** A change of configuration and nodes was begun. */
  record Began(Config config, Topology topology) implements CoreEvent {}

  /**
   * A slice of it.
   *
   * @param done whether it is in force
   */
  record Stepped(int units, boolean done) implements CoreEvent {}

  /** The instant became known without anything else. */
  record Clock(long nowMillis) implements CoreEvent {}

  /** What is done to the gate of a job. */
  enum Gate {
    PAUSE,
    RESUME,
    HOLD,
    RELEASE,
    CLOSE,
    REOPEN
  }

  /**
   * The gate of a job.
   *
   * @param why of {@link Gate#CLOSE} and {@link Gate#REOPEN}: the kind of the reason; otherwise
   *     empty
   */
  record Gated(Gate gate, String job, String why) implements CoreEvent {}

  /** A limit was overridden. */
  record Overridden(LimitOverride override) implements CoreEvent {}

  /** An override ended. */
  record OverrideEnded(LimitOverride.Key key) implements CoreEvent {}

  /** A slice of bringing overrides into effect. */
  record LimitsStepped(int units, boolean done) implements CoreEvent {}

  /** What queues had used before a restart became known. */
  record QueuesRestored(List<QueueUsage> usage, long nowMillis) implements CoreEvent {
    public QueuesRestored {
      usage = List.copyOf(usage);
    }
  }

  /** The workers were named. */
  record WorkersNamed(List<WorkerInfo> workers) implements CoreEvent {
    public WorkersNamed {
      workers = List.copyOf(workers);
    }
  }

  /** A task was given a status. */
  record StatusSet(int job, int node, @Nullable TaskStatus status) implements CoreEvent {}

  /** A task was taken for running. */
  record Adopted(String job, String node, WorkerRef worker, long run) implements CoreEvent {}

  /** A running task ended. */
  record Finished(long run, @Nullable TaskStatus status) implements CoreEvent {}

  /** A slice of a round. */
  record RoundBegan(String policy, int maxStarts) implements CoreEvent {}

  /**
   * A start.
   *
   * @param worker its shard; empty: none
   */
  record Placed(long run, String job, String node, String worker) implements CoreEvent {}

  /** The end of the slice. */
  record RoundEnded(boolean complete) implements CoreEvent {}

  /** Time went on. */
  record Advanced(long nowMillis, int limit, boolean done) implements CoreEvent {}
}
