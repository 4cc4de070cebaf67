package io.espalier.core.loop;

import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.api.Command;
import io.espalier.core.api.TaskSelection;
import io.espalier.core.api.view.Explanation;
import io.espalier.core.api.view.JobProgress;
import io.espalier.core.event.Event;
import io.espalier.core.outcome.JobState;
import io.espalier.core.outcome.JobStateRecord;
import io.espalier.core.running.TaskResult;
import io.espalier.core.status.store.LimitOverride;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What counts as ready, and which jobs are stuck: those in which nothing can move unless somebody
 * acts (docs/adr/0045-stuck-jobs.md).
 */
class StuckJobsTest {
  private static final String NODES = "'a': [], 'b': [], 'c': []";

  private static final String FIRST = "'bistro_job->first': {'owner': 'o'}, ";
  private static final String AFTER_ALL =
      "'bistro_job->then': {'owner': 'o', 'run_only_after_all_nodes_are_done_for': ['first']}";
  private static final String AFTER_EACH =
      "'bistro_job->then': {'owner': 'o', 'depends_on': ['first']}";

  private final LoopWorld world = new LoopWorld();

  private static String config(String nodes, String jobs) {
    return """
    {'bistro_settings': {
       'nodes': {'levels': ['db'], 'node_order': 'original', 'node_sources': [
         {'source': 'manual', 'prefs': {%s}}]},
       'resources': {'instance': {'slots': {'default': 1, 'limit': 2}}},
       'backoff': [5, 'fail']},
     %s}
    """
        .formatted(nodes, jobs)
        .replace('\'', '"');
  }

  private void configure(String jobs) {
    world.configure(config(NODES, jobs));
    world.advance(200);
  }

  private JobStateRecord jobState(String job) {
    world.advance(2_000);
    return Objects.requireNonNull(Objects.requireNonNull(world.view).jobStates().get(job));
  }

  private JobProgress counts(String job) {
    world.advance(2_000);
    return Objects.requireNonNull(Objects.requireNonNull(world.view).progress().get(job));
  }

  private void isStuck(String job, String why) {
    JobStateRecord jobState = jobState(job);
    assertThat(jobState.state()).as(jobState.reason()).isEqualTo(JobState.STUCK);
    assertThat(jobState.reason()).isEqualTo(why);
    assertThat(counts(job).ready()).isZero();
    assertThat(counts(job).secondsLeft()).as("time left").isEqualTo(-1);
  }

  private void runAll(String job) {
    while (world.running.keySet().stream().anyMatch(task -> task.job().equals(job))) {
      world.writes(
          job,
          world.running.keySet().stream()
              .filter(task -> task.job().equals(job))
              .findFirst()
              .orElseThrow()
              .node(),
          "done");
    }
  }

  private void does(CompletionStage<?> stage) {
    world.settle();
    assertThat(stage.toCompletableFuture()).isCompleted();
  }

  private List<String> moves(String job) {
    return world.events.stream()
        .filter(event -> event.kind().equals("job_state"))
        .filter(event -> event.data().toString().contains("\"job\":\"" + job + "\""))
        .map(Event::data)
        .map(data -> Objects.toString(data.get("to")))
        .toList();
  }

  @ParameterizedTest
  @ValueSource(strings = {"depends_on", "run_only_after_all_nodes_are_done_for"})
  void aChainOfDependenciesMayBeLong(String key) {
    StringBuilder jobs = new StringBuilder("'bistro_job->j9999': {'owner': 'o', 'enabled': false}");
    for (int i = 0; i < 9_999; i++) {
      jobs.append(", 'bistro_job->j%d': {'owner': 'o', '%s': ['j%d']}".formatted(i, key, i + 1));
    }
    configure(jobs.toString());
    assertThat(jobState("j0").state()).isEqualTo(JobState.STUCK);
  }

  @ParameterizedTest
  @ValueSource(strings = {"depends_on", "run_only_after_all_nodes_are_done_for"})
  void ofManyJobsThatItWaitsForOnlyAFewAreNamed(String key) {
    String others =
        IntStream.range(0, 300).mapToObj(i -> "'x%d'".formatted(i)).collect(joining(", "));
    configure("'bistro_job->then': {'owner': 'o', '%s': [%s]}".formatted(key, others));
    assertThat(jobState("then").state()).isEqualTo(JobState.STUCK);
    assertThat(jobState("then").reason())
        .contains("job x4", "295 more")
        .doesNotContain("job x5")
        .hasSizeLessThan(1_000);
  }

