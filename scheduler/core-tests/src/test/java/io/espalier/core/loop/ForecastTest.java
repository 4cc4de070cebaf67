package io.espalier.core.loop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.espalier.core.api.Command;
import io.espalier.core.api.Query;
import io.espalier.core.api.view.JobEta;
import io.espalier.core.api.view.JobEta.Bottleneck;
import io.espalier.core.api.view.JobEta.Kind;
import io.espalier.core.api.view.JobProgress;
import io.espalier.core.forecast.Forecast;
import io.espalier.core.forecast.JobPace;
import io.espalier.core.forecast.SchedulerSnapshot;
import io.espalier.core.forecast.Simulation;
import io.espalier.core.forecast.WhatIf;
import io.espalier.core.scheduling.Replay;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.scheduling.SchedulingPolicy;
import io.espalier.core.status.TaskKey;
import io.espalier.core.status.store.Brake;
import io.espalier.core.status.store.LimitOverride;
import io.espalier.policies.LongTailPolicy;
import io.espalier.policies.RankedPriorityPolicy;
import io.espalier.policies.RoundRobinPolicy;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Forecasts against what the scheduler then does: its loop with the production core, whose tasks
 * take time that the forecast does not know.
 */
class ForecastTest {
  private static final Map<String, SchedulingPolicy> POLICIES =
      Map.of(
          "roundrobin", new RoundRobinPolicy(),
          "ranked_priority", new RankedPriorityPolicy(),
          "long_tail", new LongTailPolicy());
  private static final int RUNS = 9;

  /** When {@link LoopWorld} begins. */
  private static final long BEGAN = 1_000_000;

  private LoopWorld world = new LoopWorld();

  /** How many of ten tasks take five times as long. */
  private int tail;

  private final TreeMap<Long, List<TaskKey>> ends = new TreeMap<>();
  private final Set<TaskKey> known = new HashSet<>();
  private final Map<String, Long> lastEnds = new HashMap<>();

  /** One host with many databases and many hosts with few: the first one takes longest. */
  private static String skewed(String policy, String jobs) {
    StringBuilder hosts = new StringBuilder();
    for (int host = 0; host < 20; host++) {
      hosts.append(host == 0 ? "" : ", ").append("\"h").append(host).append("\": [");
      for (int db = 0; db < (host == 0 ? 120 : 10); db++) {
        hosts.append(db == 0 ? "" : ", ").append("\"d").append(host).append('-').append(db);
        hosts.append('"');
      }
      hosts.append(']');
    }
    return """
    {"bistro_settings": {
       "nodes": {"levels": ["host", "db"], "node_order": "original", "node_sources": [
         {"source": "manual", "prefs": {HOSTS}}]},
       "resources": {"host": {"slots": {"default": 1, "limit": 2}}}, "scheduler": "POLICY"},
     JOBS}
    """
        .replace("HOSTS", hosts)
        .replace("POLICY", policy)
        .replace("JOBS", jobs);
  }

  private static final String ONE = "\"bistro_job->a\": {\"owner\": \"o\"}";
  private static final String TWO =
      ONE + ", \"bistro_job->b\": {\"owner\": \"o\", \"priority\": 5}";

  /** Lets time pass until this part of the tasks of a job is done. */
  private void liveUntil(String job, double part, SplittableRandom random) {
    world.settle();
    while (true) {
      for (TaskKey task : world.running.keySet()) {
        if (known.add(task)) {
          long millis = 1 + random.nextInt(2_000) * (random.nextInt(10) < tail ? 5L : 1L);
          ends.computeIfAbsent(world.now + millis, at -> new ArrayList<>()).add(task);
        }
      }
      JobProgress progress = Objects.requireNonNull(world.loop.progress().get(job));
      if (progress.done() >= part * progress.total() || ends.isEmpty()) {
        return;
      }
      Map.Entry<Long, List<TaskKey>> next = ends.pollFirstEntry();
      world.now = next.getKey();
      for (TaskKey task : next.getValue()) {
        world.writes(task.job(), task.node(), "done");
        lastEnds.put(task.job(), world.now);
      }
      world.settle();
    }
  }

