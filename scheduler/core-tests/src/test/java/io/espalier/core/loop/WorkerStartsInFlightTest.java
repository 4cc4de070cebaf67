package io.espalier.core.loop;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.api.Query;
import io.espalier.core.api.view.Explanation;
import io.espalier.core.api.view.Explanation.Kind;
import io.espalier.core.api.view.Explanation.Reason;
import io.espalier.core.api.view.WorkerView;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.TaskResult;
import io.espalier.core.running.WorkerInfo;
import io.espalier.core.running.WorkerRef;
import io.espalier.core.scheduling.gate.GateKind;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code max_starting_per_worker}, in a loop whose workers confirm what the test says. */
class WorkerStartsInFlightTest extends StartingLoop {
  private static final int NODES = 60;

  private static String config(int most, String ofJob) {
    return """
    {"bistro_settings": {"enabled": true, %s "nodes": {"levels": ["host"], "node_sources": [
       {"source": "manual", "prefs": {%s}}]}, "resources": {}},
     "bistro_job->a": {%s "owner": "o", "command": ["x"], "backoff": [1, "repeat"]}}
    """
        .formatted(
            most == 0 ? "" : "\"capacity\": {\"max_starting_per_worker\": " + most + "},",
            nodes(NODES),
            ofJob);
  }

  private void workers(String... shards) {
    world.post(
        new LoopInput.Workers(
            Stream.of(shards)
                .map(shard -> WorkerInfo.of(new WorkerRef(shard, 1), "host-" + shard).build())
                .toList()));
    world.settle();
  }

  private void begin(int most, String ofJob, String... shards) {
    world.isRemote = true;
    world.confirmsStarts = true;
    workers(shards);
    world.configure(config(most, ofJob));
    world.settle();
  }

  private List<LaunchSpec> inFlight(String shard) {
    return world.running.values().stream()
        .filter(launch -> launch.worker().shard().equals(shard))
        .filter(launch -> !confirmed.contains(launch.invocation()))
        .toList();
  }

  private void end(LaunchSpec launch, TaskResult.Kind kind) {
    world.end(launch.job(), launch.node(), kind, null, null);
    world.settle();
  }

  private List<Reason> reasons() {
    String waiting =
        IntStream.range(0, NODES)
            .mapToObj(i -> "n" + i)
            .filter(n -> world.running.keySet().stream().noneMatch(t -> t.node().equals(n)))
            .findFirst()
            .orElseThrow();
    CompletableFuture<Explanation> answer =
        world.ask(new Query.Explain("a", waiting)).toCompletableFuture();
    world.settle();
    return answer.join().reasons();
  }

  @Test
  void itBoundsEachWorkerByItselfWithinARound() {
    begin(3, "", "w1", "w2");
    assertThat(inFlight("w1")).hasSize(3);
    assertThat(inFlight("w2")).hasSize(3);
    assertThat(world.loop.stats().heldWorkers()).isEqualTo(2);
    confirm(inFlight("w1").get(0));
    assertThat(inFlight("w1")).as("another one, on the same worker").hasSize(3);
    assertThat(world.running).hasSize(7);
    workers("w1", "w2", "w3");
    assertThat(inFlight("w3")).hasSize(3);
  }

  @Test
  void aWorkerThatRefusesGetsHalfAndTheOtherIsNotHeldBack() {
    begin(8, "", "w1", "w2");
    end(inFlight("w1").get(0), TaskResult.Kind.NOT_STARTED);
    assertThat(inFlight("w1")).as("none before the flight fits").hasSize(7);
    inFlight("w1").subList(0, 2).forEach(this::confirm);
    inFlight("w2").forEach(this::confirm);
    assertThat(inFlight("w1")).hasSize(6);
    assertThat(inFlight("w2")).hasSize(8);
    world.advance(1_000);
    assertThat(Objects.requireNonNull(world.view).errors()).doesNotContainKey("starting");
  }

  @Test
  void theProblemNamesTheWorker() {
    begin(8, "", "w1", "w2");
    end(inFlight("w1").get(0), TaskResult.Kind.NOT_STARTED);
    world.advance(1_000);
    assertThat(Objects.requireNonNull(world.view).errors().get("starting"))
        .isEqualTo("starts on worker w1 are refused or slow: at most 4 of 8 are in flight at once");
  }

  private List<String> notes() {
    return world.answer(new Query.Workers()).stream().map(WorkerView::note).toList();
  }

  @Test
  void theListOfWorkersNamesItToo() {
    begin(2, "", "w1", "w2");
    inFlight("w2").forEach(this::confirm);
    for (int left = NODES; left > 0 && !inFlight("w2").isEmpty(); left--) {
      confirm(inFlight("w2").get(0));
    }
    assertThat(notes())
        .containsExactly(
            "starts on worker w1 are begun and not confirmed: max_starting_per_worker lets no more"
                + " begin now",
            "");
  }

