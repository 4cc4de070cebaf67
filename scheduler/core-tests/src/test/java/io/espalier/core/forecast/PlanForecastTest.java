package io.espalier.core.forecast;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.api.plan.PlanForecast;
import io.espalier.core.api.plan.PlanForecast.End;
import io.espalier.core.api.plan.PlanForecast.Peak;
import io.espalier.core.api.plan.PlanForecast.Use;
import io.espalier.core.api.view.JobEta;
import io.espalier.core.config.Config;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.scheduling.capacity.LimitFactor;
import io.espalier.core.scheduling.gate.Gate;
import io.espalier.core.scheduling.gate.GateKind;
import io.espalier.core.scheduling.gate.Scope;
import io.espalier.core.scheduling.update.TaskDifference;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.TaskStatus.Main;
import io.espalier.core.status.store.LimitOverride;
import io.espalier.core.topology.Topology;
import io.espalier.json.JsonReader;
import io.espalier.testkit.config.ConfigFixtures;
import io.espalier.testkit.scheduling.TestPolicies;
import io.espalier.testkit.scheduling.TreeFixture;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Peaks and ends that a configuration would bring, compared with those that it brings. */
final class PlanForecastTest {
  private static final String CONFIG =
      """
      {"bistro_settings": {"nodes": {"levels": ["host", "db"]},
         "resources": {"host": {"slots": {"default": 1, "limit": 2}},
                       "db": {"locks": {"default": 1, "limit": 1}}}},
       "bistro_job->a": {"owner": "o", "command": ["x"]},
       "bistro_job->b": {"owner": "o", "command": ["x"], "resources": {"slots": 2},
         "filters": {"db": {"whitelist": ["1", "2", "3"]}}}}
      """;

  private static final Map<String, JobPace> PACES =
      Map.of("a", new JobPace(List.of(500L, 1_000L, 4_000L), 0.5), "b", JobPace.constant(2_000));

  private final SchedulingCore core = new SchedulingCore(5);
  private final Config config = config(CONFIG);
  private final Topology tree = tree("h/1", "h/2", "h/3", "g/4", "g/5", "f/6");

  private static Config config(String text) {
    return Objects.requireNonNull(
        ConfigFixtures.parser()
            .parse(Objects.requireNonNull(JsonReader.parse(text).value()))
            .value());
  }

  private Topology tree(String... paths) {
    return TreeFixture.of(config.settings().levels(), paths);
  }

  /** Some tasks are done, some run, a node is braked, a limit is overridden, a job is paused. */
  private void start() {
    core.apply(config, tree, 100);
    int a = core.findJob("a");
    core.setStatus(a, core.findNode(a, "3"), TaskStatus.of(Main.DONE, 5, 0));
    core.setStatus(a, core.findNode(a, "6"), TaskStatus.of(Main.FAILED, 5, 0));
    core.limits().override(new LimitOverride("host", "slots", "g", 4, "", "", 0, 0));
    core.limits()
        .setFactor(
            new LimitFactor("brake", Scope.node("host", "h"), Set.of(), 500_000, "", "", 0, 0));
    while (!core.stepLimits(Integer.MAX_VALUE)) {
      // Until they are in effect.
    }
    core.round(TestPolicies.IN_TURN, 2, run -> {});
    // Starts in flight fill its window: both take them as confirmed.
    core.gates().close(Gate.of(GateKind.JOB_STARTING, "a", ""));
  }

  private WorkCopy copy() {
    WorkCopy copy = new WorkCopy(core);
    while (!copy.step(1)) {
      // In the smallest slices.
    }
    return copy;
  }

  private PlanForecast forecast(Config after, Topology nodes) {
    WorkCopy copy = copy();
    TaskDifference difference = TaskDifference.of(core.config(), core.topology(), after, nodes);
    return new PlanForecaster(
            PlannedWork.now(copy), PlannedWork.then(copy, difference), PACES, 0, 100)
        .forecast();
  }

  /** Returns what the scheduler itself estimates. */
  private JobEta live(String name) {
    LiveWork work = new LiveWork(core);
    int job = core.findJob(name);
    JobPace pace = PACES.getOrDefault(name, JobPace.constant(1));
    EtaScan scan = new EtaScan(work, job, PACES, pace);
    while (!scan.isDone()) {
      scan.step(1_000);
    }
    EtaEstimate estimate = new EtaEstimate(work, job, pace, PACES.containsKey(name), scan, 100);
    while (!estimate.isDone()) {
      estimate.step(1_000);
    }
    return estimate.answer();
  }