  private SchedulerSnapshot snapshot() {
    CompletableFuture<SchedulerSnapshot> answer = new CompletableFuture<>();
    world.post(new LoopInput.TakeSnapshot(Long.MAX_VALUE, answer));
    world.settle();
    return answer.join();
  }

  private static List<Forecast> forecasts(SchedulerSnapshot from, WhatIf change) {
    List<Forecast> all = new ArrayList<>();
    for (int seed = 1; seed <= RUNS; seed++) {
      all.add(new Simulation(from, from.paces(), change, POLICIES, Map.of(), seed).run(86_400_000));
    }
    return all;
  }

  private static double median(List<Forecast> runs, String job) {
    long[] ends =
        runs.stream()
            .mapToLong(run -> Objects.requireNonNull(run.jobs().get(job)).millis())
            .sorted()
            .toArray();
    return ends[ends.length / 2];
  }

  @ParameterizedTest
  @CsvSource({"roundrobin, 1", "roundrobin, 2", "ranked_priority, 3", "long_tail, 4"})
  void whatIsForecastComesToPass(String policy, long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    world.configure(skewed(policy, TWO));
    liveUntil("a", 0.3, random);
    SchedulerSnapshot from = snapshot();
    List<Forecast> runs = forecasts(from, WhatIf.NOTHING);
    Map<String, JobEta> etas = new TreeMap<>();
    Map<String, Double> byRate = new TreeMap<>();
    for (String job : List.of("a", "b")) {
      etas.put(job, answered(new Query.Eta(job, 0)));
      byRate.put(job, byRate(job));
    }
    liveUntil("a", 1, random);
    liveUntil("b", 1, random);
    for (String job : List.of("a", "b")) {
      double left = Objects.requireNonNull(lastEnds.get(job)) - from.atMillis();
      double eta = Objects.requireNonNull(etas.get(job)).p50Seconds() * 1000;
      assertThat(left).isPositive();
      assertThat(median(runs, job)).isCloseTo(left, within(0.1 * left));
      assertThat(eta).isCloseTo(left, within(0.15 * left));
      double rate = Objects.requireNonNull(byRate.get(job));
      assertThat(Math.abs(rate - left)).as("extrapolating the rate").isGreaterThan(0.5 * left);
    }
  }

  @Test
  void theEstimateKnowsTheNarrowestHost() {
    world.configure(skewed("roundrobin", ONE));
    SplittableRandom random = new SplittableRandom(7);
    liveUntil("a", 0.3, random);
    JobEta eta = answered(new Query.Eta("a", 0));
    long at = world.now;
    double byRate = byRate("a") / 1000;
    liveUntil("a", 1, random);
    double left = (Objects.requireNonNull(lastEnds.get("a")) - at) / 1000.0;
    assertThat(eta.p50Seconds()).isCloseTo(left, within(0.15 * left));
    assertThat(Math.abs(byRate - left)).as("extrapolating the rate").isGreaterThan(0.5 * left);
    JobEta.Bottleneck narrow = Objects.requireNonNull(eta.bottleneck());
    assertThat(narrow.node()).isEqualTo("h0");
    assertThat(narrow.resource()).isEqualTo("slots");
    assertThat(narrow.limit()).isEqualTo(2);
    assertThat(narrow.gainSeconds()).isCloseTo(left / 3, within(0.15 * left));
  }