  @Test
  void explainNamesTheWorkerAndItsWindow() {
    begin(2, "", "w1");
    assertThat(reasons())
        .singleElement()
        .satisfies(
            reason -> {
              assertThat(reason.kind()).isEqualTo(Kind.STARTING);
              assertThat(reason.node()).isEqualTo("w1");
              assertThat(reason.message())
                  .isEqualTo(
                      "2 starts on worker w1 are begun and not confirmed,"
                          + " \"max_starting_per_worker\" (2) lets 2 be now");
              assertThat(reason.limit()).isEqualTo(2);
            });
    workers("w1", "w2");
    assertThat(reasons())
        .extracting(Reason::message)
        .containsExactly(
            "2 starts on worker w1, the nearest of 2, are begun and not confirmed,"
                + " \"max_starting_per_worker\" (2) lets 2 be now");
  }

  @Test
  void aWorkerThatLeavesTakesItsWindowWithIt() {
    begin(2, "", "w1", "w2");
    end(inFlight("w1").get(0), TaskResult.Kind.LOST);
    world.advance(1_000);
    assertThat(Objects.requireNonNull(world.view).errors()).containsKey("starting");
    workers("w2");
    world.advance(1_000);
    assertThat(Objects.requireNonNull(world.view).errors()).doesNotContainKey("starting");
    assertThat(world.core.gates().of(GateKind.WORKER_STARTING)).hasSize(1);
    assertThat(world.loop.stats().heldWorkers()).isEqualTo(1);
    inFlight("w1").forEach(launch -> end(launch, TaskResult.Kind.LOST));
    workers("w1", "w2");
    assertThat(inFlight("w1")).as("a new worker has a whole window").hasSize(2);
  }

  @Test
  void aChangedBoundAppliesAtOnceAndNoneSetsFree() {
    begin(2, "", "w1", "w2");
    world.configure(config(5, ""));
    world.settle();
    assertThat(inFlight("w1")).hasSize(5);
    world.configure(config(0, ""));
    world.settle();
    assertThat(world.running).hasSize(NODES);
    assertThat(world.core.gates().of(GateKind.WORKER_STARTING)).isEmpty();
    assertThat(world.loop.stats().heldWorkers()).isZero();
  }

  @Test
  void aBatchGoesToOneWorkerAndIsNotLargerThanItsWindow() {
    begin(4, "\"batch\": {\"max\": 10, \"wait\": 0},", "w1", "w2");
    assertThat(world.batches).extracting(List::size).containsExactly(4, 4);
    assertThat(inFlight("w1")).hasSize(4);
  }

  @Test
  void theOwnHostIsOneWorker() {
    world.confirmsStarts = true;
    world.configure(config(3, ""));
    world.settle();
    assertThat(world.running).hasSize(3);
    assertThat(reasons())
        .extracting(Reason::message)
        .containsExactly(
            "3 starts on this host are begun and not confirmed, \"max_starting_per_worker\" (3)"
                + " lets 3 be now");
    confirm(inFlight("").get(0));
    assertThat(world.running).hasSize(4);
  }

  @Test
  void startsOfTheSchedulerBeforeDoNotCount() {
    begin(2, "", "w1");
    world.crashAndRestart();
    workers("w1");
    world.configure(config(2, ""));
    world.settle();
    assertThat(inFlight("w1")).hasSize(4);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
  void theBoundIsNeverExceededAndAlwaysUsed(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    int most = 1 + random.nextInt(6);
    String batch = random.nextBoolean() ? "\"batch\": {\"max\": 3, \"wait\": 0}," : "";
    List<String> shards = List.of("w1", "w2", "w3");
    begin(most, batch, "w1", "w2", "w3");
    for (int i = 0; i < 200; i++) {
      world.advance(random.nextInt(4) == 0 ? random.nextInt(12_000) : 0);
      List<LaunchSpec> flight = shards.stream().flatMap(s -> inFlight(s).stream()).toList();
      if (flight.isEmpty()) {
        continue;
      }
      LaunchSpec one = flight.get(random.nextInt(flight.size()));
      switch (random.nextInt(5)) {
        case 0 -> end(one, TaskResult.Kind.NOT_STARTED);
        case 1 -> end(one, TaskResult.Kind.KILLED);
        case 2 -> end(one, TaskResult.Kind.EXITED);
        case 3 -> end(one, TaskResult.Kind.LOST);
        default -> confirm(one);
      }
      world.core.verify();
      for (String shard : shards) {
        assertThat(inFlight(shard)).hasSizeLessThanOrEqualTo(most);
      }
      if (world.core.tasks().progress(world.core.findJob("a")).ready() > 0) {
        assertThat(world.loop.stats().heldWorkers()).as("no room is left").isEqualTo(3);
      }
    }
    assertThat(world.replay(recording).placements()).isEqualTo(world.launches.size());
  }
}
