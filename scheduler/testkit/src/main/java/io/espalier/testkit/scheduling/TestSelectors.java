package io.espalier.testkit.scheduling;

import io.espalier.core.scheduling.spi.WorkerLoad;
import io.espalier.core.scheduling.spi.WorkerSelector;
import java.util.List;
import java.util.function.ToLongFunction;

/** Three selectors that do not depend on the policy module. */
public final class TestSelectors {
  public static final List<WorkerSelector> ALL =
      List.of(
          selector("in_turn", true, load -> 0),
          selector(
              "fullest",
              false,
              load -> {
                long rest = 0;
                for (int r = 0; r < load.resources(); r++) {
                  rest += (long) load.free(r) * load.weight(r);
                }
                return rest;
              }),
          selector("fewest_tasks", false, WorkerLoad::tasks));

  private TestSelectors() {}

  private static WorkerSelector selector(
      String name, boolean rotates, ToLongFunction<WorkerLoad> rank) {
    return new WorkerSelector() {
      @Override
      public String name() {
        return name;
      }

      @Override
      public long rank(WorkerLoad worker) {
        return rank.applyAsLong(worker);
      }

      @Override
      public boolean rotates() {
        return rotates;
      }
    };
  }
}
