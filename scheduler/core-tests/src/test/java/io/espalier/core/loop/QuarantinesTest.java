package io.espalier.core.loop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.espalier.core.api.Command;
import io.espalier.core.api.TaskSelection;
import io.espalier.core.api.TaskSelector;
import io.espalier.core.api.view.Explanation;
import io.espalier.core.event.Event;
import io.espalier.core.json.Json;
import io.espalier.core.status.TaskKey;
import io.espalier.core.status.store.Quarantine;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Nodes that are quarantined, while all goes on (docs/adr/0080-quarantine.md). */
class QuarantinesTest {
  private static final int HOSTS = 30;
  private static final int DBS = 20;
  private static final int MINUTE = 60_000;
  private static final Quarantine.Key BAD = new Quarantine.Key("host", "h7", "j");

  private final LoopWorld world = new LoopWorld();

  /** 30 hosts with 20 databases each; each job works on two of a host at once. */
  private static String config(String mode) {
    String hosts =
        IntStream.range(0, HOSTS)
            .mapToObj(
                host ->
                    "\"h%d\": [%s]"
                        .formatted(
                            host,
                            IntStream.range(0, DBS)
                                .mapToObj(db -> "\"h" + host + "d" + db + "\"")
                                .collect(Collectors.joining(", "))))
            .collect(Collectors.joining(", "));
    return """
    {"bistro_settings": {"nodes": {"levels": ["host", "db"], "node_order": "original",
       "node_sources": [{"source": "manual", "prefs": {%s}}]},
       "resources": {"host": {"a": {"default": 0, "limit": 2}, "b": {"default": 0, "limit": 2}}}},
     "bistro_job->j": {"owner": "o", "resources": {"a": 1}, "backoff": [3600, "repeat"], "command": ["x"]%s},
     "bistro_job->k": {"owner": "o", "resources": {"b": 1}, "backoff": [3600, "repeat"], "command": ["x"]%s}}
    """
        .formatted(hosts, mode, mode);
  }

  private static final String AUTO = ", \"quarantine\": \"auto\"";
  private static final String SUGGEST = ", \"quarantine\": \"suggest\"";

  /** Ends everything that runs, again and again; what is true of a task fails. */
  private void work(String job, Predicate<String> fails, int rounds) {
    for (int i = 0; i < rounds; i++) {
      for (TaskKey task : List.copyOf(world.running.keySet())) {
        if (task.job().equals(job)) {
          world.writes(job, task.node(), fails.test(task.node()) ? "error" : "done");
        }
      }
    }
  }

  private static boolean onBadHost(String db) {
    return db.startsWith("h7d");
  }

  private List<Event> events(String kind) {
    return world.events.stream().filter(event -> event.kind().equals(kind)).toList();
  }

  private long runningOn(String job, String host) {
    return world.running.keySet().stream()
        .filter(task -> task.job().equals(job) && task.node().startsWith(host + "d"))
        .count();
  }

  private Explanation.Reason reason(String job, String node) {
    return world.core.tasks().explain(job, node).reasons().stream()
        .filter(each -> each.kind() == Explanation.Kind.QUARANTINE)
        .findFirst()
        .orElseThrow(() -> new AssertionError("it is not in quarantine"));
  }

  @Test
  void aBadHostIsClosedForItsJobAloneAndTheRestGoesOn() {
    world.configure(config(AUTO));
    work("j", QuarantinesTest::onBadHost, 4);
    assertThat(world.quarantines).containsOnlyKeys(BAD);
    work("j", QuarantinesTest::onBadHost, 10);
    assertThat(world.done("j")).isEqualTo((HOSTS - 1L) * DBS);
    assertThat(runningOn("j", "h7")).isZero();
    assertThat(runningOn("k", "h7")).as("the other job").isPositive();
    assertThat(reason("j", "h7d19").node()).isEqualTo("h7");
    assertThat(reason("j", "h7d19").message())
        .contains("100 % of the failures of j are under host h7");
    assertThat(Objects.requireNonNull(world.view).errors()).isEmpty();
    assertThat(world.view.configProblems()).as("it is not stuck").isEmpty();
    assertThat(events("quarantine_set")).hasSize(1);
    world.core.verify();
  }

