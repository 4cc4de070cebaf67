package io.espalier.core.protocol;

import io.espalier.core.protocol.WorkResponse.RunState;
import io.espalier.core.protocol.WorkResponse.StartAnswer;
import io.espalier.core.running.WorkerRef;
import java.util.ArrayList;
import java.util.List;

/** Sends batches of work, one at a time to each worker, and determines their outcome. */
final class WorkDispatcher {
  private final long epoch;
  private final ProtocolTimers timers;
  private final WorkerRegistry pool;
  private final TrackedRuns runs;
  private final WorkerHealth states;
  private final SchedulerOutput out;
  private long batches;

  WorkDispatcher(
      long epoch,
      ProtocolTimers timers,
      WorkerRegistry pool,
      TrackedRuns runs,
      WorkerHealth states,
      SchedulerOutput out) {
    this.epoch = epoch;
    this.timers = timers;
    this.pool = pool;
    this.runs = runs;
    this.states = states;
    this.out = out;
  }

  /** Sends the pending work of a worker if that is allowed now. */
  void send(RemoteWorker worker, long nowMillis) {
    if (worker.hasSession()
        && worker.underWay == null
        && nowMillis >= worker.retryAt
        && worker.hasWork(nowMillis)) {
      out.send(worker.facts.address(), worker.take(epoch, ++batches, nowMillis));
    }
  }

  /** Handles the response to a batch. */
  void answered(WorkerRef ref, WorkResponse answer, long nowMillis) {
    RemoteWorker worker = pool.get(ref);
    RemoteWorker.Batch batch = worker == null ? null : worker.underWay;
    if (worker == null || batch == null || batch.number() != answer.number()) {
      return;
    }
    if (answer.verdict() != WorkResponse.Verdict.DONE
        || answer.starts().size() != batch.starts().size()
        || answer.asked().size() != batch.asks().size()) {
      failed(ref, answer.number(), true, "refused as " + answer.verdict(), nowMillis);
      return;
    }
    worker.underWay = null;
    worker.failedCalls = 0;
    worker.retryAt = Long.MIN_VALUE;
    for (int i = 0; i < batch.starts().size(); i++) {
      started(worker, batch.starts().get(i), answer.starts().get(i), nowMillis);
    }
    for (int i = 0; i < batch.asks().size(); i++) {
      asked(worker, batch.asks().get(i), answer.asked().get(i), nowMillis);
    }
    List<RunId> recalled = new ArrayList<>();
    batch
        .ordered()
        .forEach(
            (run, upTo) -> {
              if (worker.ordersArrived(run, upTo)) {
                recalled.add(run.id);
              }
            });
    if (!recalled.isEmpty()) {
      out.recalled(recalled);
    }
    states.review(worker, nowMillis);
    pool.dirty(worker);
  }

  private void started(RemoteWorker worker, TrackedRun run, StartAnswer answer, long nowMillis) {
    if (run.state != TrackedRun.State.SENT) {
      return;
    }
    if (answer.accepted()) {
      runs.confirm(worker, run);
    } else if (run.isHealthCheck()) {
      worker.check = null;
      worker.checkNote = "health check refused: " + answer.reason();
      worker.nextCheck = nowMillis + timers.healthCheckMillis();
    } else {
      worker.forget(run);
      runs.notStarted(run, answer.reason(), answer.retryAfterMillis());
    }
  }

  private void asked(RemoteWorker worker, TrackedRun run, RunState state, long nowMillis) {
    if (run.state != TrackedRun.State.UNSURE) {
      return;
    }
    if (state != RunState.NOT_RUNNING) {
      runs.confirm(worker, run);
      return;
    }
    worker.forget(run);
    if (run.wasConfirmed) {
      runs.lost(run, "its worker does not know it any more", nowMillis);
    } else {
      runs.notStarted(run, "it never reached its worker", 0);
    }
  }

  /**
   * Handles a batch without a response.
   *
   * @param reached false when certainly not a byte of it was sent, such as after a refused
   *     connection
   */
  void failed(WorkerRef ref, long number, boolean reached, String why, long nowMillis) {
    RemoteWorker worker = pool.get(ref);
    RemoteWorker.Batch batch = worker == null ? null : worker.underWay;
    if (worker == null || batch == null || batch.number() != number) {
      return;
    }
    worker.underWay = null;
    // A worker repeats its own reports, but only this tells it to let go of a call.
    batch.settled().forEach(worker::settle);
    worker.retryAt = nowMillis + pause(worker.failedCalls++);
    worker.callNote = "cannot be reached: " + why;
    if (worker.check == null) {
      // A health check finds out whether the worker can be reached again.
      worker.nextCheck = Math.min(worker.nextCheck, worker.retryAt);
    }
    for (TrackedRun run : batch.starts()) {
      if (run.state != TrackedRun.State.SENT) {
        continue;
      }
      if (run.isHealthCheck()) {
        worker.check = null;
        worker.nextCheck = worker.retryAt;
      } else if (reached) {
        run.askPause = timers.askFirstMillis();
        worker.ask(run, worker.retryAt);
      } else {
        worker.forget(run);
        runs.notStarted(run, worker.callNote, timers.askFirstMillis());
      }
    }
    for (TrackedRun run : batch.asks()) {
      if (run.state == TrackedRun.State.UNSURE) {
        run.askPause = Math.min(timers.askMaxMillis(), run.askPause * 2);
        worker.ask(run, nowMillis + run.askPause);
      }
    }
    batch.ordered().keySet().forEach(worker::deliverOrders);
    states.review(worker, nowMillis);
    pool.dirty(worker);
  }

  private long pause(int failures) {
    return Math.min(timers.askMaxMillis(), timers.askFirstMillis() << Math.min(failures, 16));
  }
}
