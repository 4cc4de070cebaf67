package io.espalier.core.loop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.espalier.core.api.Command;
import io.espalier.core.api.Query;
import io.espalier.core.api.RefusedException;
import io.espalier.core.api.TaskSelection;
import io.espalier.core.api.view.Explanation;
import io.espalier.core.api.view.Explanation.Kind;
import io.espalier.core.api.view.Explanation.Reason;
import io.espalier.core.api.view.FailureGroups;
import io.espalier.core.api.view.JobEta;
import io.espalier.core.api.view.JobLevels;
import io.espalier.core.api.view.JobProgress;
import io.espalier.core.api.view.NodeDetail;
import io.espalier.core.api.view.ResourceHolder;
import io.espalier.core.api.view.TaskCounts;
import io.espalier.core.api.view.TreeView;
import io.espalier.core.api.view.WaitingReasons;
import io.espalier.core.running.Progress;
import io.espalier.core.running.TaskResult;
import io.espalier.core.status.ProgressParser;
import io.espalier.core.status.TaskKey;
import io.espalier.core.status.store.Brake;
import io.espalier.core.status.store.Quarantine;
import io.espalier.json.JsonReader;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

/** What monitors ask of the loop, and how it is answered. */
class QueryQueueTest {
  private static final String TWO_HOSTS =
      """
      {"bistro_settings": {
         "nodes": {"levels": ["host", "db"], "node_order": "original", "node_sources": [
           {"source": "manual", "prefs": {"h1": ["a", "b", "c"], "h2": ["d", "e"]}}]},
         "resources": {"host": {"slots": {"default": 1, "limit": 2}}},
         "backoff": [10, "fail"], "kill_orphan_tasks_after_sec": 0},
       "bistro_job->j": {"owner": "o", "status_from": "exit_code", "command": ["/bin/true"]}}
      """;

  private final LoopWorld world = new LoopWorld();

  private <T> T ask(Query<T> query) {
    CompletableFuture<T> answer = world.ask(query).toCompletableFuture();
    world.settle();
    assertThat(answer).isDone();
    return answer.join();
  }

  private Reason slots(String node) {
    Explanation explanation = ask(new Query.Explain("j", node));
    return explanation.reasons().stream()
        .filter(reason -> reason.kind() == Kind.RESOURCE)
        .findFirst()
        .orElseThrow();
  }

  private void ends(String node, int exitCode) {
    world.end("j", node, TaskResult.Kind.EXITED, null, exitCode);
  }

  @Test
  void anExplanationShowsThePathAndWhoHoldsWhatIsShort() {
    world.configure(TWO_HOSTS);
    Explanation explanation = ask(new Query.Explain("j", "c"));
    assertThat(explanation.path())
        .containsExactly(
            new Explanation.Step("instance-node", "instance", true, List.of(), false, null),
            new Explanation.Step(
                "h1", "host", true, List.of(new Explanation.Use("slots", 1, 2, 2)), true, null),
            new Explanation.Step("c", "db", true, List.of(), false, null));
    Reason reason = slots("c");
    assertThat(reason.holdersTotal()).isEqualTo(2);
    assertThat(reason.freeAtMillis()).as("nothing has ended yet").isZero();
    assertThat(reason.holders())
        .containsExactly(
            new ResourceHolder("j", "a", "slots", 1, world.now, 0),
            new ResourceHolder("j", "b", "slots", 1, world.now, 0));
  }

  @Test
  void theEndOfAHolderIsExpectedFromWhatTasksOfItsJobTook() {
    world.configure(TWO_HOSTS);
    long began = world.now;
    world.advance(5_000);
    ends("d", 0);
    Reason reason = slots("c");
    // Durations are kept in buckets an eighth of an octave wide.
    assertThat(reason.holders().get(0).expectedEndMillis()).isBetween(began + 4_700, began + 5_300);
    world.advance(60_000);
    assertThat(slots("c").holders())
        .as("longer than any before")
        .allSatisfy(holder -> assertThat(holder.expectedEndMillis()).isZero());
    assertThat(slots("c").freeAtMillis()).isZero();
  }

