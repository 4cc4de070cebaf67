package io.espalier.core.protocol;

import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.WorkerRef;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** An invocation as the scheduler tracks it, from start or resume to the recorded end. */
final class TrackedRun {
  final RunId id;
  final WorkerRef worker;

  /** The order of creation; breaks ties, so that everything is deterministic. */
  final long order;

  /** The launch to be sent; null once it was sent. */
  @Nullable LaunchSpec launch;

  State state;

  /** Whether the worker has ever confirmed that it runs. */
  boolean wasConfirmed;

  /** Whether its worker waits to hear that the end is settled: it reported it, or is to let go. */
  boolean reported;

  /** Whether it ended because its worker is lost. */
  boolean lost;

  /** When to ask for it next, and the pause after that. */
  long askAt;

  long askPause;

  /** Commands not yet known to have arrived. */
  final List<TaskCommand> orders = new ArrayList<>();

  long lastOrder;

  enum State {
    /** To be sent. */
    QUEUED,
    /** In the batch that is not answered yet. */
    SENT,
    /** Sent with unknown outcome, or resumed. The worker must be asked for it. */
    UNSURE,
    RUNNING,
    /** Its end was passed on and waits to be recorded. */
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
