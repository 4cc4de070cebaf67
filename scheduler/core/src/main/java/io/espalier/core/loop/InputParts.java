package io.espalier.core.loop;

import io.espalier.core.loop.command.BrakeCommands;
import io.espalier.core.loop.command.WorkerPool;
import io.espalier.core.loop.health.HealthLimits;
import io.espalier.core.loop.query.QueryQueue;
import io.espalier.core.loop.state.SlicedWork;
import io.espalier.core.loop.state.Throughput;
import io.espalier.core.loop.watch.StartsInFlight;
import io.espalier.core.running.TaskResult;
import java.util.function.Consumer;

/**
 * The parts of the loop that {@link LoopInput}s change, each at the instant of the step that takes
 * it. For the thread of the loop.
 *
 * @param chores takes work that goes on in slices
 * @param inspections takes what runs at the end of the step
 * @param stop lets no more tasks start
 */
record InputParts(
    SharedParts shared,
    OperatorCommands commands,
    QueryQueue queries,
    Throughput throughput,
    BrakeCommands brakes,
    UpdateApplier updates,
    HealthLimits health,
    StartsInFlight starting,
    InvocationRecovery recovery,
    TaskCompletion completion,
    WorkerPool pool,
    TaskReports reports,
    JobForgetting forgetting,
    MovingSubtrees subtrees,
    Consumer<SlicedWork> chores,
    Consumer<Runnable> inspections,
    Runnable stop) {
  /** Handles the end of an invocation. */
  void ended(TaskResult end, long nowMillis) {
    starting.ended(end, nowMillis);
    if (!recovery.keeps(end, updates.hasConfig())) {
      completion.ended(end, nowMillis);
    }
  }
}
