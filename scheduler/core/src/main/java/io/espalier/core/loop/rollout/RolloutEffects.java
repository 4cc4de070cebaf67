package io.espalier.core.loop.rollout;

import io.espalier.core.config.rollout.RolloutSpec;
import io.espalier.core.event.EventKind;
import io.espalier.core.loop.state.DurationHistogram;
import io.espalier.core.loop.state.LoopEvents;
import io.espalier.core.rollout.Rollout;
import io.espalier.core.rollout.Rollout.Phase;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.scheduling.gate.Gate;
import io.espalier.core.scheduling.gate.GateKind;
import io.espalier.core.scheduling.gate.Scope;
import io.espalier.core.scheduling.gate.StageGate;
import io.espalier.core.status.store.StoreTransaction;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Applies what is decided about roll-outs: to the batch for the store, to the gates of their jobs,
 * and to the events. For the owner of the loop.
 */
final class RolloutEffects {
  private final SchedulingCore core;
  private final LoopEvents events;
  private final Supplier<StoreTransaction.Builder> batch;

  /**
   * @param batch returns the changes that are being collected for the store
   */
  RolloutEffects(SchedulingCore core, LoopEvents events, Supplier<StoreTransaction.Builder> batch) {
    this.core = core;
    this.events = events;
    this.batch = batch;
  }

  /** Closes the gates of a roll-out that was read from the store. */
  void restore(StagedJob staged) {
    if (!staged.hasPassed()) {
      showStage(staged, null);
    }
    if (staged.now.phase() == Phase.HALTED) {
      closeHalted(staged.now);
    }
  }

  /** Begins a roll-out, in place of an earlier one of the job. */
  void begin(StagedJob staged, RolloutSpec spec, long nowMillis) {
    batch.get().endRollout(staged.name());
    StoredRollouts.rows(staged.members).forEach(batch.get()::rollout);
    put(staged, staged.now);
    showStage(staged, spec);
    event(EventKind.ROLLOUT_STAGE_OPENED, staged.now, nowMillis, "", "");
  }

  /** Opens the next stage. */
  void openNext(
      StagedJob staged, @Nullable RolloutSpec spec, String author, String reason, long nowMillis) {
    DurationHistogram times = staged.durations;
    boolean isEnough = spec != null && times.total() >= spec.minSamples();
    long p95 = isEnough ? times.quantile(0.95) : staged.now.p95Millis();
    staged.clear(nowMillis);
    put(staged, staged.now.opened(staged.now.next(), p95, nowMillis));
    showStage(staged, spec);
    event(EventKind.ROLLOUT_STAGE_OPENED, staged.now, nowMillis, author, reason);
  }

  /** Halts the job until somebody resumes it. */
  void halt(StagedJob staged, String why, String author, long nowMillis) {
    staged.missing = "";
    put(staged, staged.now.halted(why, author));
    closeHalted(staged.now);
    showStage(staged, null);
    event(EventKind.ROLLOUT_HALTED, staged.now, nowMillis, author, why);
  }

  private void closeHalted(Rollout now) {
    core.gates()
        .close(
            new Gate(
                GateKind.HALTED,
                Scope.job(now.job()),
                now.author(),
                now.words(now.stage()) + ": " + now.reason(),
                0,
                0));
  }

  /** Lets the last stage pass, and with it the roll-out. */
  void pass(StagedJob staged, long nowMillis) {
    stagePassed(staged, nowMillis);
    put(staged, staged.now.in(Phase.PASSED, nowMillis));
    core.gates().openStages(staged.name());
  }

  /** Reports that the open stage has passed. */
  void stagePassed(StagedJob staged, long nowMillis) {
    event(EventKind.ROLLOUT_STAGE_PASSED, staged.now, nowMillis, "", "");
  }

  /** Changes how far a roll-out is, and what the core says about its stages. */
  void move(StagedJob staged, RolloutSpec spec, Rollout now) {
    put(staged, now);
    showStage(staged, spec);
  }

  /** Changes how far a roll-out is. */
  void put(StagedJob staged, Rollout now) {
    staged.now = now;
    batch.get().rollout(StoredRollouts.row(now));
  }

  /** Brings the open stage, and the words about it, into the core. */
  void showStage(StagedJob staged, @Nullable RolloutSpec spec) {
    Rollout now = staged.now;
    core.gates()
        .close(
            new StageGate(
                staged.members,
                now.stage(),
                staged.apart,
                RolloutMessages.whenNext(now, spec, staged.missing)));
  }

  private void event(EventKind kind, Rollout now, long nowMillis, String author, String reason) {
    events.add(nowMillis, kind, RolloutMessages.event(kind, now, author, reason));
  }
}
