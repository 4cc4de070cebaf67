package io.espalier.core.protocol;

import io.espalier.core.config.task.KillRequest;
import io.espalier.core.config.task.SubprocessOptions;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.InvocationLimits;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.TaskResult;
import io.espalier.core.running.WorkerRef;
import java.util.List;

/**
 * A task that checks the whole path of tasks on a worker: start, process, status, report
 * (docs/design/bistro.md#health-checks). Health checks are identified by their invocation, never by
 * comparing the times of two clocks.
 */
public final class HealthCheck {
  /** The job of health checks. It has no nodes and no statuses. */
  public static final String JOB = "__ESPALIER_HEALTH_CHECK__";

  private static final List<String> COMMAND =
      List.of("/bin/sh", "-c", "echo done > \"$2\"", "espalier-health-check");

  private HealthCheck() {}

  /** Returns true when tasks of that job are health checks. */
  public static boolean is(String job) {
    return job.equals(JOB);
  }

  static LaunchSpec launch(
      WorkerRef worker, Invocation invocation, SubprocessOptions options, long timeoutMillis) {
    return LaunchSpec.of(JOB, worker.shard(), invocation)
        .command(COMMAND)
        .subprocess(options)
        .kill(new KillRequest(KillRequest.Method.KILL, 0))
        .limits(new InvocationLimits(timeoutMillis, 0, 0))
        .worker(worker)
        .build();
  }

  static boolean isGood(TaskResult end) {
    return end.kind() == TaskResult.Kind.EXITED && "done".equals(end.rawStatus());
  }
}
