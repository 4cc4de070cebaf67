package io.espalier.testkit.scheduling;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.config.Job;
import io.espalier.core.running.WorkerInfo;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.scheduling.spi.WorkerSelector;
import io.espalier.core.status.TaskKey;
import io.espalier.testkit.oracle.Oracle;
import io.espalier.testkit.oracle.Oracle.Place;
import io.espalier.testkit.oracle.OracleBatches;
import io.espalier.testkit.oracle.OracleLoad;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Checks of each start of a core that the oracle would have allowed it, on that path and worker.
 */
final class PlacementChecks {
  private final SchedulingCore core;
  private final Oracle oracle;
  private final BatchChecks batches;
  private final Map<String, WorkerSelector> selectors;
  private final boolean isPool;

  /**
   * @param isPool whether every task needs a worker
   */
  PlacementChecks(
      SchedulingCore core,
      Oracle oracle,
      BatchChecks batches,
      Map<String, WorkerSelector> selectors,
      boolean isPool) {
    this.core = core;
    this.oracle = oracle;
    this.batches = batches;
    this.selectors = selectors;
    this.isPool = isPool;
  }

  /** Checks a start that the oracle does not know yet. */
  void check(TaskKey task, List<Place> path, long run, long batch) {
    WorkerInfo worker = core.running().worker(run);
    String sharing = core.running().batch(run);
    oracle.batches().lift(sharing);
    assertThat(oracle.isEligible(task, path)).as("%s may start on %s", task, path).isTrue();
    assertThat(core.batchAwaitedUntil(task.job())).as("%s waits for its batch", task).isZero();
    boolean isFirst = batches.placed(task, path, worker, batch);
    if (worker != null) {
      List<WorkerInfo> eligible = oracle.eligibleWorkers(task, path);
      assertThat(eligible).as("workers for %s on %s", task, path).contains(worker);
      if (isFirst) {
        compareRanks(worker, eligible);
      }
    } else {
      assertThat(isPool).isFalse();
    }
    assertThat(sharing.isEmpty())
        .as("%s shares no charge", task)
        .isEqualTo(OracleBatches.shared(oracle, configured(oracle, task.job())).isEmpty());
  }

  /** Returns the path of a running task; empty when its job or node was not known. */
  List<Place> path(long run) {
    List<Place> places = new ArrayList<>();
    List<String> levels = core.running().levels(run);
    List<String> nodes = core.running().path(run);
    for (int i = 0; i < levels.size(); i++) {
      places.add(new Place(levels.get(i), nodes.get(i)));
    }
    return places;
  }

  /** Checks that the selector would have selected no other worker. */
  private void compareRanks(WorkerInfo taken, List<WorkerInfo> eligible) {
    WorkerSelector selector = selectors.get(oracle.config().settings().workerSelector());
    if (selector != null && selector.search() == WorkerSelector.Search.LEAST_RANK) {
      long least =
          eligible.stream()
              .mapToLong(w -> selector.rank(new OracleLoad(oracle, w)))
              .min()
              .orElse(0);
      assertThat(selector.rank(new OracleLoad(oracle, taken))).isEqualTo(least);
    }
  }

  /** Returns the configuration of a job that must be there. */
  static Job configured(Oracle oracle, String name) {
    return Objects.requireNonNull(oracle.config().job(name), name);
  }
}