  @Test
  void aHolderThatTellsItsProgressIsExpectedToGoOnLikeThat() {
    world.configure(TWO_HOSTS);
    says("b", "{\"done\": 0, \"total\": 100}");
    world.advance(10_000);
    says("b", "{\"done\": 20, \"total\": 100}");
    Reason reason = slots("c");
    assertThat(reason.holders().get(0).node()).as("known before unknown").isEqualTo("b");
    assertThat(reason.holders().get(0).expectedEndMillis()).isEqualTo(world.now + 40_000);
    assertThat(reason.freeAtMillis()).isEqualTo(world.now + 40_000);
  }

  private void says(String node, String progress) {
    Progress read =
        Objects.requireNonNull(
            new ProgressParser(JsonReader::parse)
                .read("{\"progress\": " + progress + "}")
                .progress());
    world.post(
        new LoopInput.TaskProgressed(
            new TaskKey("j", node), world.launch("j", node).invocation(), () -> read));
    world.settle();
  }

  @Test
  void failuresAreGroupedByCauseUntilTheyAreTriedAgain() {
    world.configure(TWO_HOSTS);
    ends("a", 3);
    ends("b", 3);
    ends("d", 4);
    FailureGroups failures = ask(new Query.Failures("j", 10));
    assertThat(failures.total()).isEqualTo(3);
    assertThat(failures.groups()).hasSize(2);
    FailureGroups.Group three = failures.groups().get(0);
    assertThat(three.message()).isEqualTo("exited with code 3");
    assertThat(three.count()).isEqualTo(2);
    assertThat(three.waiting()).isEqualTo(2);
    assertThat(three.failed()).isZero();
    assertThat(three.samples()).containsExactly("b", "a");
    assertThat(three.newestMillis()).isEqualTo(world.now);
    assertThat(nodesOf(three.fingerprint())).containsExactly("a", "b");
    assertThat(ask(new Query.Failures("j", 1)).groups()).hasSize(1);
    ends("c", 0);
    ends("e", 0);
    world.advance(10_000);
    assertThat(ask(new Query.Failures("j", 10)).total()).as("all run again").isZero();
    ends("a", 3);
    assertThat(ask(new Query.Failures("j", 10)).groups().get(0).failed()).isEqualTo(1);
  }

  private List<String> nodesOf(String fingerprint) {
    var page = world.ask(Query.Tasks.all("j", "", 10).withFingerprint(fingerprint));
    world.settle();
    return page.toCompletableFuture().join().tasks().stream().map(task -> task.node()).toList();
  }

  @Test
  void theCauseOfAFailureSurvivesARestartAndIsForgivenWithIt() {
    world.configure(TWO_HOSTS);
    ends("a", 3);
    String fingerprint = ask(new Query.Failures("j", 10)).groups().get(0).fingerprint();
    assertThat(Objects.toString(world.row("j", "a").status().storedData())).contains(fingerprint);
    assertThat(world.row("j", "a").status().toJson().toString())
        .as("nothing that tasks get to see")
        .doesNotContain(fingerprint);
    world.crashAndRestart();
    world.configure(TWO_HOSTS);
    FailureGroups again = ask(new Query.Failures("j", 10));
    assertThat(again.groups().get(0).fingerprint()).isEqualTo(fingerprint);
    assertThat(again.groups().get(0).message()).isEqualTo("exited with code 3");
    assertThat(nodesOf(fingerprint)).containsExactly("a");
    world.done(new Command.Forgive(TaskSelection.all("j", "", "")));
    assertThat(ask(new Query.Failures("j", 10)).total()).isZero();
  }

  @Test
  void levelsCountTasksBelowAndNodesAboveByState() {
    world.configure(TWO_HOSTS);
    ends("a", 3);
    ends("d", 0);
    JobLevels levels = ask(new Query.Levels("j", 1));
    assertThat(levels.levels())
        .extracting(JobLevels.Level::level)
        .containsExactly("instance", "host", "db");
    assertThat(levels.levels().get(2).nodes()).isEqualTo(5);
    assertThat(states(levels, 2)).isEqualTo(Map.of("done", 1L, "running", 3L, "waiting", 1L));
    assertThat(states(levels, 1)).isEqualTo(Map.of("done", 1L, "running", 2L, "waiting", 1L));
    assertThat(levels.levels().get(2).samples().get("waiting")).containsExactly("a");
    world.configure(TWO_HOSTS.replace("\"owner\": \"o\"", "\"owner\": \"o\", \"enabled\": 7"));
    assertThat(states(ask(new Query.Levels("j", 1)), 2)).doesNotContainKey("ready");
  }

