package io.espalier.core.protocol;

import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.WorkerRef;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** An invocation as the scheduler's side follows it, from start or resume to the recorded end. */
final class TrackedRun {
  final RunId id;
  final WorkerRef worker;

  /** In the order of their making; breaks ties, so that everything is deterministic. */
  final long order;

  /** What to send; null once it was sent. */
  @Nullable LaunchSpec launch;

  State state;

  /** Whether the worker has once said that it runs. */
  boolean wasConfirmed;

  /** Whether its end came from its worker, so that the worker waits to have it settled. */
  boolean reported;

  /** Whether its end is that its worker is lost. */
  boolean lost;

  /** When to ask for it next, and the pause after that. */
  long askAt;

  long askPause;

  /** Not yet known to have arrived. */
  final List<TaskCommand> orders = new ArrayList<>();

  long lastOrder;

  enum State {
    /** To be sent. */
    QUEUED,
    /** In the batch that is under way. */
    SENT,
    /** Sent, and nobody knows what came of it; or resumed. To be asked for. */
    UNSURE,
    RUNNING,
    /** Its end was given out; waits to be recorded. */
    ENDED
  }

  TrackedRun(RunId id, WorkerRef worker, long order, State state) {
    this.id = id;
    this.worker = worker;
    this.order = order;
    this.state = state;
  }

  boolean isHealthCheck() {
    return HealthCheck.is(id.job());
  }
}