  @ParameterizedTest
  @CsvSource({"0, 0.05", "1, 0.2"})
  void theEstimateIsRightOnAverage(int longTasksOfTen, double error) {
    tail = longTasksOfTen;
    double sum = 0;
    int lives = 12;
    for (long seed = 1; seed <= lives; seed++) {
      world = new LoopWorld();
      ends.clear();
      known.clear();
      world.configure(skewed("roundrobin", ONE));
      SplittableRandom random = new SplittableRandom(seed);
      liveUntil("a", 0.3, random);
      double eta = answered(new Query.Eta("a", 0)).p50Seconds() * 1000;
      long at = world.now;
      liveUntil("a", 1, random);
      sum += eta / (Objects.requireNonNull(lastEnds.get("a")) - at);
    }
    assertThat(sum / lives).isCloseTo(1, within(error));
  }

  @Test
  void aSnapshotBringsANewCoreIntoTheSameState() {
    world.configure(skewed("roundrobin", TWO));
    liveUntil("a", 0.2, new SplittableRandom(3));
    world.done(new Command.Pause("b", 0, "o", "r"));
    SchedulerSnapshot from = snapshot();
    SchedulingCore core = new SchedulingCore(1);
    new Replay(core, POLICIES, from.events().iterator()).run();
    core.verify();
    for (String job : List.of("a", "b")) {
      JobProgress copy = core.tasks().progress(core.findJob(job));
      JobProgress real = Objects.requireNonNull(world.loop.progress().get(job));
      assertThat(copy.done()).isEqualTo(real.done());
      assertThat(copy.running()).isEqualTo(real.running());
      assertThat(copy.left()).isEqualTo(real.left());
    }
    assertThat(core.tasks().mayStart(core.findJob("b"))).isFalse();
    assertThat(from.startedMillis()).hasSize(core.running().count());
    assertThat(from.paces().keySet()).containsExactlyInAnyOrder("a", "b");
  }

  @Test
  void aChangeIsForecast() {
    world.configure(skewed("roundrobin", ONE));
    liveUntil("a", 0.1, new SplittableRandom(5));
    SchedulerSnapshot from = snapshot();
    double now = median(forecasts(from, WhatIf.NOTHING), "a");
    LimitOverride four = new LimitOverride("host", "slots", "h0", 4, "", "", 0, 0);
    WhatIf more = new WhatIf(List.of(four), List.of(), Set.of(), 0, Map.of());
    assertThat(median(forecasts(from, more), "a")).isCloseTo(now / 2, within(0.15 * now));
    Brake none = Brake.of(new Brake.Key(Brake.Target.NODE, "host", "h0"), 0).build();
    Forecast stopped =
        forecasts(from, new WhatIf(List.of(), List.of(none), Set.of(), 0, Map.of())).get(0);
    assertThat(stopped.isComplete()).isTrue();
    assertThat(Objects.requireNonNull(stopped.jobs().get("a")).left()).isBetween(90L, 118L);
  }

  /** On h0 two tasks of 30 s run at a time, so that its 120 take 30 min. */
  private static long millis(SchedulerSnapshot from, WhatIf change) {
    Map<String, JobPace> paces = Map.of("a", JobPace.constant(30_000));
    Forecast run = new Simulation(from, paces, change, POLICIES, Map.of(), 1).run(7 * 86_400_000L);
    assertThat(run.isComplete()).isTrue();
    return Objects.requireNonNull(run.jobs().get("a")).left() == 0 ? run.millis() : -1;
  }

  private static Brake brake(Brake.Key key, int millionths, Brake.@Nullable Ramp ramp) {
    return Brake.of(key, millionths).ramp(ramp).build();
  }

  @ParameterizedTest
  @CsvSource({"ALL,,", "NODE, host, h0", "JOB,, a"})
  void brakesEndAndRampUpInTheForecast(
      Brake.Target target, @Nullable String level, @Nullable String name) {
    world.configure(skewed("roundrobin", ONE));
    long minute = 60_000;
    Brake.Key key = new Brake.Key(target, level == null ? "" : level, name == null ? "" : name);
    Brake stop = brake(key, 0, new Brake.Ramp(500_000, 20 * minute));
    world.done(new Command.SetBrake(stop, 60 * minute));
    SchedulerSnapshot from = snapshot();
    assertThat(from.brakes()).hasSize(1);
    // Two tasks of h0 run already; nothing starts for 60 min. Then one task runs at a time for
    // 20 min, and two at a time the other 78; the job may run half of its 40 tasks anywhere.
    long half = minute / 2;
    assertThat(millis(from, WhatIf.NOTHING))
        .isBetween((target == Brake.Target.JOB ? 179 : 199) * half, 199 * half);
  }