  @Test
  void whatIsInForceIsForecastAsTheSchedulerEstimatesIt() {
    start();
    PlanForecast forecast = forecast(config(CONFIG), tree);
    assertThat(forecast.ends())
        .containsExactlyInAnyOrder(
            new End("a", live("a"), live("a")), new End("b", live("b"), live("b")));
    assertThat(forecast.peaks()).allMatch(peak -> Objects.equals(peak.now(), peak.then()));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "'\"limit\": 2'                      | '\"limit\": 8'",
        "'\"limit\": 2'                      | '\"limit\": 1'",
        "'[\"1\", \"2\", \"3\"]'             | '[\"2\", \"5\"]'",
        "'{\"slots\": 2}'                    | '{\"slots\": 1}'",
        "'->b'                               | '->c'",
        "'\"owner\": \"o\", \"command\": [\"x\"]}' | '\"owner\": \"o\", \"enabled\": false, \"command\": [\"x\"]}'",
        "'\"limit\": 1}'                     | '\"limit\": 3}'"
      })
  void whatWouldComeIsForecastAsTheSchedulerThenEstimatesIt(String before, String after) {
    start();
    assertThat(CONFIG).contains(before);
    Config next = config(CONFIG.replace(before, after));
    Topology nodes = tree("h/1", "h/2", "h/3", "g/5", "f/6", "e/7", "e/8");
    PlanForecast forecast = forecast(next, nodes);
    core.apply(next, nodes, 100);
    while (!core.stepLimits(Integer.MAX_VALUE)) {
      // Until they are in effect.
    }
    assertThat(forecast.ends()).isNotEmpty();
    for (End end : forecast.ends()) {
      JobEta then = next.job(end.job()) == null ? null : live(end.job());
      assertThat(end.then()).as(end.job()).isEqualTo(then);
    }
    PlanForecast same = forecast(next, nodes);
    assertThat(same.peaks().stream().map(Peak::now).toList())
        .isEqualTo(forecast.peaks().stream().map(Peak::then).filter(Objects::nonNull).toList());
  }

  @Test
  void thePeakIsWhatRunsAtOnceWhenNothingElseIsInTheWay() {
    core.apply(config, tree, 100);
    PlanForecast forecast = forecast(config(CONFIG.replace("\"limit\": 2", "\"limit\": 3")), tree);
    // On h there is more than enough to do, on g for two and on f for one slot.
    assertThat(forecast.peaks())
        .containsExactly(
            new Peak("db", "locks", new Use(6, 6), new Use(6, 6)),
            new Peak("host", "slots", new Use(5, 6), new Use(6, 9)));
  }

  @ParameterizedTest
  @EnumSource(
      value = GateKind.class,
      names = {"PAUSE", "JOB_BRAKE", "HALTED", "JOB_WINDOW"})
  void thePeakIsTheSameWhileAJobIsKeptForATime(GateKind kind) {
    core.apply(config, tree, 100);
    List<Peak> open = forecast(config, tree).peaks();
    core.gates().close(Gate.of(kind, "a", ""));
    PlanForecast forecast = forecast(config, tree);
    assertThat(forecast.peaks()).isEqualTo(open);
    assertThat(forecast.peaks()).contains(new Peak("host", "slots", new Use(5, 6), new Use(5, 6)));
  }

  @ParameterizedTest
  @ValueSource(strings = {"ended", "disabled"})
  void aJobThatHasEndedOrIsDisabledUsesNothing(String how) {
    boolean isDisabled = how.equals("disabled");
    Config used =
        isDisabled ? config(CONFIG.replace("a\": {", "a\": {\"enabled\": false, ")) : config;
    core.apply(used, tree, 100);
    if (!isDisabled) {
      core.gates().close(Gate.of(GateKind.JOB_FAILED, "a", ""));
    }
    PlanForecast forecast = forecast(used, tree);
    assertThat(forecast.peaks()).contains(new Peak("host", "slots", new Use(2, 6), new Use(2, 6)));
    assertThat(forecast.ends())
        .filteredOn(end -> end.job().equals("a"))
        .extracting(end -> Objects.requireNonNull(end.then()).never())
        .containsExactly(6L);
  }

  @Test
  void theEndOfAJobOfWhichNothingIsKnownIsUnknown() {
    core.apply(config, tree, 100);
    PlanForecast forecast = forecast(config(CONFIG.replace("->a", "->new")), tree);
    assertThat(forecast.ends())
        .filteredOn(end -> end.job().equals("new"))
        .satisfiesExactly(
            end -> {
              assertThat(end.now()).isNull();
              assertThat(Objects.requireNonNull(end.then()).p50Seconds()).isNegative();
            });
  }
}
