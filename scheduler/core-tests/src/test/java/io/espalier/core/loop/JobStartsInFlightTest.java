package io.espalier.core.loop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.groups.Tuple.tuple;

import io.espalier.core.api.Command;
import io.espalier.core.api.JobStarts;
import io.espalier.core.api.Query;
import io.espalier.core.api.view.Explanation;
import io.espalier.core.api.view.Explanation.Kind;
import io.espalier.core.api.view.Explanation.Reason;
import io.espalier.core.forecast.SchedulerSnapshot;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.TaskResult;
import io.espalier.core.running.WorkerInfo;
import io.espalier.core.running.WorkerRef;
import io.espalier.core.scheduling.CoreEvent;
import io.espalier.core.scheduling.Replay;
import io.espalier.core.scheduling.gate.GateKind;
import io.espalier.core.status.TaskKey;
import io.espalier.core.status.store.Brake;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code max_starting} of jobs, in a loop whose runner confirms what the test says. */
class JobStartsInFlightTest extends StartingLoop {
  private static final int NODES = 60;
  private static final String NONE = "";

  /** A configuration with job a, which has the given members, and job b, which has no bound. */
  private static String config(String settings, String ofA) {
    return """
    {"bistro_settings": {"enabled": true, %s "nodes": {"levels": ["host"], "node_sources": [
       {"source": "manual", "prefs": {%s}}]}, "resources": {}},
     "bistro_job->a": {%s "owner": "o", "command": ["x"], "backoff": [1, "repeat"]},
     "bistro_job->b": {"owner": "o", "command": ["x"], "backoff": [1, "repeat"]}}
    """
        .formatted(settings, nodes(NODES), ofA);
  }

  private static String most(int maxStarting) {
    return "\"max_starting\": " + maxStarting + ",";
  }

  private static String mostOfAll(int maxStarting) {
    return "\"capacity\": {\"max_starting\": " + maxStarting + "},";
  }

  private void begin(String settings, String ofA) {
    world.confirmsStarts = true;
    world.configure(config(settings, ofA));
    world.settle();
  }

  /** Begins with a job a that has another program. */
  private void begin(int maxStarting, String program) {
    world.confirmsStarts = true;
    String members = most(maxStarting) + " \"owner\": \"o\", ";
    world.configure(
        config(NONE, most(maxStarting))
            .replace(members + "\"command\": [\"x\"]", members + program));
    world.settle();
  }

  private List<LaunchSpec> inFlight(String job) {
    return world.running.values().stream()
        .filter(launch -> launch.job().equals(job) && !confirmed.contains(launch.invocation()))
        .toList();
  }

  private long running(String job) {
    return world.running.keySet().stream().filter(task -> task.job().equals(job)).count();
  }

  private JobStarts window() {
    return world.loop.stats().startsOfJobs().get(0);
  }

  private Explanation explain(String job, String node) {
    CompletableFuture<Explanation> answer =
        world.ask(new Query.Explain(job, node)).toCompletableFuture();
    world.settle();
    return answer.join();
  }

  private String waiting(String job) {
    return IntStream.range(0, NODES)
        .mapToObj(i -> "n" + i)
        .filter(
            node ->
                world.running.keySet().stream().noneMatch(t -> t.equals(new TaskKey(job, node))))
        .findFirst()
        .orElseThrow();
  }

  // ---- how many

  @Test
  void itBoundsTheJobWithinARoundAndNoOther() {
    begin(NONE, most(5));
    assertThat(running("a")).isEqualTo(5);
    assertThat(running("b")).isEqualTo(NODES);
    assertThat(window().inFlight()).isEqualTo(5);
    assertThat(world.loop.stats().startsInFlight()).as("those of the scheduler").isZero();
  }

  @Test
  void eachConfirmationLetsOneMoreStart() {
    begin(NONE, most(5));
    confirm(inFlight("a").get(0));
    assertThat(running("a")).isEqualTo(6);
    LaunchSpec ends = inFlight("a").get(0);
    world.writes("a", ends.node(), "done");
    assertThat(inFlight("a")).as("an end confirms, too").hasSize(5);
    assertThat(window().window()).isEqualTo(5);
  }

  @Test
  void aRunnerThatDoesNotConfirmIsNotSlowedDown() {
    world.configure(config(NONE, most(5)));
    world.settle();
    assertThat(running("a")).isEqualTo(NODES);
    assertThat(window().inFlight()).isZero();
  }