  @Test
  void aBrakeThatIsTriedReplacesTheOneInForce() {
    world.configure(skewed("roundrobin", ONE));
    Brake.Key host = new Brake.Key(Brake.Target.NODE, "host", "h0");
    world.done(new Command.SetBrake(brake(host, 0, null), 0));
    SchedulerSnapshot from = snapshot();
    assertThat(millis(from, WhatIf.NOTHING)).as("it never ends").isEqualTo(-1);
    WhatIf half = new WhatIf(List.of(), List.of(brake(host, 500_000, null)), Set.of(), 0, Map.of());
    // Two of its 120 tasks run already.
    assertThat(millis(from, half)).isEqualTo(119 * 30_000);
  }

  @Test
  void aPausedJobStartsNothingUntilItResumesOrIsResumedInTheForecast() {
    world.configure(skewed("roundrobin", ONE));
    world.done(new Command.Pause("a", 0, "ann", "r"));
    // Two tasks run already on each of the 20 hosts; on h0 118 are left.
    Map<String, JobPace> paces = Map.of("a", JobPace.constant(30_000));
    SchedulerSnapshot forever = snapshot();
    assertThat(forever.pauses()).containsExactly(Map.entry("a", 0L));
    Forecast run =
        new Simulation(forever, paces, WhatIf.NOTHING, POLICIES, Map.of(), 1).run(86_400_000);
    assertThat(run.isComplete()).isTrue();
    assertThat(run.starts()).isZero();
    assertThat(run.jobs().get("a")).isEqualTo(new Forecast.JobEnd(30_000, 270, 0, 0));
    WhatIf resumed = new WhatIf(List.of(), List.of(), Set.of("a"), 0, Map.of());
    assertThat(millis(forever, resumed)).isEqualTo(60 * 30_000);

    long hour = 3_600_000;
    world.done(new Command.Pause("a", hour, "ann", "r"));
    SchedulerSnapshot timed = snapshot();
    assertThat(timed.pauses()).containsExactly(Map.entry("a", world.now + hour));
    assertThat(millis(timed, WhatIf.NOTHING)).isEqualTo(hour + 59 * 30_000);
    assertThat(millis(timed, resumed)).isEqualTo(60 * 30_000);
  }

  /** A change that replaces the jobs by those of another configuration. */
  private WhatIf jobs(String policy, String text) {
    return new WhatIf(
        List.of(), List.of(), Set.of(), 0, new PlugIns().config(skewed(policy, text)).jobs());
  }

  private WhatIf ofA(String parameter) {
    return jobs("roundrobin", "\"bistro_job->a\": {\"owner\": \"o\", " + parameter + "}");
  }

  @Test
  void aJobWithOtherParametersIsForecast() {
    world.configure(skewed("roundrobin", ONE));
    SchedulerSnapshot from = snapshot();
    // Two tasks run already on each of the 20 hosts; 270 are left, 118 of them on h0.
    assertThat(millis(from, WhatIf.NOTHING)).isEqualTo(60 * 30_000);
    assertThat(millis(from, ofA("\"max_concurrent\": 1"))).isEqualTo(271 * 30_000);
    assertThat(millis(from, ofA("\"resources\": {\"slots\": 2}"))).isEqualTo(119 * 30_000);
    assertThat(millis(from, ofA("\"resources\": {\"slots\": 0}"))).isEqualTo(30_000);
    assertThat(millis(from, ofA("\"enabled\": false"))).as("it never ends").isEqualTo(-1);
  }

