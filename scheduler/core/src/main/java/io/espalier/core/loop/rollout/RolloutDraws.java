package io.espalier.core.loop.rollout;

import io.espalier.core.config.Job;
import io.espalier.core.config.rollout.RolloutSpec;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.scheduling.gate.Gate;
import io.espalier.core.scheduling.gate.GateKind;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The jobs whose roll-outs are to begin. Each is closed; their stages are determined in slices, one
 * job after the other. Who begins the roll-out opens the job.
 */
final class RolloutDraws {
  private final SchedulingCore core;
  private final Set<String> jobs = new TreeSet<>();
  private @Nullable RolloutDraw current;

  RolloutDraws(SchedulingCore core) {
    this.core = core;
  }

  void add(String job) {
    jobs.add(job);
    core.gates().close(Gate.of(GateKind.ROLLOUT, job, ""));
  }

  /** Removes a job, without opening it. */
  void remove(String job) {
    jobs.remove(job);
  }

  boolean has(String job) {
    return jobs.contains(job);
  }

  boolean isEmpty() {
    return jobs.isEmpty();
  }

  boolean isDrawing() {
    return current != null;
  }

  /** Removes and opens the jobs that are gone or have no stages any more. */
  void dropUnstaged() {
    jobs.removeIf(
        name -> {
          Job job = core.config().job(name);
          boolean isGone = job == null || job.scheduling().rollout().isEmpty();
          if (isGone) {
            core.gates().open(GateKind.ROLLOUT, name);
          }
          return isGone;
        });
  }

  /** Runs a slice; returns the draw that is complete, of a job that is removed; or null. */
  @Nullable RolloutDraw step() {
    if (jobs.isEmpty()) {
      return null;
    }
    String name =
        jobs.stream()
            .filter(job -> core.gates().get(GateKind.LOADING, job) == null)
            .findFirst()
            .orElse(null);
    Job job = name == null ? null : core.job(core.findJob(name));
    RolloutSpec spec = job == null ? null : job.scheduling().rollout().orElse(null);
    if (name == null || spec == null) {
      current = null;
      return null;
    }
    RolloutDraw draw = current;
    if (draw == null || !draw.isOf(name, spec, core)) {
      draw = new RolloutDraw(core, name, spec);
      current = draw;
    }
    if (!draw.step()) {
      return null;
    }
    current = null;
    jobs.remove(name);
    return draw;
  }
}
