package io.espalier.core.loop;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.api.Command;
import io.espalier.core.api.TaskSelection;
import io.espalier.core.api.view.SchedulerView;
import io.espalier.core.running.Counters;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.Progress;
import io.espalier.core.running.TaskResult;
import io.espalier.core.status.TaskKey;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** What tasks count is added up exactly (docs/writing-tasks.md#counters). */
class CountersLoopTest {
  private static final String CONFIG =
      """
      {"bistro_settings": {
         "nodes": {"levels": ["db"], "node_order": "original", "node_sources": [
           {"source": "manual", "prefs": {"a": [], "b": []}}]},
         "resources": {}, "backoff": [1, "fail"]},
       "bistro_job->j": {"owner": "o"}}
      """;

  private final LoopWorld world = new LoopWorld();

  private static Counters rows(long rows) {
    return new Counters(Map.of("rows", rows));
  }

  private Invocation invocation(String node) {
    return world.launch("j", node).invocation();
  }

  private void says(String node, Counters counters) {
    Progress newest = Progress.NONE.withCounters(counters);
    world.post(
        new LoopInput.TaskProgressed(new TaskKey("j", node), invocation(node), () -> newest));
    world.settle();
  }

  private void ends(String node, TaskResult.Kind kind, String status, Counters counters) {
    TaskResult end = TaskResult.of("j", node, invocation(node), kind);
    world.running.remove(new TaskKey("j", node));
    world.post(
        new LoopInput.TaskEnded(
            (kind == TaskResult.Kind.LOST ? end : end.withRawStatus(status).withExit(0, null))
                .withCounters(counters)));
    world.settle();
  }

  private Counters ofJob() {
    return Objects.requireNonNull(world.jobStates.get("j")).counters();
  }

  private Counters ofAttempts() {
    return world.attempts.stream()
        .map(attempt -> attempt.counters())
        .reduce(Counters.NONE, Counters::plus);
  }

  @Test
  void aReportIsTheSumSinceTheStartSoThatARepeatedOneCountsOnce() {
    world.configure(CONFIG);
    says("a", rows(5));
    says("a", rows(5));
    world.advance(1_000);
    says("a", rows(7));
    says("a", rows(6));
    says("b", rows(100));
    world.advance(1_000);
    assertThat(ofJob()).isEqualTo(rows(107));
    assertThat(world.row("j", "a").counters()).isEqualTo(rows(7));
    SchedulerView view = Objects.requireNonNull(world.view);
    assertThat(Objects.requireNonNull(view.jobStates().get("j")).counters()).isEqualTo(rows(107));
    assertThat(Objects.requireNonNull(view.progress().get("j")).counterRates().get("rows"))
        .isPositive();
    assertThat(world.row("j", "a").status().checkpoint()).isNull();
  }

  @Test
  void attemptsAddUp() {
    world.configure(CONFIG);
    says("a", rows(5));
    ends("a", TaskResult.Kind.EXITED, "error_backoff", rows(8));
    assertThat(world.row("j", "a").counters()).isEqualTo(Counters.NONE);
    world.advance(1_000);
    ends("a", TaskResult.Kind.EXITED, "done", rows(2));
    assertThat(ofJob()).isEqualTo(rows(10));
    assertThat(ofAttempts()).isEqualTo(rows(10));
    world.done(new Command.Rerun(TaskSelection.all("j", "", "")));
    ends("a", TaskResult.Kind.EXITED, "done", rows(1));
    assertThat(ofJob()).isEqualTo(rows(11));
  }

  @Test
  void nothingCountsTwiceOverAFailOver() {
    world.isRemote = true;
    world.configure(CONFIG);
    says("a", rows(5));
    says("a", rows(9));
    world.crashAndRestart();
    assertThat(ofJob()).as("what was durable").isEqualTo(rows(5));
    world.configure(CONFIG);
    says("a", rows(9));
    ends("a", TaskResult.Kind.EXITED, "done", rows(12));
    assertThat(ofJob()).isEqualTo(rows(12));
    assertThat(ofAttempts()).isEqualTo(rows(12));
  }

  @Test
  void whatALostInvocationSaidLastCountsAndItsLateEndDoesNot() {
    world.configure(CONFIG);
    says("a", rows(5));
    Invocation lost = invocation("a");
    ends("a", TaskResult.Kind.LOST, "", Counters.NONE);
    world.post(
        new LoopInput.TaskEndedLate(
            TaskResult.exited("j", "a", lost, "done", 0).withCounters(rows(50))));
    world.settle();
    assertThat(ofJob()).isEqualTo(rows(5));
    assertThat(ofAttempts()).isEqualTo(rows(5));
  }

  @Test
  void whatDiedWithTheSchedulerCountsWhatWasDurable() {
    world.configure(CONFIG);
    says("a", rows(5));
    world.crashAndRestart();
    world.configure(CONFIG);
    assertThat(ofAttempts()).isEqualTo(rows(5));
    assertThat(ofJob()).isEqualTo(rows(5));
    world.advance(1_000);
    assertThat(world.row("j", "a").counters()).isEqualTo(Counters.NONE);
    ends("a", TaskResult.Kind.EXITED, "done", rows(3));
    assertThat(ofJob()).isEqualTo(rows(8));
  }

  @Test
  void aJobHasAtMostSixteenNames() {
    world.configure(CONFIG);
    Map<String, Long> first = new TreeMap<>();
    Map<String, Long> second = new TreeMap<>();
    for (int i = 0; i < 10; i++) {
      first.put("a" + i, 1L);
      second.put("b" + i, 1L);
    }
    says("a", new Counters(first));
    says("b", new Counters(second));
    ends("b", TaskResult.Kind.EXITED, "done", new Counters(second));
    assertThat(ofJob().values()).hasSize(Counters.MOST_NAMES).containsKeys("b0", "b5");
    assertThat(ofAttempts().values()).hasSize(6);
    assertThat(world.warnings).anyMatch(line -> line.contains("more than 16 counters"));
  }

  @Test
  void aSumThatIsTooLargeIsCappedAndSaid() {
    world.configure(CONFIG);
    says("a", rows(Long.MAX_VALUE - 1));
    says("b", rows(Long.MAX_VALUE - 1));
    world.advance(1_000);
    assertThat(ofJob()).isEqualTo(rows(Long.MAX_VALUE));
    assertThat(Objects.requireNonNull(world.view).errors().get("counters")).contains("capped");
  }

  @Test
  void aJobThatIsMadeAnewCountsFromNothing() {
    world.configure(CONFIG);
    says("a", rows(5));
    world.configureAnew(CONFIG, "j", 17);
    world.advance(1_000);
    ends("a", TaskResult.Kind.EXITED, "done", rows(6));
    ends("b", TaskResult.Kind.EXITED, "done", rows(1));
    assertThat(ofJob()).as("both ran for the job before").isEqualTo(Counters.NONE);
  }
}