  @Test
  void aJobThatIsEnabledInTheForecastRunsThere() {
    world.configure(skewed("roundrobin", "\"bistro_job->a\": {\"enabled\": false}"));
    SchedulerSnapshot from = snapshot();
    assertThat(millis(from, WhatIf.NOTHING)).as("it never starts").isEqualTo(-1);
    assertThat(millis(from, ofA("\"enabled\": true"))).isEqualTo(60 * 30_000);
  }

  @Test
  void anotherPriorityChangesWhichJobEndsFirst() {
    world.configure(skewed("ranked_priority", TWO));
    SchedulerSnapshot from = snapshot();
    // On h0 two of the 120 tasks of b run already, and two tasks run at a time.
    Forecast now = ranked(from, WhatIf.NOTHING);
    assertThat(endMillis(now, "b")).isEqualTo(60 * 30_000);
    assertThat(endMillis(now, "a")).isEqualTo(120 * 30_000);
    String first = "\"bistro_job->a\": {\"owner\": \"o\", \"priority\": 9}";
    Forecast then = ranked(from, jobs("ranked_priority", TWO.replace(ONE, first)));
    assertThat(endMillis(then, "a")).isEqualTo(61 * 30_000);
    assertThat(endMillis(then, "b")).isEqualTo(120 * 30_000);
  }

  private static Forecast ranked(SchedulerSnapshot from, WhatIf change) {
    JobPace pace = JobPace.constant(30_000);
    return new Simulation(from, Map.of("a", pace, "b", pace), change, POLICIES, Map.of(), 1)
        .run(86_400_000);
  }

  private static long endMillis(Forecast run, String job) {
    return Objects.requireNonNull(run.jobs().get(job)).millis();
  }

  @Test
  void windowsOpenAndCloseInTheForecast() {
    // The world begins 16 min 40 s after midnight in UTC; h0 takes 30 min.
    world.configure(
        skewed(
            "roundrobin",
            "\"bistro_job->a\": {\"owner\": \"o\", \"windows\": [\"01:00-01:10 UTC\"]}"));
    SchedulerSnapshot from = snapshot();
    Forecast run =
        new Simulation(
                from, Map.of("a", JobPace.constant(30_000)), WhatIf.NOTHING, POLICIES, Map.of(), 1)
            .run(7 * 86_400_000L);
    assertThat(run.isComplete()).isTrue();
    // Twenty pairs of tasks in each window of ten minutes: the last one on the third day.
    long third = 2 * 86_400_000L + 3_600_000 + 600_000 - 1_000_000;
    assertThat(run.millis()).isEqualTo(third);
    assertThat(windowsMissed(run)).as("the last task ends as the third one closes").isEqualTo(2);
    assertThat(answered(new Query.Eta("a", 30_000)).never()).isZero();
  }

  @Test
  void windowsOfNodesOpenAndCloseInTheForecast() {
    world.configure(
        skewed("roundrobin", ONE)
            .replace(
                "\"resources\"",
                "\"node_windows\": [{\"level\": \"host\", \"windows\": [\"01:00-01:10 UTC\"]}],"
                    + " \"resources\""));
    assertThat(world.running).as("closed").isEmpty();
    Forecast run = forecast(snapshot(), 30_000);
    assertThat(run.isComplete()).isTrue();
    // As with windows of the job.
    assertThat(run.millis()).isEqualTo(2 * 86_400_000L + 3_600_000 + 600_000 - BEGAN);
    assertThat(run.starts()).isEqualTo(310);
    assertThat(windowsMissed(run)).as("those of nodes do not count").isZero();
  }

