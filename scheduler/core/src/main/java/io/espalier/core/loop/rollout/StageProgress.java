package io.espalier.core.loop.rollout;

import io.espalier.core.config.rollout.RolloutSpec;
import io.espalier.core.loop.state.DurationHistogram;
import io.espalier.core.rollout.Rollout;
import io.espalier.core.rollout.Rollout.Phase;
import io.espalier.core.rollout.RolloutRules;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.scheduling.gate.GateKind;
import java.util.List;

/**
 * Decides what follows for the open stage of a roll-out: whether it runs, soaks, waits for an
 * operator, passes, or halts the job. For the owner of the loop.
 */
final class StageProgress {
  private final SchedulingCore core;
  private final StageProbes probes;
  private final RolloutEffects effects;

  StageProgress(SchedulingCore core, StageProbes probes, RolloutEffects effects) {
    this.core = core;
    this.probes = probes;
    this.effects = effects;
  }

  /** Takes back what has failed below nodes that were put into quarantine since. */
  void forgetFailuresApart(StagedJob staged) {
    if (staged.apart.isEmpty() || !core.staged().areInEffect()) {
      return;
    }
    int job = core.findJob(staged.name());
    for (String node : List.copyOf(staged.failedOnce)) {
      if (core.staged().isApart(job, node)) {
        staged.failedOnce.remove(node);
        effects.put(staged, staged.now.uncounted());
      }
    }
  }

  /**
   * Evaluates the open stage of a job; it must be in effect.
   *
   * @return whether it is to be evaluated again at once, because the next stage was opened or
   *     nobody knows yet where tasks have started before a restart
   */
  boolean advance(StagedJob staged, RolloutSpec spec, long nowMillis) {
    Rollout now = staged.now;
    int number = core.findJob(now.job());
    if (core.gates().get(GateKind.ROLLOUT, now.job()) != null) {
      core.gates().open(GateKind.ROLLOUT, now.job());
    }
    // Of a halted one, too: it may be resumed next.
    if (!probes.restored(staged, spec, nowMillis)) {
      return true;
    }
    long apart = core.staged().leftApart(number);
    long sample = core.staged().left(number);
    staged.left = sample + apart;
    // Nothing opens without a sample, and after the last stage there is nothing to open.
    long left = sample == 0 && (now.isLast() || now.counted() == 0) ? apart : sample;
    if (now.phase() == Phase.PASSED || now.phase() == Phase.HALTED || left < 0) {
      return false;
    }
    DurationHistogram times = staged.durations;
    String failure = RolloutRules.failure(spec, now, left > 0, times.total(), times.quantile(0.95));
    failure = failure == null ? probes.bad(staged, spec) : failure;
    if (failure != null && now.phase() != Phase.WAITING) {
      effects.halt(staged, failure, "", nowMillis);
    } else if (left > 0) {
      staged.missing = "";
      if (now.phase() != Phase.RUNNING) {
        effects.move(staged, spec, now.in(Phase.RUNNING, 0));
      }
    } else if (now.isLast()) {
      effects.pass(staged, nowMillis);
    } else {
      long outside = core.staged().apartOfOpen(number);
      return soak(staged, spec, RolloutMessages.inconclusive(now, outside), nowMillis);
    }
    return false;
  }

  /**
   * @param doubt why the stage proves too little; empty: it is judged
   * @return whether the next stage was opened
   */
  private boolean soak(StagedJob staged, RolloutSpec spec, String doubt, long nowMillis) {
    if (staged.now.phase() == Phase.RUNNING) {
      effects.move(staged, spec, staged.now.in(Phase.SOAKING, nowMillis));
    }
    long until = staged.now.endedMillis() + spec.soak().toMillis();
    if (staged.now.phase() == Phase.WAITING && staged.now.reason().isEmpty()) {
      return false;
    }
    if (nowMillis < until) {
      staged.nextMillis = until;
      return false;
    }
    String missing = probes.missing(staged, spec, nowMillis);
    if (!missing.equals(staged.missing)) {
      staged.missing = missing;
      effects.showStage(staged, spec);
    }
    if (!missing.isEmpty()) {
      return false;
    }
    if (!doubt.isEmpty()) {
      if (!doubt.equals(staged.now.reason())) {
        effects.move(staged, spec, staged.now.inconclusive(doubt));
      }
      return false;
    }
    effects.stagePassed(staged, nowMillis);
    if (spec.approve()) {
      effects.move(staged, spec, staged.now.in(Phase.WAITING, staged.now.endedMillis()));
      return false;
    }
    effects.openNext(staged, spec, "", "", nowMillis);
    return true;
  }
}
