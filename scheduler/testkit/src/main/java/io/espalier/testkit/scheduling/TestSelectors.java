package io.espalier.testkit.scheduling;

import io.espalier.core.scheduling.spi.WorkerLoad;
import io.espalier.core.scheduling.spi.WorkerSelector;
import io.espalier.core.scheduling.spi.WorkerSelector.Search;
import java.util.List;
import java.util.function.ToLongFunction;

/** Four selectors that do not depend on the policy module. */
public final class TestSelectors {
  public static final List<WorkerSelector> ALL =
      List.of(
          selector("in_turn", Search.IN_TURN, load -> 0),
          selector(
              "fullest",
              Search.LEAST_RANK,
              load -> {
                long rest = 0;
                for (int r = 0; r < load.resources(); r++) {
                  rest += (long) load.free(r) * load.weight(r);
                }
                return rest;
              }),
          selector("fewest_tasks", Search.LEAST_RANK, WorkerLoad::tasks),
          selector("fewer_tasks", Search.BETTER_OF_TWO, WorkerLoad::tasks));

  private TestSelectors() {}

  private static WorkerSelector selector(
      String name, Search search, ToLongFunction<WorkerLoad> rank) {
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
      public Search search() {
        return search;
      }
    };
  }
}