  @Test
  void windowsAreMissedWhileTasksAreLeft() {
    String job = "\"bistro_job->a\": {\"owner\": \"o\", \"overrun\": \"OVERRUN\", ";
    String config = skewed("roundrobin", job + "\"windows\": [\"01:00-01:10 UTC\"]}");
    // As in the next test: sixty pairs of tasks, of which two fit into a window and three start.
    world.configure(config.replace("OVERRUN", "avoid"));
    Forecast fitting = forecast(snapshot(), 240_000);
    assertThat(windowsMissed(fitting)).isEqualTo(29);
    world.configure(config.replace("OVERRUN", "allow"));
    assertThat(windowsMissed(forecast(snapshot(), 240_000)))
        .as("tasks of the last one still run when it closes")
        .isEqualTo(20);
    world.configure(config.replace("OVERRUN", "avoid"));
    Forecast tooLong = forecast(snapshot(), 660_000);
    assertThat(tooLong.isComplete()).isTrue();
    assertThat(tooLong.starts()).isZero();
    assertThat(windowsMissed(tooLong)).as("no task could start in any").isZero();
  }

  private static long windowsMissed(Forecast run) {
    return Objects.requireNonNull(run.jobs().get("a")).windowsMissed();
  }

  @Test
  void noTaskIsForecastThatWouldOutlastItsWindow() {
    String windows = "\"windows\": [\"01:00-01:10 UTC\"]";
    String job = "\"bistro_job->a\": {\"owner\": \"o\", \"overrun\": \"OVERRUN\"";
    String ofJob = skewed("roundrobin", job + ", " + windows + "}");
    String ofNodes =
        skewed("roundrobin", job + "}")
            .replace(
                "\"resources\"",
                "\"node_windows\": [{\"level\": \"host\", " + windows + "}], \"resources\"");
    for (String config : List.of(ofJob, ofNodes)) {
      world.configure(config.replace("OVERRUN", "avoid"));
      // Two pairs of tasks fit into a window, of sixty.
      long last = 29 * 86_400_000L + 3_600_000 - BEGAN;
      assertThat(forecast(snapshot(), 240_000).millis()).isEqualTo(last + 480_000);
      world.configure(config.replace("OVERRUN", "allow"));
      // Three pairs start in each.
      assertThat(forecast(snapshot(), 240_000).millis())
          .isEqualTo(19 * 86_400_000L + 3_600_000 - BEGAN + 720_000);
    }
  }

  private static Forecast forecast(SchedulerSnapshot from, long millis) {
    return new Simulation(
            from, Map.of("a", JobPace.constant(millis)), WhatIf.NOTHING, POLICIES, Map.of(), 1)
        .run(60 * 86_400_000L);
  }

  @Test
  void theHotNodeAndTheUseAreShown() {
    world.configure(skewed("roundrobin", ONE));
    liveUntil("a", 0.1, new SplittableRandom(5));
    Forecast run = forecasts(snapshot(), WhatIf.NOTHING).get(0);
    assertThat(run.hot().get(0).node()).isEqualTo("h0");
    assertThat(run.hot().get(0).part()).isGreaterThan(0.95);
    assertThat(run.use().size()).isBetween(30, 120);
    assertThat(run.use().get(0).parts().get(0)).isEqualTo(1);
    Forecast.Sample last = run.use().get(run.use().size() - 1);
    assertThat(last.parts().get(0)).isLessThan(0.1);
    assertThat(last.millis()).isEqualTo(run.millis());
    assertThat(last.left()).isZero();
    assertThat(last.running()).isZero();
    for (int i = 1; i < run.use().size(); i++) {
      Forecast.Sample sample = run.use().get(i);
      assertThat(sample.left()).isLessThanOrEqualTo(run.use().get(i - 1).left());
      assertThat(sample.running()).isLessThanOrEqualTo(sample.left());
    }
    assertThat(run.use().get(0).left()).isGreaterThan(200);
    assertThat(run.use().get(0).running()).isGreaterThan(1);
  }

