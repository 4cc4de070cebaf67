package io.espalier.core.loop;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.api.Command;
import io.espalier.core.api.Query;
import io.espalier.core.api.TaskSelection;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.TaskResult;
import io.espalier.core.status.Attempt;
import io.espalier.core.status.TaskKey;
import io.espalier.core.status.store.StatusRow;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** How long tasks wait before they are placed (docs/metrics.md), with the loop driven by hand. */
class WaitTimesTest {
  private final LoopWorld world = new LoopWorld();

  private static String config(String nodes, String jobs) {
    return """
        {"bistro_settings": {
           "nodes": {"levels": ["db"], "node_order": "original", "node_sources": [
             {"source": "manual", "prefs": {NODES}}]},
           "resources": {"instance": {"slot": {"limit": 1, "default": 1}}}, "scheduler": "ranked_priority", "backoff": [4, "fail"]},
         JOBS}
        """
        .replace("NODES", nodes)
        .replace("JOBS", jobs);
  }

  private static final String JOB =
      "\"bistro_job->j\": {\"owner\": \"o\", \"resources\": {\"slot\": 1}}";

  private long waited(String job, String node) {
    return world.row(job, node).waitedMillis();
  }

  private Attempt newest() {
    return world.attempts.get(world.attempts.size() - 1);
  }

  @Test
  void aTaskWaitsForASlotFromWhenItsJobMayStartIt() {
    world.configure(config("\"a\": [], \"b\": []", JOB));
    assertThat(waited("j", "a")).isZero();
    world.advance(700);
    long since = world.answer(new Query.Task("j", "b")).eligibleMillis();
    assertThat(since).isEqualTo(world.now - 700);
    assertThat(world.answer(new Query.Explain("j", "b")).eligibleMillis()).isEqualTo(since);
    assertThat(world.answer(new Query.Task("j", "a")).eligibleMillis()).isZero();
    world.writes("j", "a", "done");
    assertThat(waited("j", "b")).isEqualTo(700);
    assertThat(newest().waitedMillis()).isZero();
    world.writes("j", "b", "done");
    assertThat(newest().waitedMillis()).isEqualTo(700);
    assertThat(world.row("j", "b").waitedMillis()).isEqualTo(Attempt.UNKNOWN_WAIT);
  }

  @Test
  void aTaskWhoseNodeIsExcludedOrDisabledWaitsForNothing() {
    String filters = ", \"filters\": {\"db\": {\"blacklist\": [\"b\"]}}}";
    world.configure(
        config(
            "\"a\": [], \"b\": [], \"c\": {\"disabled\": true}, \"d\": []",
            JOB.substring(0, JOB.length() - 1) + filters));
    world.advance(700);
    for (String node : List.of("b", "c")) {
      assertThat(world.answer(new Query.Task("j", node)).eligibleMillis()).as(node).isZero();
      assertThat(world.answer(new Query.Explain("j", node)).eligibleMillis()).as(node).isZero();
    }
    assertThat(world.answer(new Query.Explain("j", "d")).eligibleMillis()).isPositive();
  }

  @Test
  void aBackoffIsNoWaitAndWhatFollowsItIs() {
    world.configure(
        config(
            "\"a\": []",
            JOB
                + ", \"bistro_job->k\": {\"owner\": \"o\", \"priority\": 2,"
                + " \"resources\": {\"slot\": 1}, \"enabled\": false}"));
    world.writes("j", "a", "error_backoff");
    world.configure(
        config(
            "\"a\": []",
            JOB
                + ", \"bistro_job->k\": {\"owner\": \"o\", \"priority\": 2,"
                + " \"resources\": {\"slot\": 1}}"));
    assertThat(world.running).containsOnlyKeys(new TaskKey("k", "a"));
    world.advance(9_000);
    world.writes("k", "a", "done");
    // Five of these nine seconds came after the back-off.
    assertThat(waited("j", "a")).isEqualTo(5_000);
  }

  @Test
  void aForgivenTaskWaitsFromThenOn() {
    world.configure(config("\"a\": [], \"b\": []", JOB));
    world.writes("j", "a", "failed");
    assertThat(world.running).containsOnlyKeys(new TaskKey("j", "b"));
    world.advance(500);
    world.done(new Command.Forgive(TaskSelection.all("j", "", "")));
    world.advance(300);
    world.writes("j", "b", "done");
    assertThat(waited("j", "a")).isEqualTo(300);
  }