  @Test
  void aTrialRunsAfterTenTwentyAndFortyMinutesAndItsSuccessOpensTheHost() {
    world.configure(config(AUTO));
    work("j", QuarantinesTest::onBadHost, 14);
    assertThat(runningOn("j", "h7")).isZero();
    for (int minutes : new int[] {10, 20, 40, 40}) {
      world.advance(minutes * MINUTE - 1);
      assertThat(runningOn("j", "h7")).isZero();
      world.advance(1);
      assertThat(runningOn("j", "h7")).as("after %d minutes", minutes).isEqualTo(1);
      work("j", QuarantinesTest::onBadHost, 1);
      world.core.verify();
    }
    assertThat(events("quarantine_trial")).hasSize(4);
    assertThat(Objects.requireNonNull(world.quarantines.get(BAD)).trials()).isEqualTo(4);
    world.advance(40 * MINUTE);
    work("j", db -> false, 20);
    assertThat(world.quarantines).isEmpty();
    assertThat(events("quarantine_lifted")).hasSize(1);
    world.advance(61 * MINUTE);
    work("j", db -> false, 20);
    assertThat(world.done("j")).isEqualTo((long) HOSTS * DBS);
    world.core.verify();
  }

  @Test
  void aHostWithNothingLeftToTryIsOpenedForGood() {
    world.configure(config(AUTO).replace("[3600, \"repeat\"]", "[\"fail\"]"));
    work("j", QuarantinesTest::onBadHost, 30);
    assertThat(world.quarantines).containsOnlyKeys(BAD);
    // The tasks that are left end without a trial: they are cancelled.
    TaskSelector under = new TaskSelector(Set.of(), "h7", Set.of(), "");
    world.done(new Command.Cancel(new TaskSelection("j", under, false, -1, "", "")));
    world.advance(10 * MINUTE);
    assertThat(world.quarantines).isEmpty();
    assertThat(events("quarantine_lifted"))
        .singleElement()
        .satisfies(
            lifted ->
                assertThat(lifted.data().get("reason"))
                    .isEqualTo(Json.of("nothing is left to try there")));
    assertThat(events("quarantine_trial")).isEmpty();
    world.core.verify();
  }

  @Test
  void aHostThatIsOpenForATrialStaysSoWhileSomethingMayStartThereLater() {
    world.configure(config(AUTO));
    work("j", QuarantinesTest::onBadHost, 14);
    world.done(new Command.Pause("j", 0, "", ""));
    world.advance(35 * MINUTE);
    assertThat(world.quarantines).containsOnlyKeys(BAD);
    assertThat(runningOn("j", "h7")).isZero();
    world.done(new Command.Resume("j", "", ""));
    assertThat(runningOn("j", "h7")).as("the trial, and only one").isOne();
  }

  @Test
  void itSurvivesACrashWithItsTrials() {
    world.configure(config(AUTO));
    work("j", QuarantinesTest::onBadHost, 14);
    Quarantine before = Objects.requireNonNull(world.quarantines.get(BAD));
    world.crashAndRestart();
    world.configure(config(AUTO));
    assertThat(runningOn("j", "h7")).isZero();
    assertThat(reason("j", "h7d19").untilMillis()).isEqualTo(before.trialMillis());
    world.advance(10 * MINUTE);
    assertThat(runningOn("j", "h7")).isEqualTo(1);
    world.core.verify();
  }

  @Test
  void aHostOnWhichTwoJobsFailIsClosedForAll() {
    world.configure(config(AUTO));
    work("j", QuarantinesTest::onBadHost, 4);
    work("k", QuarantinesTest::onBadHost, 4);
    assertThat(world.quarantines).containsOnlyKeys(new Quarantine.Key("host", "h7", ""));
    work("j", QuarantinesTest::onBadHost, 10);
    work("k", QuarantinesTest::onBadHost, 10);
    world.advance(10 * MINUTE);
    assertThat(runningOn("j", "h7") + runningOn("k", "h7")).as("one task of any job").isEqualTo(1);
    world.core.verify();
  }

