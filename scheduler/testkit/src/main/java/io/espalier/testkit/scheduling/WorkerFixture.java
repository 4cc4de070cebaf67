package io.espalier.testkit.scheduling;

import io.espalier.core.running.WorkerInfo;
import io.espalier.core.running.WorkerInfo.State;
import io.espalier.core.running.WorkerRef;
import java.util.Map;

/** Workers from a few words. */
public final class WorkerFixture {
  private WorkerFixture() {}

  public static WorkerInfo healthy(String shard, String host) {
    return of(shard, host, State.HEALTHY, Map.of());
  }

  public static WorkerInfo unhealthy(String shard, String host) {
    return of(shard, host, State.UNHEALTHY, Map.of());
  }

  /** The first instance of a worker, without a limit of tasks. */
  public static WorkerInfo of(String shard, String host, State state, Map<String, Long> physical) {
    return new WorkerInfo(
        new WorkerRef(shard, 1), host, host + ":1", state, false, physical, 0, 0, 0, "");
  }
}