  @Test
  void refusalsAndSlowStartsHalveItsWindowAndNotThatOfTheScheduler() {
    begin(mostOfAll(1_000), most(16));
    List<LaunchSpec> first = inFlight("a");
    refuse(inFlight("b").get(0));
    assertThat(window().window()).isEqualTo(16);
    assertThat(world.loop.stats().startWindow()).isEqualTo(500);
    refuse(first.get(0));
    assertThat(window().window()).isEqualTo(8);
    refuse(first.get(1));
    assertThat(window().window()).as("once per flight").isEqualTo(8);
    assertThat(world.loop.stats().startWindow()).isEqualTo(500);
    assertThat(inFlight("a")).as("none starts before the flight fits").hasSize(14);
    world.advance(10_001);
    first.subList(2, 16).forEach(this::confirm);
    assertThat(window().window()).isEqualTo(8);
    confirm(inFlight("a").get(0));
    assertThat(window().window()).isEqualTo(9);
    world.advance(10_001);
    confirm(inFlight("a").get(0));
    assertThat(window().window()).as("slow").isEqualTo(4);
    world.advance(1_000);
    assertThat(Objects.requireNonNull(world.view).errors().get("starting"))
        .contains("starts of job a are refused or slow: at most 4 of 16 are in flight at once");
  }

  @Test
  void bothBoundsHold() {
    begin(mostOfAll(8), most(5));
    assertThat(inFlight("a")).hasSizeLessThanOrEqualTo(5);
    assertThat(world.running).hasSize(8);
  }

  @Test
  void aChangedBoundAppliesAtOnceAndNoneSetsFree() {
    begin(NONE, most(4));
    begin(NONE, most(9));
    assertThat(inFlight("a")).hasSize(9);
    begin(NONE, most(2));
    confirm(inFlight("a").get(0));
    assertThat(inFlight("a")).as("those of before go on counting").hasSize(8);
    begin(NONE, NONE);
    assertThat(running("a")).isEqualTo(NODES);
    assertThat(world.loop.stats().startsOfJobs()).isEmpty();
    assertThat(world.core.gates().of(GateKind.JOB_STARTING)).isEmpty();
    inFlight("a").forEach(this::confirm);
    assertThat(world.core.gates().of(GateKind.JOB_STARTING)).isEmpty();
  }

  @Test
  void aBatchIsNotLargerThanTheWindow() {
    begin(NONE, most(5) + "\"batch\": {\"max\": 10, \"wait\": 0},");
    assertThat(world.batches).extracting(List::size).containsExactly(5);
    inFlight("a").subList(0, 3).forEach(this::confirm);
    assertThat(inFlight("a")).hasSize(5);
  }

  @Test
  void aKilledStartGivesItsPlaceToAnother() {
    begin(NONE, most(3));
    LaunchSpec one = inFlight("a").get(0);
    var unused = world.run(new Command.Kill("a", one.node(), "", ""));
    world.settle();
    assertThat(inFlight("a")).as("it may yet have started").hasSize(3);
    world.end("a", one.node(), TaskResult.Kind.KILLED, null, null);
    assertThat(inFlight("a")).hasSize(3).doesNotContain(one);
    assertThat(window().window()).isEqualTo(3);
  }

  @Test
  void whatTheSchedulerItselfTakesBackSaysNothing() {
    begin(NONE, most(4));
    world.storeAnswers = false;
    inFlight("a").forEach(this::confirm);
    assertThat(window().inFlight()).as("they wait for the store").isEqualTo(4);
    var unused = world.run(new Command.SetBrake(Brake.of(Brake.Key.all(), 0).build(), 0));
    world.settle();
    world.storeAnswers();
    assertThat(window().inFlight()).isZero();
    assertThat(window().window()).isEqualTo(4);
    world.core.verify();
  }

  @Test
  void startsOfTheSchedulerBeforeDoNotCount() {
    world.isRemote = true;
    begin(NONE, most(5));
    refuse(inFlight("a").get(0));
    assertThat(inFlight("a")).hasSize(4);
    world.crashAndRestart();
    world.post(new LoopInput.Workers(List.of(WorkerInfo.of(new WorkerRef("w1", 1), "w1").build())));
    begin(NONE, most(5));
    assertThat(inFlight("a")).as("and the window is whole").hasSize(9);
    confirm(inFlight("a").get(0));
    assertThat(window().inFlight()).isEqualTo(5);
  }

  @Test
  void aCallIsAStartAndItsServiceConfirmsIt() {
    begin(2, "\"call\": {\"http\": {\"url\": \"http://h:1/x\"}}");
    assertThat(inFlight("a")).hasSize(2).allMatch(launch -> launch.call() != null);
    confirm(inFlight("a").get(0));
    assertThat(running("a")).isEqualTo(3);
  }

  @Test
  void theNextStepOfATaskCountsAndDoesNotWait() {
    begin(
        1,
        "\"steps\": [{\"name\": \"one\", \"command\": [\"x\"]},"
            + " {\"name\": \"two\", \"command\": [\"x\"]}]");
    LaunchSpec one = inFlight("a").get(0);
    confirm(one);
    assertThat(running("a")).isEqualTo(2);
    world.writes("a", one.node(), "done");
    assertThat(inFlight("a")).as("a second task, and the second step").hasSize(2);
    assertThat(window().inFlight()).isEqualTo(2);
    confirm(inFlight("a").get(0));
    assertThat(running("a")).isEqualTo(2);
  }