  @Test
  void aHorizonEndsTheForecast() {
    world.configure(skewed("roundrobin", ONE));
    liveUntil("a", 0.1, new SplittableRandom(5));
    SchedulerSnapshot from = snapshot();
    Forecast run =
        new Simulation(from, from.paces(), WhatIf.NOTHING, POLICIES, Map.of(), 1).run(5_000);
    assertThat(run.isComplete()).isFalse();
    assertThat(run.millis()).isEqualTo(5_000);
  }

  @Test
  void withoutHistoryNothingIsInvented() {
    world.configure(skewed("roundrobin", ONE));
    SchedulerSnapshot from = snapshot();
    assertThatThrownBy(() -> new Simulation(from, Map.of(), WhatIf.NOTHING, POLICIES, Map.of(), 1))
        .isInstanceOf(Simulation.NoDurationsException.class)
        .hasMessage("a");
    assertThat(answered(new Query.Eta("a", 0)).p50Seconds()).isEqualTo(-1);
    JobEta assumed = answered(new Query.Eta("a", 30_000));
    assertThat(assumed.p50Seconds()).isBetween(1_700.0, 1_850.0);
    Forecast run =
        new Simulation(
                from, Map.of("a", JobPace.constant(30_000)), WhatIf.NOTHING, POLICIES, Map.of(), 1)
            .run(86_400_000);
    assertThat(run.millis()).isEqualTo(1_800_000);
    assertThat(assumed.never()).isZero();
  }

  @Test
  void tasksThatNeverEndAreCounted() {
    world.configure(skewed("roundrobin", ONE));
    limit("host", "slots", "h0", 0);
    JobEta eta = answered(new Query.Eta("a", 30_000));
    assertThat(eta.never()).isBetween(119L, 120L);
  }

  @Test
  void whenNoTaskMayStartTheLimitThatClosesMostOfThemIsTheBottleneck() {
    world.configure(
        idle(skewed("roundrobin", ONE).replace("\"owner\"", "\"max_concurrent\": 5, \"owner\"")));
    for (int host = 0; host < 20; host++) {
      limit("host", "slots", "h" + host, 0);
    }
    JobEta eta = answered(new Query.Eta("a", 30_000));
    assertThat(eta.never()).isEqualTo(eta.left()).isEqualTo(310);
    assertThat(eta.bottleneck())
        .isEqualTo(new Bottleneck(Kind.RESOURCE, "host", "h0", "slots", "", 0, -1, -1));
  }

  @Test
  void aPlaceBelowAClosedNodeIsNoBottleneck() {
    String conns = ", \"db\": {\"conns\": {\"default\": 1, \"limit\": 1}}}, \"scheduler\"";
    world.configure(idle(skewed("roundrobin", ONE)).replace("}, \"scheduler\"", conns));
    for (int host = 1; host < 20; host++) {
      limit("host", "slots", "h" + host, 1_000);
      for (int db = 0; db < 10; db++) {
        limit("db", "conns", "d" + host + "-" + db, 10);
      }
    }
    limit("host", "slots", "h0", 0);
    assertThat(answered(new Query.Eta("a", 30_000)).bottleneck())
        .as("slower is only what is below h0")
        .matches(place -> place != null && place.level().equals("db") && place.limit() == 10);
  }

  /** The same, but nothing starts. */
  private static String idle(String config) {
    return config.replace("{\"bistro_settings\": {", "{\"bistro_settings\": {\"enabled\": false,");
  }

  private void limit(String level, String resource, String node, int limit) {
    world.done(
        new Command.SetLimit(new LimitOverride(level, resource, node, limit, "o", "r", 0, 0), 0));
  }

  /** Returns the milliseconds left at the rate since the start. */
  private double byRate(String job) {
    JobProgress progress = Objects.requireNonNull(world.loop.progress().get(job));
    return (double) (world.now - BEGAN) * progress.left() / Math.max(1, progress.done());
  }

  private <T> T answered(Query<T> query) {
    CompletableFuture<T> answer = world.ask(query).toCompletableFuture();
    world.settle();
    return answer.join();
  }
}