  private static Map<String, Long> states(JobLevels levels, int level) {
    Map<String, Long> states = new TreeMap<>(levels.levels().get(level).states());
    states.values().removeIf(count -> count == 0);
    return states;
  }

  @Test
  void waitingTasksCountOnceByTheFirstThingInTheirWay() {
    world.configure(
        TWO_HOSTS
            .replace("\"limit\": 2", "\"limit\": 1")
            .replace(
                "\"bistro_job->j\"",
                "\"bistro_job->k\": {\"owner\": \"o\", \"depends_on\": [\"j\"], \"command\":"
                    + " [\"/bin/true\"]}, \"bistro_job->j\""));
    ends("a", 3);
    WaitingReasons waiting = ask(new Query.Waiting("j"));
    assertThat(waiting.total()).isEqualTo(3);
    assertThat(waiting.counted()).isEqualTo(3);
    assertThat(waiting.sampled()).isFalse();
    assertThat(waiting.reasons())
        .extracting(WaitingReasons.Group::kind, WaitingReasons.Group::count)
        .containsExactly(
            org.assertj.core.groups.Tuple.tuple("resource", 2L),
            org.assertj.core.groups.Tuple.tuple("backoff", 1L));
    WaitingReasons.Group slots = waiting.reasons().get(0);
    assertThat(slots.resource()).isEqualTo("slots");
    assertThat(slots.node()).as("several").isNull();
    assertThat(slots.message()).contains("2 nodes of level host");
    assertThat(slots.samples()).containsExactly("c", "e");
    WaitingReasons dependent = ask(new Query.Waiting("k"));
    assertThat(dependent.reasons()).hasSize(1);
    assertThat(dependent.reasons().get(0).message()).contains("job j is not done");
    assertThat(dependent.reasons().get(0).count()).isEqualTo(5);
    world.done(new Command.Pause("k", 0, "", "for a while"));
    assertThat(ask(new Query.Waiting("k")).reasons().get(0).kind()).isEqualTo("job_paused");
  }

  @Test
  void theTreeSumsUpWhatIsShownAndWhatIsNot() {
    world.configure(TWO_HOSTS);
    ends("a", 0);
    ends("d", 3);
    TreeView hosts = ask(new Query.Tree("", "", "j", 1, 100));
    TreeView all = ask(new Query.Tree("", "", "", 10, 100));
    TreeView cut = ask(new Query.Tree("", "", "", 10, 5));
    assertThat(hosts.nodes())
        .extracting(TreeView.Node::states)
        .containsExactly(
            new TaskCounts(1, 0, 0, 3, 1, 0, 0),
            new TaskCounts(1, 0, 0, 2, 0, 0, 0),
            new TaskCounts(0, 0, 0, 1, 1, 0, 0));
    assertThat(hosts.nodes()).extracting(TreeView.Node::leaves).containsExactly(5L, 3L, 2L);
    assertThat(hosts.nodes().get(1).resources())
        .containsExactly(new TreeView.Slots("slots", 2, 2, 2, 2, ""));
    assertThat(hosts.isTruncated()).isFalse();
    assertThat(all.nodes()).hasSize(8);
    assertThat(all.nodes().subList(0, 3)).isEqualTo(hosts.nodes());
    assertThat(cut.nodes().subList(0, 3)).isEqualTo(hosts.nodes());
    assertThat(cut.isTruncated()).isTrue();
    assertThatThrownBy(() -> ask(new Query.Tree("x", "", "", 1, 1)))
        .hasCauseInstanceOf(RefusedException.class);
  }

  @Test
  void aNodeTellsItsUseItsHoldersAndTheTasksBelowByJob() {
    world.configure(TWO_HOSTS);
    NodeDetail node = ask(new Query.Node("host", "h2"));
    assertThat(node.leaves()).isEqualTo(2);
    assertThat(node.resources()).containsExactly(new TreeView.Slots("slots", 2, 2, 2, 2, ""));
    assertThat(node.holdersTotal()).isEqualTo(2);
    assertThat(node.holders()).extracting(ResourceHolder::node).containsExactly("d", "e");
    assertThat(node.jobs()).containsExactly(Map.entry("j", new TaskCounts(0, 0, 0, 2, 0, 0, 0)));
    assertThatThrownBy(() -> ask(new Query.Node("rack", "h2")))
        .hasRootCauseMessage("no level is called rack; there are instance, host, db");
  }

