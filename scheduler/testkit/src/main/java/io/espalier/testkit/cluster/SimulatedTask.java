package io.espalier.testkit.cluster;

import io.espalier.core.config.task.KillRequest;
import io.espalier.core.protocol.HealthCheck;
import io.espalier.core.protocol.RunId;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.StopReason;
import io.espalier.core.running.TaskResult;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/** The process of one invocation. Some of them ignore TERM. */
final class SimulatedTask {
  private static final int KILL_LATENCY = 20;

  final RunId run;
  private final SimulatedCluster cluster;
  private final SimulatedHost host;
  private final SimulatedWorker.Jvm parent;
  private final boolean check;
  private final boolean stubborn;

  /**
   * True when its processes are not all in the group of the first: daemons, or sessions of their
   * own.
   */
  private final boolean scattered;

  private boolean asked;
  private @Nullable StopReason why;
  private boolean dead;

  SimulatedTask(
      SimulatedCluster cluster, SimulatedHost host, SimulatedWorker.Jvm parent, LaunchSpec launch) {
    this.cluster = cluster;
    this.host = host;
    this.parent = parent;
    this.run = RunId.of(launch);
    this.check = HealthCheck.is(launch.job());
    this.stubborn = cluster.random.nextInt(5) == 0;
    this.scattered = cluster.random.nextInt(4) == 0;
    host.tasks().put(run, this);
    if (!check) {
      cluster.trace(() -> run + " lives on " + parent.name);
      cluster.invariants.started(run, launch.worker().shard());
    }
    Random random = cluster.random;
    long lasts =
        check ? 5 + random.nextInt(50) : 20 + random.nextInt(2 * cluster.plan.taskMillis());
    host.later(lasts, () -> ends(check ? "done" : status(random)));
    long timeout = launch.limits().timeoutMillis();
    if (timeout > 0) {
      parent.later(timeout, () -> timedOut(launch.kill()));
    }
  }

  /** The supervisor of its worker has enforced its time limit. */
  private void timedOut(KillRequest how) {
    if (!dead && why == null) {
      cluster.coverage.happened(SimulationEvent.TASK_TIMED_OUT);
      why = StopReason.TIMEOUT;
      stop(how);
    }
  }

  private static String status(Random random) {
    int drawn = random.nextInt(20);
    return drawn < 16
        ? "done"
        : drawn < 18 ? "error_backoff" : drawn < 19 ? "incomplete" : "failed";
  }

  private void ends(String status) {
    end(
        TaskResult.of(
                run.job(),
                run.node(),
                run.invocation(),
                asked ? TaskResult.Kind.KILLED : TaskResult.Kind.EXITED)
            .withRawStatus(status)
            .withExit(0, null)
            .withStopReason(why),
        true);
  }

  boolean isScattered() {
    return scattered;
  }

  void stop(KillRequest how) {
    if (how.method() == KillRequest.Method.KILL) {
      kill();
      return;
    }
    term();
    if (how.method() == KillRequest.Method.TERM_WAIT_KILL) {
      parent.later(Math.max(1, how.waitMillis()), this::kill);
    }
  }

  void term() {
    asked = true;
    if (cluster.has(ProtocolBug.DEAD_WHEN_ASKED_TO_END)) {
      parent.ended(killed());
    }
    if (!stubborn) {
      host.later(5 + cluster.random.nextInt(500), () -> end(killed(), true));
    }
  }

  void kill() {
    asked = true;
    host.later(1 + cluster.random.nextInt(KILL_LATENCY), () -> end(killed(), true));
  }

  /** Ends together with its host. */
  void vanish() {
    end(killed(), false);
  }

  private TaskResult killed() {
    return TaskResult.of(run.job(), run.node(), run.invocation(), TaskResult.Kind.KILLED)
        .withExit(null, 9)
        .withStopReason(why);
  }

  private void end(TaskResult how, boolean seen) {
    if (dead) {
      return;
    }
    dead = true;
    host.tasks().remove(run);
    if (!check) {
      cluster.trace(() -> run + " dies: " + how.kind() + " " + word(how.rawStatus()));
      cluster.invariants.died(run, how);
    }
    if (seen) {
      parent.later(1 + cluster.random.nextInt(5), () -> parent.ended(how));
    }
  }

  private static String word(@Nullable String status) {
    return status == null ? "" : status;
  }
}