  @Test
  void aTaskThatIsToRunAgainWaitsFromThenOn() {
    world.configure(config("\"a\": [], \"b\": [], \"c\": [], \"d\": []", JOB));
    world.advance(700);
    world.writes("j", "a", "done");
    world.writes("j", "b", "failed");
    world.advance(500);
    world.done(new Command.Rerun(TaskSelection.all("j", "", "")));
    long reset = world.now;
    assertThat(world.answer(new Query.Task("j", "a")).eligibleMillis()).isEqualTo(reset);
    assertThat(world.answer(new Query.Explain("j", "b")).eligibleMillis()).isEqualTo(reset);
    assertThat(world.answer(new Query.Task("j", "d")).eligibleMillis()).isEqualTo(reset - 1_200);
    world.advance(300);
    world.configure(config("\"a\": [], \"b\": [], \"c\": []", JOB));
    assertThat(world.answer(new Query.Task("j", "b")).eligibleMillis())
        .as("after a change of the tree the wait may count again, but is no longer than it was")
        .isGreaterThanOrEqualTo(reset);
    world.writes("j", "c", "done");
    assertThat(waited("j", "a")).isLessThanOrEqualTo(300);
  }

  @Test
  void aTaskThatDependsOnAnotherWaitsFromItsEnd() {
    world.configure(
        config(
            "\"a\": [], \"b\": []",
            JOB
                + ", \"bistro_job->k\": {\"owner\": \"o\", \"depends_on\": [\"j\"], \"priority\": 0.1,"
                + " \"resources\": {\"slot\": 1}}"));
    world.advance(400);
    assertThat(world.answer(new Query.Task("k", "a")).eligibleMillis()).isZero();
    world.writes("j", "a", "done");
    assertThat(world.answer(new Query.Task("k", "a")).eligibleMillis()).isEqualTo(world.now);
    long released = world.now;
    while (!world.stored.containsKey(new TaskKey("k", "a"))) {
      world.advance(250);
      TaskKey next = world.running.keySet().iterator().next();
      world.writes(next.job(), next.node(), "done");
    }
    StatusRow row = world.row("k", "a");
    assertThat(row.waitedMillis()).isEqualTo(row.invocation().startMillis() - released);
  }

  @Test
  void aTaskOfAPausedJobWaitsFromItsResumption() {
    world.configure(config("\"a\": [], \"b\": []", JOB));
    world.done(new Command.Pause("j", 0, "ann", ""));
    world.advance(600);
    world.writes("j", "a", "done");
    assertThat(world.running).isEmpty();
    world.advance(100);
    world.run(new Command.Resume("j", "ann", ""));
    world.advance(0);
    assertThat(waited("j", "b")).isZero();
  }

  @Test
  void itSurvivesAFailOver() {
    world.isRemote = true;
    world.configure(config("\"a\": [], \"b\": []", JOB));
    world.advance(700);
    world.writes("j", "a", "done");
    world.crashAndRestart();
    world.configure(config("\"a\": [], \"b\": []", JOB));
    world.advance(50);
    world.writes("j", "b", "done");
    assertThat(newest().node()).isEqualTo("b");
    assertThat(newest().waitedMillis()).isEqualTo(700);
  }

  @Test
  void theStartOfTheProcessAndTheQuantilesAreShown() {
    world.configure(config("\"a\": [], \"b\": []", JOB));
    world.advance(3_000);
    LaunchSpec launch = Objects.requireNonNull(world.running.remove(new TaskKey("j", "a")));
    long placed = launch.invocation().startMillis();
    world.post(
        new LoopInput.TaskEnded(
            TaskResult.exited("j", "a", launch.invocation(), "done", 0)
                .withStartedAtMillis(placed + 40)
                .withUsage(null, false, placed + 2_040)));
    world.advance(200);
    assertThat(newest().startedAtMillis()).isEqualTo(placed + 40);
    assertThat(newest().ranMillis()).isEqualTo(2_000);
    assertThat(world.events.get(world.events.size() - 2).data().toString())
        .contains("\"start_ms\":40");
    var waits =
        Objects.requireNonNull(Objects.requireNonNull(world.view).progress().get("j")).waits();
    assertThat(waits.p50Seconds()).isZero();
    assertThat(waits.p95Seconds()).isBetween(2.8, 3.3);
  }
}
