package io.espalier.testkit.scheduling;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.config.task.BatchSpec;
import io.espalier.core.running.WorkerInfo;
import io.espalier.core.scheduling.PlacementListener;
import io.espalier.core.scheduling.Round;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.scheduling.SchedulingPolicy;
import io.espalier.core.scheduling.spi.WorkerSelector;
import io.espalier.testkit.TestSize;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.ServiceLoader;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The contract of every worker selector; one test per selector extends it. */
public abstract class WorkerSelectorContract {
  private static final SchedulingPolicy IN_TURN =
      new SchedulingPolicy() {
        @Override
        public String name() {
          return "in_turn";
        }

        @Override
        public void schedule(Round round) {
          while (!round.isOver()) {
            round.placeOne(round.nextInTurn());
          }
        }
      };

  /** Returns a new selector. */
  protected abstract WorkerSelector selector();

  @Test
  void hasANameThatFitsIntoAConfiguration() {
    assertThat(selector().name()).matches("[a-z][a-z0-9_]*");
  }

  @Test
  void isFoundByItsName() {
    assertThat(ServiceLoader.load(WorkerSelector.class))
        .filteredOn(found -> found.name().equals(selector().name()))
        .singleElement()
        .hasSameClassAs(selector());
  }

  @Test
  void usesEverySlotOfEveryWorker() {
    ConfigFixture config =
        new ConfigFixture("db").resource("worker", "slots", 2).weight("slots", 1).job("a");
    List<WorkerInfo> pool =
        List.of(
            WorkerFixture.healthy("w1", "h1"),
            WorkerFixture.healthy("w2", "h1"),
            WorkerFixture.healthy("w3", "h2"));
    assertThat(started(core(config, pool, 10))).hasSize(6).containsOnly("w1", "w2", "w3");
  }

  @Test
  void neverTakesAWorkerThatMayNotTakeTheTask() {
    ConfigFixture config =
        new ConfigFixture("db").job("a", new JobFixture("a").only("worker", "h1", "h3"));
    List<WorkerInfo> pool =
        List.of(
            WorkerFixture.unhealthy("w1", "h1"),
            WorkerFixture.healthy("w2", "h2"),
            WorkerFixture.healthy("w3", "h3"));
    assertThat(started(core(config, pool, 5))).hasSize(5).containsOnly("w3");
  }

  @Test
  void aBatchTakesTheRoomOfTheWorkerOfItsFirstTask() {
    assertThat(batches(ofThreeSizes()))
        .containsExactlyInAnyOrder("3 on w1", "1 on w1", "3 on w2", "3 on w3", "2 on w3");
  }

  @Test
  void theSameSeedGivesTheSameWorkers() {
    for (int seed = 0; seed < TestSize.choose(2, 5, 20); seed++) {
      assertThat(run(seed).placements()).isEqualTo(run(seed).placements());
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1000, 2000})
  void isLocallyMaximalAndNeverOverInRandomWorlds(long firstSeed) {
    for (long seed = firstSeed; seed < firstSeed + TestSize.choose(5, 15, 150); seed++) {
      run(seed);
    }
  }

  private RandomRun run(long seed) {
    return new RandomRun(seed, RunSize.SMALL, List.of(IN_TURN), List.of(selector()));
  }

  /** Returns a core in force that uses the selector, with nodes d0, d1 and so on. */
  protected final SchedulingCore core(ConfigFixture fixture, List<WorkerInfo> pool, int nodes) {
    WorkerSelector selector = selector();
    SchedulingCore core = new SchedulingCore(7, Map.of(selector.name(), selector));
    core.workers(pool);
    String[] names = new String[nodes];
    Arrays.setAll(names, i -> "d" + i);
    core.apply(
        fixture.selector(selector.name()).build(), TreeFixture.of(fixture.levels(), names), 0);
    return core;
  }

  /**
   * Returns a core with many tasks in batches of up to three, and workers w1 with four slots, w2
   * with three and w3 with five.
   */
  protected final SchedulingCore ofThreeSizes() {
    ConfigFixture config =
        new ConfigFixture("db")
            .resource("worker", "slots", 4)
            .weight("slots", 1)
            .override("w2", "slots", 3)
            .override("w3", "slots", 5)
            .job("a", inBatchesOfThree());
    List<WorkerInfo> pool =
        List.of(
            WorkerFixture.healthy("w1", "h1"),
            WorkerFixture.healthy("w2", "h2"),
            WorkerFixture.healthy("w3", "h3"));
    return core(config, pool, 20);
  }

  /** Returns the job a, whose tasks do not wait for others of their batch. */
  protected static JobFixture inBatchesOfThree() {
    return new JobFixture("a").batch(new BatchSpec(3, Optional.empty(), Duration.ZERO));
  }

  /** Returns the batches that a round starts, in order, each as "3 on w1". */
  protected static List<String> batches(SchedulingCore core) {
    Map<Long, List<String>> batches = new LinkedHashMap<>();
    PlacementListener.OfBatches listener =
        (run, batch) ->
            batches
                .computeIfAbsent(batch, number -> new ArrayList<>())
                .add(Objects.requireNonNull(core.running().worker(run)).ref().shard());
    core.round(IN_TURN, Integer.MAX_VALUE, listener);
    core.verify();
    for (List<String> workers : batches.values()) {
      assertThat(workers).as("the workers of a batch").containsOnly(workers.get(0));
    }
    return batches.values().stream().map(on -> on.size() + " on " + on.get(0)).toList();
  }

  /** Returns the workers of all tasks that a round starts, in order. */
  protected static List<String> started(SchedulingCore core) {
    List<String> starts = new ArrayList<>();
    core.round(
        IN_TURN,
        Integer.MAX_VALUE,
        run -> {
          WorkerInfo worker = core.running().worker(run);
          starts.add(worker == null ? "nowhere" : worker.ref().shard());
        });
    core.verify();
    return starts;
  }
}
