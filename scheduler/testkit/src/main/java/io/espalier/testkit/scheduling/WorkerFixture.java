package io.espalier.testkit.scheduling;

import io.espalier.core.running.WorkerInfo;
import io.espalier.core.running.WorkerInfo.State;
import io.espalier.core.running.WorkerRef;
import java.util.Map;

/** Builds workers from short descriptions. */
public final class WorkerFixture {
  private WorkerFixture() {}

  public static WorkerInfo healthy(String shard, String host) {
    return of(shard, host, State.HEALTHY, Map.of());
  }

  public static WorkerInfo unhealthy(String shard, String host) {
    return of(shard, host, State.UNHEALTHY, Map.of());
  }

  /** Returns the first instance of a worker, without a task limit. */
  public static WorkerInfo of(String shard, String host, State state, Map<String, Long> physical) {
    return WorkerInfo.of(new WorkerRef(shard, 1), host)
        .address(host + ":1")
        .state(state)
        .physical(physical)
        .build();
  }
}
