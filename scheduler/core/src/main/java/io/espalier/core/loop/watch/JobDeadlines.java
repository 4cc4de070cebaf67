package io.espalier.core.loop.watch;

import io.espalier.core.config.Job;
import io.espalier.core.loop.state.RoundStep;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.scheduling.gate.Gate;
import io.espalier.core.scheduling.gate.GateKind;
import java.time.Instant;
import java.util.Optional;

/** Closes jobs whose {@code complete_by} has passed, and reopens them when it is moved. */
public final class JobDeadlines implements RoundStep {
  private final SchedulingCore core;
  private long next = Long.MAX_VALUE;

  public JobDeadlines(SchedulingCore core) {
    this.core = core;
  }

  /** Checks all jobs again. */
  @Override
  public void configured(long nowMillis) {
    core.gates().of(GateKind.DEADLINE).stream()
        .map(Gate::name)
        .sorted()
        .forEach(job -> core.gates().open(GateKind.DEADLINE, job));
    close(nowMillis);
  }

  /** Closes the jobs that are due. Returns true when it closed one. */
  @Override
  public boolean step(long nowMillis) {
    if (nowMillis < next) {
      return false;
    }
    close(nowMillis);
    return true;
  }

  private void close(long nowMillis) {
    next = Long.MAX_VALUE;
    for (Job job : core.config().jobs().values()) {
      Optional<Instant> completeBy = job.timeLimits().completeBy();
      if (completeBy.isEmpty()) {
        continue;
      }
      long deadline = completeBy.get().toEpochMilli();
      if (deadline > nowMillis) {
        next = Math.min(next, deadline);
      } else if (core.gates().get(GateKind.DEADLINE, job.name()) == null) {
        String why = "the job was to be complete by " + completeBy.get();
        core.gates().close(Gate.of(GateKind.DEADLINE, job.name(), why));
      }
    }
  }

  /** When the next job is due; {@link Long#MAX_VALUE} when none is. */
  @Override
  public long nextMillis() {
    return next;
  }
}