  @Test
  void whatClosesANodeIsToldInTheTreeAndOfEachNodeThatHasNoOtherWay() {
    world.configure(TWO_HOSTS);
    Brake.Key h1 = new Brake.Key(Brake.Target.NODE, "host", "h1");
    world.run(new Command.SetBrake(Brake.of(h1, 0).reason("the network is down").build(), 0));
    Quarantine.Key h2 = new Quarantine.Key("host", "h2", "j");
    world.done(new Command.SetQuarantine(h2, "ann", "disk errors"));
    assertThat(kinds(ask(new Query.Tree("", "", "", 1, 100))))
        .containsExactly(List.of(), List.of(Kind.BRAKE), List.of());
    assertThat(kinds(ask(new Query.Tree("", "", "j", 1, 100))))
        .as("closed for one job")
        .containsExactly(List.of(), List.of(Kind.BRAKE), List.of(Kind.QUARANTINE));
    List<Reason> below = ask(new Query.Node("db", "a")).closed();
    assertThat(below).extracting(Reason::node).containsExactly("h1");
    assertThat(below.get(0).message()).contains("the network is down");
    assertThat(ask(new Query.Node("db", "d")).closed()).isEmpty();
  }

  private static List<List<Kind>> kinds(TreeView tree) {
    return tree.nodes().stream()
        .map(node -> node.closed().stream().map(Reason::kind).toList())
        .toList();
  }

  @Test
  void aNodeWithAnotherWayIsNotClosedByAGateAboveIt() {
    world.configure(
        """
        {"bistro_settings": {
           "nodes": {"levels": ["host", "db"], "node_sources": [
             {"source": "manual", "prefs": {"h1": ["a", "b"], "h2": ["b"]}}]},
           "resources": {}},
         "bistro_job->j": {"owner": "o", "status_from": "exit_code", "command": ["/bin/true"]}}
        """);
    Brake.Key h1 = new Brake.Key(Brake.Target.NODE, "host", "h1");
    world.done(new Command.SetBrake(Brake.of(h1, 0).build(), 0));
    assertThat(ask(new Query.Node("db", "a")).closed()).hasSize(1);
    assertThat(ask(new Query.Node("db", "b")).closed()).as("h2 is open").isEmpty();
  }

  @Test
  void aJobsPaceIsThatOfTheLastMinute() {
    world.configure(TWO_HOSTS);
    assertThat(shown().secondsLeft()).as("unknown").isEqualTo(-1);
    world.advance(10_000);
    ends("a", 0);
    ends("b", 3);
    world.advance(9_000);
    JobProgress progress = shown();
    assertThat(progress.ratePerSecond()).isEqualTo(0.2);
    assertThat(progress.secondsLeft()).as("one of four in ten seconds").isEqualTo(40);
    world.advance(61_000);
    assertThat(shown().ratePerSecond()).isZero();
  }

  private JobProgress shown() {
    world.advance(200);
    return Objects.requireNonNull(Objects.requireNonNull(world.view).progress().get("j"));
  }

  /** Ten tasks run, however many there are. */
  private static String hosts(int count) {
    StringBuilder nodes = new StringBuilder();
    for (int host = 0; host < count; host++) {
      nodes.append(host == 0 ? "" : ",").append("\"h").append(host).append("\": [");
      for (int db = 0; db < 20; db++) {
        nodes
            .append(db == 0 ? "" : ",")
            .append("\"d")
            .append(host)
            .append('.')
            .append(db)
            .append('"');
      }
      nodes.append(']');
    }
    return TWO_HOSTS
        .replaceAll("\"h1\".*\\]\\}\\}\\]\\}", nodes + "}}]}")
        .replace("{\"host\": {\"slots\"", "{\"instance\": {\"slots\"")
        .replace("\"limit\": 2", "\"limit\": 10");
  }

  private long workOf(Query<?> query) {
    long before = world.loop.queries().work();
    CompletableFuture<?> answer = world.ask(query).toCompletableFuture();
    world.settle();
    assertThat(answer).isCompleted();
    return world.loop.queries().work() - before;
  }