  // ---- ready

  @Test
  void whatWaitsForAJobIsBlockedAndNotReady() {
    configure(FIRST + AFTER_ALL);
    assertThat(counts("first").ready()).isEqualTo(1);
    assertThat(counts("then").ready()).isZero();
    assertThat(counts("then").blocked()).isEqualTo(3);
    assertThat(jobState("then").state()).isEqualTo(JobState.WAITING);
    runAll("first");
    assertThat(counts("then").running()).isEqualTo(2);
    assertThat(counts("then").ready()).isEqualTo(1);
    assertThat(counts("then").blocked()).isZero();
  }

  @Test
  void whatWaitsOnItsNodeIsBlockedUntilThatIsDone() {
    configure(FIRST + AFTER_EACH);
    assertThat(counts("then").blocked()).isEqualTo(3);
    world.writes("first", "a", "done");
    JobProgress then = counts("then");
    assertThat(then.ready() + then.running()).isEqualTo(1);
    assertThat(then.blocked()).isEqualTo(2);
    runAll("first");
    assertThat(counts("then").blocked()).isZero();
  }

  @Test
  void tasksOfAPausedJobAreBlockedAndTheJobIsNotStuck() {
    configure(FIRST + AFTER_ALL);
    does(world.run(new Command.Pause("first", 0, "me", "night")));
    runAll("first");
    assertThat(counts("first").ready()).isZero();
    assertThat(counts("first").blocked()).isEqualTo(1);
    assertThat(counts("first").secondsLeft()).isEqualTo(-1);
    assertThat(jobState("first").state()).isEqualTo(JobState.PAUSED);
    assertThat(jobState("then").state()).as("its job may go on").isEqualTo(JobState.WAITING);
  }

  @Test
  void aDisabledJobHasNothingReady() {
    configure("'bistro_job->j': {'owner': 'o', 'enabled': false}");
    assertThat(counts("j").ready()).isZero();
    assertThat(counts("j").blocked()).isEqualTo(3);
    assertThat(jobState("j").state()).isEqualTo(JobState.DISABLED);
  }

  @Test
  void aLimitOfZeroIsAStopAndNotStuck() {
    world.configure(
        config(NODES, "'bistro_job->j': {'owner': 'o'}").replace("\"limit\": 2", "\"limit\": 0"));
    assertThat(counts("j").ready()).isZero();
    assertThat(counts("j").blocked()).isEqualTo(3);
    assertThat(jobState("j").state()).isEqualTo(JobState.WAITING);
  }

  @Test
  void timeIsLeftForWhatRunsOnly() {
    world.configure(config(NODES + ", 'd': []", "'bistro_job->j': {'owner': 'o'}"));
    world.advance(10_000);
    world.writes("j", "a", "done");
    assertThat(counts("j").secondsLeft()).isGreaterThan(0);
    does(world.run(new Command.Pause("j", 0, "me", "")));
    assertThat(counts("j").secondsLeft()).as("paused").isEqualTo(-1);
  }

  // ---- stuck

  @Test
  void aJobThatWaitsForADisabledNodeIsStuckAndNamesIt() {
    world.configure(config("'a': [], 'b': [], 'c': {'disabled': true}", FIRST + AFTER_ALL));
    assertThat(jobState("then").state()).as("a and b run").isEqualTo(JobState.STUCK);
    runAll("first");
    assertThat(jobState("first").state()).isEqualTo(JobState.SUCCEEDED);
    isStuck("then", "it waits for job first, which is done on 2 of 3 nodes; c is disabled");
    assertThat(moves("then")).endsWith("\"stuck\"");
    assertThat(world.core.tasks().explain("then", "a").reasons())
        .extracting(Explanation.Reason::message)
        .contains("waits for job first, which is done on 2 of 3 nodes; c is disabled");
  }