  // ---- what is told

  @Test
  void explainNamesTheWindowThatIsFull() {
    begin(mostOfAll(80), most(16));
    assertThat(explain("a", waiting("a")).startable()).isFalse();
    assertThat(explain("a", waiting("a")).reasons())
        .extracting(Reason::kind, Reason::message)
        .containsExactly(
            tuple(
                Kind.STARTING,
                "16 starts of job a are begun and not confirmed, its \"max_starting\" (16) lets"
                    + " 16 be now"));
    refuse(inFlight("a").get(0));
    Reason narrowed = explain("a", waiting("a")).reasons().get(0);
    assertThat(narrowed.message()).endsWith("lets 8 be now, because some were refused or slow");
    assertThat(narrowed.free()).isEqualTo(-7);
    assertThat(narrowed.limit()).isEqualTo(8);
    begin(mostOfAll(10), most(5));
    assertThat(explain("a", waiting("a")).reasons())
        .as("both, with that of the job first")
        .extracting(Reason::limit)
        .containsExactly(5, 10);
  }

  @Test
  void waitingForTheWindowIsWaitingForRoom() {
    begin(NONE, most(1));
    world.advance(5_000);
    confirm(inFlight("a").get(0));
    assertThat(world.row("a", inFlight("a").get(0).node()).waitedMillis()).isEqualTo(5_000);
  }

  // ---- what it costs, and recordings

  private static boolean isGate(CoreEvent event) {
    return event instanceof CoreEvent.Gated gated && gated.kind() == GateKind.JOB_STARTING;
  }

  private long gated() {
    return recording.stream().filter(JobStartsInFlightTest::isGate).count();
  }

  @Test
  void aWindowThatIsNeverFullTouchesNoGate() {
    begin(NONE, most(NODES + 1));
    inFlight("a").forEach(this::confirm);
    inFlight("b").forEach(this::confirm);
    assertThat(gated()).isZero();
  }

  @Test
  void copiesForSimulationsTakeStartsAsConfirmed() {
    begin(NONE, most(2));
    assertThat(gated()).isEqualTo(1);
    CompletableFuture<SchedulerSnapshot> copy = new CompletableFuture<>();
    world.post(new LoopInput.TakeSnapshot(1_000, copy));
    world.settle();
    assertThat(copy.join().events()).isNotEmpty().noneMatch(JobStartsInFlightTest::isGate);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
  void theBoundsAreNeverExceededAndAlwaysUsed(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    int mostOfJob = 1 + random.nextInt(8);
    int mostOfAll = 4 + random.nextInt(12);
    String batch = random.nextBoolean() ? "\"batch\": {\"max\": 3, \"wait\": 0}," : NONE;
    begin(mostOfAll(mostOfAll), most(mostOfJob) + batch);
    for (int i = 0; i < 200; i++) {
      world.advance(random.nextInt(4) == 0 ? random.nextInt(12_000) : 0);
      List<LaunchSpec> flight = new ArrayList<>(inFlight("a"));
      flight.addAll(inFlight("b"));
      if (flight.isEmpty()) {
        continue;
      }
      LaunchSpec one = flight.get(random.nextInt(flight.size()));
      int before = inFlight("a").size();
      switch (random.nextInt(6)) {
        case 0 -> refuse(one);
        case 1 -> world.end(one.job(), one.node(), TaskResult.Kind.KILLED, null, null);
        case 2 -> world.writes(one.job(), one.node(), "done");
        case 3 -> world.end(one.job(), one.node(), TaskResult.Kind.LOST, null, null);
        default -> confirm(one);
      }
      world.core.verify();
      assertThat(window().inFlight()).isEqualTo(inFlight("a").size());
      assertThat(inFlight("a").size()).isLessThanOrEqualTo(Math.max(before, window().window()));
      assertThat(inFlight("a").size()).isLessThanOrEqualTo(mostOfJob);
      assertThat(window().window()).isBetween(1, mostOfJob);
      assertThat(world.core.gates().get(GateKind.JOB_STARTING, "a") != null)
          .isEqualTo(inFlight("a").size() >= window().window());
      if (world.core.tasks().progress(world.core.findJob("b")).ready() > 0) {
        assertThat(inFlight("a").size() + inFlight("b").size())
            .as("nothing but the window of the scheduler keeps b from starting")
            .isGreaterThanOrEqualTo(world.loop.stats().startWindow());
      }
    }
    Replay.Summary replayed = world.replay(recording);
    assertThat(replayed.placements()).isEqualTo(world.launches.size());
    assertThat(gated()).isPositive();
  }
}
