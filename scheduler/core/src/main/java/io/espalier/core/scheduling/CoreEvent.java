package io.espalier.core.scheduling;

import io.espalier.core.config.Config;
import io.espalier.core.running.WorkerInfo;
import io.espalier.core.running.WorkerRef;
import io.espalier.core.scheduling.capacity.HealthLimit;
import io.espalier.core.scheduling.capacity.LimitFactor;
import io.espalier.core.scheduling.capacity.RunningCap;
import io.espalier.core.scheduling.gate.GateKind;
import io.espalier.core.scheduling.gate.Scope;
import io.espalier.core.scheduling.gate.StageGate;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.store.LimitOverride;
import io.espalier.core.status.store.QueueUsage;
import io.espalier.core.topology.Topology;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A recorded call to a {@link SchedulingCore}, with its result. The core is a function of its seed
 * and the sequence of these events, so {@link Replay} needs nothing else.
 *
 * <p>Between a {@link RoundBegan} and its {@link RoundEnded} there is one {@link Placed} for each
 * start, followed by the calls that the listener made to the core.
 */
public sealed interface CoreEvent {
  /** An update of configuration and nodes was begun. */
  record Began(Config config, Topology topology) implements CoreEvent {}

  /**
   * A slice of an update was run.
   *
   * @param done whether the update is in force
   */
  record Stepped(int units, boolean done) implements CoreEvent {}

  /** The clock was set without any other event. */
  record Clock(long nowMillis) implements CoreEvent {}

  /** A gate of a job or node was closed or opened. */
  record Gated(GateKind kind, Scope scope, boolean closed) implements CoreEvent {}

  /** The later stages of a job were closed, or more of them opened. */
  record StagesClosed(StageGate gate) implements CoreEvent {}

  /** All stages of a job were opened. */
  record StagesOpened(String job) implements CoreEvent {}

  /** A limit was overridden. */
  record Overridden(LimitOverride override) implements CoreEvent {}

  /** An override ended. */
  record OverrideEnded(LimitOverride.Key key) implements CoreEvent {}

  /** A factor of limits was set. */
  record FactorSet(LimitFactor factor) implements CoreEvent {}

  /** A factor of limits was removed. */
  record FactorRemoved(String id) implements CoreEvent {}

  /** What health leaves of a limit has changed. */
  record HealthSet(HealthLimit health) implements CoreEvent {}

  /** Health takes nothing away from a limit any more; an empty node: on all of the level. */
  record HealthRemoved(String level, String resource, String node) implements CoreEvent {}

  /** A cap of a job or queue was set. */
  record CapSet(RunningCap cap) implements CoreEvent {}

  /** A cap of a job or queue was removed. */
  record CapRemoved(String id) implements CoreEvent {}

  /** A slice of changed limits was brought into effect. */
  record LimitsStepped(int units, boolean done) implements CoreEvent {}

  /** The stored usage of queues was restored after a restart. */
  record QueuesRestored(List<QueueUsage> usage, long nowMillis) implements CoreEvent {
    public QueuesRestored {
      usage = List.copyOf(usage);
    }
  }

  /** The workers were replaced. */
  record WorkersNamed(List<WorkerInfo> workers) implements CoreEvent {
    public WorkersNamed {
      workers = List.copyOf(workers);
    }
  }

  /** The status of a task was set. */
  record StatusSet(int job, int node, @Nullable TaskStatus status) implements CoreEvent {}

  /** A task that was already running was registered. */
  record Adopted(String job, String node, WorkerRef worker, String batch, long run)
      implements CoreEvent {}

  /** A running task ended. */
  record Finished(long run, @Nullable TaskStatus status) implements CoreEvent {}

  /** A slice of a round began. */
  record RoundBegan(String policy, int maxStarts) implements CoreEvent {}

  /**
   * A task was started.
   *
   * @param worker the shard of its worker; empty: none
   */
  record Placed(long run, String job, String node, String worker) implements CoreEvent {}

  /** A slice of a round ended. */
  record RoundEnded(boolean complete) implements CoreEvent {}

  /** The clock advanced. */
  record Advanced(long nowMillis, int limit, boolean done) implements CoreEvent {}
}