  @Test
  void whatIsAskedMostCostsTheSameInALargerTree() {
    world.configure(hosts(10));
    List<Query<?>> questions =
        List.of(
            new Query.Explain("j", "d1.19"),
            new Query.Failures("j", 20),
            new Query.Node("host", "h1"),
            new Query.Tree("h1", "host", "", 9, 100));
    List<Long> small = questions.stream().map(this::workOf).toList();
    world.configure(hosts(200));
    assertThat(questions.stream().map(this::workOf).toList()).isEqualTo(small);
    assertThat(workOf(new Query.Explain("j", "d1.19"))).isLessThan(2_000);
  }

  @Test
  void whoeverAsksTheSameAtTheSameTimeGetsTheSameAnswer() {
    world.configure(hosts(200));
    CompletionStage<WaitingReasons> first = world.ask(new Query.Waiting("j"));
    CompletionStage<WaitingReasons> second = world.ask(new Query.Waiting("j"));
    world.settle();
    assertThat(second.toCompletableFuture().join()).isSameAs(first.toCompletableFuture().join());
    assertThat(first.toCompletableFuture().join().total()).isEqualTo(3_990);
    world.done(new Command.Pause("j", 0, "", ""));
    assertThat(ask(new Query.Waiting("j")).reasons().get(0).kind())
        .as("what was cheap is made again")
        .isEqualTo("job_paused");
  }

  @Test
  void theEndOfAJobThatHasEndedIsKnownWithoutLooking() {
    world.configure(hosts(5));
    assertThat(workOf(new Query.Eta("j", 1))).isGreaterThan(100);
    while (!world.running.isEmpty()) {
      TaskKey next = world.running.keySet().iterator().next();
      world.writes(next.job(), next.node(), "done");
    }
    assertThat(workOf(new Query.Eta("j", 2))).isEqualTo(1);
    assertThat(ask(new Query.Eta("j", 2)).p90Seconds()).isZero();
  }

  @Test
  void onlySomeQueriesAboutTheEndsOfJobsAreOpenAtOnce() {
    world.configure(hosts(200));
    long one = workOf(new Query.Eta("j", 1));
    long before = world.loop.queries().work();
    List<CompletableFuture<JobEta>> asked = new ArrayList<>();
    for (int i = 2; i < 102; i++) {
      asked.add(world.ask(new Query.Eta("j", i)).toCompletableFuture());
    }
    CompletableFuture<JobEta> same = world.ask(new Query.Eta("j", 2)).toCompletableFuture();
    world.settle();
    List<CompletableFuture<JobEta>> refused =
        asked.stream().filter(CompletableFuture::isCompletedExceptionally).toList();
    assertThat(asked).allMatch(CompletableFuture::isDone);
    assertThat(refused).hasSize(84);
    assertThatThrownBy(refused.get(0)::join)
        .hasRootCauseMessage("16 queries about the ends of jobs are open: try again")
        .rootCause()
        .isInstanceOfSatisfying(
            RefusedException.class,
            e -> assertThat(e.reason()).isEqualTo(RefusedException.Reason.UNAVAILABLE));
    assertThat(same.join()).as("shared, so it counts once").isSameAs(asked.get(0).join());
    assertThat(world.loop.queries().work() - before).isBetween(16 * one, 17 * one);
    assertThat(ask(new Query.Eta("j", 999)).left()).as("there is room again").isPositive();
    assertThatThrownBy(() -> ask(new Query.Eta("nobody", 0)))
        .hasRootCauseMessage("no such job: nobody");
    assertThat(ask(new Query.Eta("j", 998)).left()).as("that took no place").isPositive();
  }

  private void areBounded(Query<?> query) {
    List<CompletableFuture<?>> asked = new ArrayList<>();
    for (int i = 0; i < 15_000; i++) {
      asked.add(world.ask(query).toCompletableFuture());
    }
    world.settle();
    List<CompletableFuture<?>> refused =
        asked.stream().filter(CompletableFuture::isCompletedExceptionally).toList();
    assertThat(asked).allMatch(CompletableFuture::isDone);
    assertThat(refused).hasSizeBetween(1, 5_000);
    assertThatThrownBy(refused.get(0)::join)
        .hasRootCauseMessage("10000 queries are open: try again");
    assertThat(ask(query)).as("there is room again").isNotNull();
  }

  @Test
  void queriesThatNobodyWaitsForAnyMoreAreBounded() {
    world.configure(hosts(200));
    areBounded(new Query.Histograms(List.of("j"), 0));
    areBounded(Query.Tasks.all("j", "", 100).with(query -> query.counted(true)));
  }
}