  @Test
  void aJobThatWaitsForWhatHasFailedIsStuckUntilThatIsForgiven() {
    configure(FIRST + AFTER_ALL);
    world.writes("first", "a", "failed");
    runAll("first");
    isStuck("then", "it waits for job first, which is done on 2 of 3 nodes; it has failed on a");
    does(world.run(new Command.Forgive(TaskSelection.all("first", "", ""))));
    assertThat(jobState("then").state()).isEqualTo(JobState.WAITING);
    runAll("first");
    assertThat(jobState("then").state()).isEqualTo(JobState.RUNNING);
  }

  @Test
  void aJobOfWhichAllNodesWaitForFailedTasksIsStuck() {
    configure(FIRST + AFTER_EACH);
    world.writes("first", "a", "failed");
    runAll("first");
    assertThat(jobState("then").state()).as("b and c may run").isEqualTo(JobState.RUNNING);
    runAll("then");
    isStuck(
        "then",
        "its tasks wait for job first on their node; on a job first is not done here: failed");
  }

  @Test
  void aJobThatNeedsMoreThanThereIsIsStuckUntilSomebodyGivesItEnough() {
    configure("'bistro_job->j': {'owner': 'o', 'resources': {'slots': 5}}");
    isStuck("j", "its tasks need 5 of slots, and no node of level instance has more than 2");
    assertThat(counts("j").blocked()).isEqualTo(3);
    does(
        world.run(
            new Command.SetLimit(
                new LimitOverride("instance", "slots", "", 5, "me", "", 0, 0), 0)));
    assertThat(jobState("j").state()).isEqualTo(JobState.RUNNING);
  }

  @Test
  void aJobOnALevelWithoutNodesIsStuck() {
    world.configure(
        """
        {"bistro_settings": {
           "nodes": {"levels": ["host", "db"], "node_sources": [
             {"source": "manual", "prefs": {"h": []}}]},
           "resources": {"instance": {"slots": {"default": 1, "limit": 2}}}},
         "bistro_job->j": {"owner": "o", "level_for_tasks": "db"},
         "bistro_job->endless": {"owner": "o", "level_for_tasks": "db", "succeed_job_when": "never"}}
        """);
    isStuck("j", "there is no node of its level, db: no node source delivers any");
    assertThat(jobState("endless").state()).isEqualTo(JobState.OPEN);
  }

  @Test
  void aJobWhoseFiltersExcludeAllIsStuck() {
    configure("'bistro_job->j': {'owner': 'o', 'filters': {'db': {'whitelist': ['typo']}}}");
    isStuck(
        "j",
        "it has no task: of 3 nodes of its level, db, its filters exclude 3 and 0 are disabled");
  }

  @Test
  void aJobInBackOffIsNotStuck() {
    configure("'bistro_job->j': {'owner': 'o'}");
    world.end("j", "a", TaskResult.Kind.EXITED, null, 1);
    world.end("j", "b", TaskResult.Kind.EXITED, null, 1);
    assertThat(jobState("j").state()).isEqualTo(JobState.RUNNING);
  }

  @Test
  void whatWaitsForAStuckJobIsStuckToo() {
    configure(
        "'bistro_job->large': {'owner': 'o', 'resources': {'slots': 5}},'bistro_job->then':"
            + " {'owner': 'o', 'run_only_after_all_nodes_are_done_for':"
            + " ['large']},'bistro_job->last': {'owner': 'o', 'depends_on': ['then']}");
    assertThat(jobState("large").state()).isEqualTo(JobState.STUCK);
    isStuck("then", "it waits for job large, which is done on 0 of 3 nodes");
    assertThat(jobState("last").state()).isEqualTo(JobState.STUCK);
  }

  @Test
  void aStuckJobThatIsStoppedIsStopped() {
    configure("'bistro_job->j': {'owner': 'o', 'resources': {'slots': 5}}");
    assertThat(jobState("j").state()).isEqualTo(JobState.STUCK);
    does(world.run(new Command.Pause("j", 0, "me", "")));
    assertThat(jobState("j").state()).isEqualTo(JobState.PAUSED);
  }

  @Test
  void aRestartChangesNothing() {
    String config = config(NODES, "'bistro_job->j': {'owner': 'o', 'resources': {'slots': 5}}");
    world.configure(config);
    JobStateRecord before = jobState("j");
    int moves = moves("j").size();
    world.crashAndRestart();
    world.configure(config);
    assertThat(jobState("j")).isEqualTo(before);
    assertThat(moves("j")).hasSize(moves);
  }
}
