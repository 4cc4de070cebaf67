package io.espalier.core.loop;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.api.Query;
import io.espalier.core.api.view.Explanation;
import io.espalier.core.api.view.Explanation.Kind;
import io.espalier.core.api.view.Explanation.Reason;
import io.espalier.core.running.LaunchSpec;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How many starts are in flight, in a loop whose runner confirms what the test says. */
class StartsInFlightTest extends StartingLoop {
  private static final int NODES = 400;

  private static String config(int maxStarting) {
    return """
    {"bistro_settings": {"enabled": true, %s "nodes": {"levels": ["host"], "node_sources": [
       {"source": "manual", "prefs": {%s}}]}, "resources": {}},
     "bistro_job->j": {"owner": "o", "backoff": [1, "repeat"]}}
    """
        .formatted(
            maxStarting == 0 ? "" : "\"capacity\": {\"max_starting\": " + maxStarting + "},",
            nodes(NODES));
  }

  private void begin(int maxStarting) {
    world.confirmsStarts = true;
    world.configure(config(maxStarting));
    world.settle();
  }

  private List<LaunchSpec> inFlight() {
    return world.running.values().stream()
        .filter(launch -> !confirmed.contains(launch.invocation()))
        .toList();
  }

  private int window() {
    return world.loop.stats().startWindow();
  }

  @Test
  void withoutABoundAllStart() {
    begin(0);
    assertThat(world.running).hasSize(NODES);
    assertThat(world.loop.stats().startsInFlight()).isZero();
  }

  @Test
  void aRunnerThatDoesNotConfirmIsNotSlowedDown() {
    world.configure(config(5));
    world.settle();
    assertThat(world.running).hasSize(NODES);
    assertThat(world.loop.stats().startsInFlight()).isZero();
  }

  @Test
  void eachConfirmationLetsOneMoreStart() {
    begin(5);
    assertThat(world.running).hasSize(5);
    assertThat(world.loop.stats().startsInFlight()).isEqualTo(5);
    confirm(inFlight().get(0));
    assertThat(world.running).hasSize(6);
    LaunchSpec ends = inFlight().get(0);
    world.writes(ends.job(), ends.node(), "done");
    world.settle();
    assertThat(inFlight()).as("an end confirms, too").hasSize(5);
    assertThat(window()).isEqualTo(5);
  }

  @Test
  void refusalsOfOneFlightHalveTheWindowOnceAndSuccessesWidenIt() {
    begin(16);
    List<LaunchSpec> first = inFlight();
    refuse(first.get(0));
    assertThat(window()).isEqualTo(8);
    refuse(first.get(1));
    assertThat(window()).isEqualTo(8);
    assertThat(inFlight()).as("none starts before the flight fits").hasSize(14);
    first.subList(2, 16).forEach(this::confirm);
    assertThat(window()).isEqualTo(16);
    refuse(inFlight().get(0));
    assertThat(window()).isEqualTo(8);
    world.advance(1_000);
    assertThat(Objects.requireNonNull(world.view).errors().get("starting"))
        .contains("at most 8 of 16");
  }

  @Test
  void slowStartsHalveIt() {
    begin(16);
    List<LaunchSpec> first = inFlight();
    world.advance(10_000);
    confirm(first.get(0));
    assertThat(window()).as("just in time").isEqualTo(16);
    world.advance(1);
    confirm(first.get(1));
    assertThat(window()).isEqualTo(8);
  }

  private Explanation explain(String node) {
    CompletableFuture<Explanation> answer =
        world.ask(new Query.Explain("j", node)).toCompletableFuture();
    world.settle();
    return answer.join();
  }

  @Test
  void aTaskThatWaitsForTheWindowIsToldSo() {
    begin(16);
    LaunchSpec one = inFlight().get(0);
    assertThat(explain(one.node()).reasons())
        .extracting(Reason::kind)
        .containsExactly(Kind.ALREADY_RUNNING);
    String waiting =
        IntStream.range(0, NODES)
            .mapToObj(i -> "n" + i)
            .filter(node -> world.running.values().stream().noneMatch(l -> l.node().equals(node)))
            .findFirst()
            .orElseThrow();
    Explanation explanation = explain(waiting);
    assertThat(explanation.startable()).isFalse();
    Reason reason = explanation.reasons().get(0);
    assertThat(explanation.reasons()).hasSize(1);
    assertThat(reason.kind()).isEqualTo(Kind.STARTING);
    assertThat(reason.message())
        .isEqualTo("16 starts are begun and not confirmed, \"max_starting\" (16) lets 16 be now");
    refuse(one);
    assertThat(explain(waiting).reasons().get(0).message())
        .isEqualTo(
            "15 starts are begun and not confirmed, \"max_starting\" (16) lets 8 be now, because"
                + " some were refused or slow");
    world.configure(config(0));
    world.settle();
    assertThat(explain(waiting).reasons())
        .extracting(Reason::kind)
        .containsExactly(Kind.ALREADY_RUNNING);
  }

  @Test
  void itNeverShrinksToNothing() {
    begin(4);
    for (int i = 0; i < 20; i++) {
      refuse(inFlight().get(0));
    }
    assertThat(window()).isEqualTo(1);
    assertThat(inFlight()).isNotEmpty();
  }

  @Test
  void aChangedBoundAppliesAtOnceAndNoneSetsFree() {
    begin(4);
    world.configure(config(9));
    world.settle();
    assertThat(world.loop.stats().startsInFlight()).isEqualTo(9);
    world.configure(config(0));
    world.settle();
    assertThat(world.running).hasSize(NODES);
    assertThat(window()).isZero();
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5})
  void theBoundIsNeverExceededAndAlwaysUsed(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    int most = 1 + random.nextInt(12);
    begin(most);
    for (int i = 0; i < 300 && world.running.size() < NODES; i++) {
      List<LaunchSpec> flight = new ArrayList<>(inFlight());
      LaunchSpec one = flight.get(random.nextInt(flight.size()));
      int before = window();
      switch (random.nextInt(4)) {
        case 0 -> refuse(one);
        case 1 -> {
          world.advance(random.nextInt(12_000));
          confirm(one);
        }
        default -> confirm(one);
      }
      assertThat(inFlight().size()).isLessThanOrEqualTo(Math.max(flight.size(), window()));
      assertThat(inFlight().size()).isGreaterThanOrEqualTo(window());
      assertThat(inFlight().size()).isLessThanOrEqualTo(most);
      assertThat(window()).isBetween(1, most);
      assertThat(window()).isIn(before + 1, before, Math.max(1, before / 2));
      assertThat(world.loop.stats().startsInFlight()).isEqualTo(inFlight().size());
    }
  }
}