  @Test
  void aSuggestionClosesNothingAndEndsWithTheFirstSuccess() {
    world.configure(config(SUGGEST));
    work("j", QuarantinesTest::onBadHost, 4);
    assertThat(world.quarantines).isEmpty();
    assertThat(events("quarantine_suggested")).hasSize(1);
    world.advance(1_000);
    assertThat(Objects.requireNonNull(world.view).errors().get("quarantine"))
        .startsWith("100 % of the failures of j are under host h7");
    assertThat(world.view.quarantines()).hasSize(1);
    assertThat(runningOn("j", "h7")).isPositive();
    work("j", db -> false, 1);
    world.advance(1_000);
    assertThat(Objects.requireNonNull(world.view).errors()).isEmpty();
    assertThat(world.view.quarantines()).isEmpty();
  }

  @Test
  void muchOfTheTreeIsOnlySuggested() {
    world.configure(config(AUTO));
    Predicate<String> onFour =
        db -> List.of("h1d", "h2d", "h7d", "h9d").contains(db.substring(0, 3));
    work("j", onFour, 8);
    assertThat(world.quarantines).as("of 30 hosts three may be closed").hasSize(3);
    assertThat(events("quarantine_suggested"))
        .hasSize(1)
        .allMatch(
            event ->
                event.data().get("reason") instanceof Json.Str why
                    && why.value().endsWith("is not closed without an operator"));
  }

  @Test
  void withoutTheKeyNobodyLooks() {
    world.configure(config(""));
    work("j", QuarantinesTest::onBadHost, 20);
    assertThat(world.quarantines).isEmpty();
    assertThat(world.events).noneMatch(event -> event.kind().startsWith("quarantine"));
  }

  @Test
  void whatTheSchedulerHasClosedOpensWhenTheJobDoesNotAskForItAnyMore() {
    world.configure(config(AUTO));
    work("j", QuarantinesTest::onBadHost, 4);
    assertThat(world.quarantines).hasSize(1);
    world.configure(config(SUGGEST));
    assertThat(world.quarantines).isEmpty();
    assertThat(runningOn("j", "h7")).isPositive();
  }

  @Test
  void anOperatorClosesAndLiftsWithoutTrials() {
    world.configure(config(""));
    Quarantine.Key host = new Quarantine.Key("", "h7", "");
    Quarantine set = world.done(new Command.SetQuarantine(host, "ann", "disk errors"));
    assertThat(set.key()).isEqualTo(new Quarantine.Key("host", "h7", ""));
    work("j", db -> false, 20);
    work("k", db -> false, 20);
    world.advance(1_000_000);
    assertThat(runningOn("j", "h7") + runningOn("k", "h7")).isZero();
    assertThat(reason("j", "h7d19").message())
        .isEqualTo("the node is quarantined since 1970-01-01T00:16:40Z by ann (disk errors)");
    world.done(new Command.LiftQuarantine(host, "bob", ""));
    assertThat(runningOn("j", "h7")).isPositive();
    assertThat(world.quarantines).isEmpty();
    for (Command<?> command :
        List.of(
            new Command.LiftQuarantine(host, "", ""),
            new Command.SetQuarantine(new Quarantine.Key("", "nowhere", ""), "", ""),
            new Command.SetQuarantine(new Quarantine.Key("", "h7", "nobody"), "", ""))) {
      CompletionStage<?> refused = world.run(command);
      world.settle();
      assertThatThrownBy(() -> refused.toCompletableFuture().join())
          .hasMessageContaining("there is no");
    }
    CompletionStage<?> refused = world.run(new Command.LiftQuarantine(host, "", ""));
    world.settle();
    assertThatThrownBy(() -> refused.toCompletableFuture().join())
        .hasRootCauseMessage("there is no quarantine of h7");
    assertThat(Map.copyOf(world.quarantines)).isEmpty();
    world.core.verify();
  }
}
