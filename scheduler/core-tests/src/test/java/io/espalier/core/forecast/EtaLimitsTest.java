package io.espalier.core.forecast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.espalier.core.api.view.JobEta;
import io.espalier.core.api.view.JobEta.Bottleneck;
import io.espalier.core.api.view.JobEta.Kind;
import io.espalier.core.config.Config;
import io.espalier.core.config.Levels;
import io.espalier.core.config.NodeOrder;
import io.espalier.core.json.Json;
import io.espalier.core.scheduling.CoreEvent;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.scheduling.SchedulingPolicy;
import io.espalier.core.scheduling.capacity.HealthLimit;
import io.espalier.core.scheduling.capacity.LimitFactor;
import io.espalier.core.scheduling.capacity.RunningCap;
import io.espalier.core.scheduling.gate.Gate;
import io.espalier.core.scheduling.gate.GateKind;
import io.espalier.core.scheduling.gate.Scope;
import io.espalier.core.topology.NodeSpec;
import io.espalier.core.topology.Topology;
import io.espalier.json.JsonReader;
import io.espalier.policies.RoundRobinPolicy;
import io.espalier.testkit.config.ConfigFixtures;
import io.espalier.testkit.scheduling.TestPolicies;
import io.espalier.testkit.scheduling.TreeFixture;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The estimated end of a job that something else than slots of nodes limits, and the simulated. */
final class EtaLimitsTest {
  private static final int HOSTS = 6;
  private static final int TASKS = 90;
  private static final long TASK_MILLIS = 30_000;
  private static final Map<String, SchedulingPolicy> POLICIES =
      Map.of("roundrobin", new RoundRobinPolicy());

  private static final String GROUPS =
      "\"groups\": {\"replset\": {\"level\": \"host\", \"by\": \"tag:rs-*\", LIMIT}}";

  private SchedulingCore core = new SchedulingCore(5);
  private List<CoreEvent> events = new ArrayList<>();

  private JobPace pace = JobPace.constant(TASK_MILLIS);

  /** How many databases the first host has. */
  private int first = 40;

  /** Six hosts in two groups of three; all but the first host have ten databases. */
  private Topology nodes(Levels levels) {
    List<NodeSpec> nodes = new ArrayList<>();
    for (int host = 0; host < HOSTS; host++) {
      Set<String> tags = Set.of("rs-" + host / 3);
      nodes.add(new NodeSpec(1, "h" + host, null, 0, true, tags, Json.Obj.EMPTY));
      for (int db = 0; db < (host == 0 ? first : 10); db++) {
        nodes.add(NodeSpec.child(2, "d" + host + "-" + db, "h" + host));
      }
    }
    return TreeFixture.of(levels, NodeOrder.ORIGINAL, nodes);
  }

  /** On each host run {@code slots} tasks at a time. */
  private static Config config(int slots, String settings, String... jobs) {
    String text =
        """
        {"bistro_settings": {"nodes": {"levels": ["host", "db"]}, SETTINGS,
           "resources": {"host": {"slots": {"default": 1, "limit": SLOTS}}}}, JOBS}
        """
            .replace("SETTINGS", settings)
            .replace("SLOTS", Integer.toString(slots))
            .replace("JOBS", String.join(", ", jobs));
    return Objects.requireNonNull(
        ConfigFixtures.parser()
            .parse(Objects.requireNonNull(JsonReader.parse(text).value()))
            .value(),
        text);
  }

  private static String job(String name, String members) {
    return "\"bistro_job->" + name + "\": {\"owner\": \"o\", \"command\": [\"x\"]" + members + "}";
  }

  private static String inQueue(String name, String queue) {
    return job(name, ", \"queue\": \"" + queue + "\"");
  }

  private void start(Config config) {
    core = new SchedulingCore(5);
    events = new ArrayList<>();
    core.recordTo(events::add);
    core.apply(config, nodes(config.settings().levels()), 1_000);
  }

  private void settleLimits() {
    while (!core.stepLimits(Integer.MAX_VALUE)) {
      // Until they are in effect.
    }
  }

  private Map<String, JobPace> paces() {
    return Map.of("a", pace, "b", pace);
  }

  private JobEta eta(WorkLeft work, int job, int units) {
    EtaScan scan = new EtaScan(work, job, paces(), pace);
    while (!scan.isDone()) {
      // What a slice may visit beyond its units: the numbers that it sets to zero.
      assertThat(scan.step(units)).isPositive().isLessThanOrEqualTo(units + 10);
    }
    EtaEstimate estimate = new EtaEstimate(work, job, pace, true, scan, 1_000);
    while (!estimate.isDone()) {
      assertThat(estimate.step(units)).isPositive().isLessThanOrEqualTo(units);
    }
    return estimate.answer();
  }

  private JobEta eta(String job) {
    return eta(new LiveWork(core), core.findJob(job), 1_000);
  }

  private Forecast simulated() {
    SchedulerSnapshot snapshot =
        new SchedulerSnapshot(1_000, events, List.of(), paces(), List.of(), Map.of());
    Forecast run =
        new Simulation(snapshot, paces(), WhatIf.NOTHING, POLICIES, Map.of(), 1)
            .run(7 * 86_400_000L);
    assertThat(run.isComplete()).isTrue();
    return run;
  }

  private double simulatedSeconds(String job) {
    return Objects.requireNonNull(simulated().jobs().get(job)).millis() / 1000.0;
  }

  private long leftInTheSimulation() {
    return Objects.requireNonNull(simulated().jobs().get("a")).left();
  }

  /** Returns the bottleneck of job a, once its end is about the one that is simulated. */
  private Bottleneck checked() {
    JobEta eta = eta("a");
    double seconds = simulatedSeconds("a");
    assertThat(eta.never()).isZero();
    assertThat(eta.p50Seconds()).isCloseTo(seconds, within(0.15 * seconds));
    return Objects.requireNonNull(eta.bottleneck());
  }

  /** What is said to be gained is what a simulation with the other configuration gains. */
  private void assertGain(double said, Config raised) {
    double before = simulatedSeconds("a");
    start(raised);
    double gained = before - simulatedSeconds("a");
    assertThat(gained).isPositive();
    assertThat(said).isCloseTo(gained, within(0.15 * before));
  }

  private static String queue(String limit) {
    return "\"queues\": {\"q\": {" + limit + "}}";
  }

  @ParameterizedTest
  @CsvSource({"'\"max_slots\": {\"slots\": 3}'", "'\"max_fraction\": {\"slots\": 0.05}'"})
  void whatAQueueMayHaveIsTheBottleneckOfItsJobs(String limit) {
    // Of 60 slots the queue has 3, for both jobs.
    start(config(10, queue(limit), inQueue("a", "q"), inQueue("b", "q")));
    Bottleneck narrow = checked();
    assertThat(narrow.kind()).isEqualTo(Kind.QUEUE);
    assertThat(narrow.name()).isEqualTo("q");
    assertThat(narrow.resource()).isEqualTo("slots");
    assertThat(narrow.limit()).isEqualTo(3);
    assertThat(narrow.level()).isEmpty();
    assertGain(
        narrow.gainSeconds(),
        config(10, queue("\"max_slots\": {\"slots\": 4}"), inQueue("a", "q"), inQueue("b", "q")));
  }

  @Test
  void aQueueDoesNotLimitTheJobsOfOthers() {
    start(
        config(
            10,
            queue("\"max_slots\": {\"slots\": 1}"),
            inQueue("a", "default"),
            inQueue("b", "q")));
    assertThat(Objects.requireNonNull(eta("a").bottleneck()).kind()).isEqualTo(Kind.RESOURCE);
    assertThat(Objects.requireNonNull(eta("b").bottleneck()).kind()).isEqualTo(Kind.QUEUE);
  }

  @Test
  void howManyTasksOfABrakedQueueRunIsABottleneck() {
    start(config(10, queue("\"weight\": 1"), inQueue("a", "q")));
    core.limits().setCap(new RunningCap("brake q", Scope.queue("q"), 2, "", "", 0));
    Bottleneck narrow = checked();
    assertThat(narrow.kind()).isEqualTo(Kind.QUEUE);
    assertThat(narrow.name()).isEqualTo("q");
    assertThat(narrow.resource()).isEmpty();
    assertThat(narrow.limit()).isEqualTo(2);
  }

  private static String rate(double perSecond) {
    return "\"start_rates\": {\"host\": {\"per_second\": " + perSecond + ", \"burst\": 1}}";
  }

  @Test
  void howOftenTasksStartBelowANodeIsABottleneck() {
    start(config(20, rate(0.1), job("a", "")));
    Bottleneck narrow = checked();
    assertThat(narrow.kind()).isEqualTo(Kind.LEVEL_START_RATE);
    assertThat(narrow.level()).isEqualTo("host");
    assertThat(narrow.node()).isEqualTo("h0");
    assertThat(narrow.limit()).isEqualTo(0.1);
    assertThat(narrow.resource()).isEmpty();
    assertThat(narrow.gainSeconds()).isEqualTo(narrow.gainOfLevelSeconds());
    assertGain(narrow.gainSeconds(), config(20, rate(1.1), job("a", "")));
  }

  @Test
  void startsOfOtherJobsCountToo() {
    start(config(20, rate(0.1), job("a", ""), job("b", "")));
    assertThat(checked().kind()).isEqualTo(Kind.LEVEL_START_RATE);
    assertThat(eta("a").p50Seconds()).as("80 starts on h0").isGreaterThan(700);
  }

  /** Of 60 tasks 20 run; they start again as often as others, if half of them does not finish. */
  @ParameterizedTest
  @CsvSource({"true, 1, 40", "true, 0.5, 100", "false, 1, 40", "false, 0.5, 100"})
  void onlyStartsThatAreStillToComeTakeTime(boolean isOfJob, double finishing, double starts) {
    String rate = "{\"per_second\": 0.5, \"burst\": 1}";
    first = 10;
    pace = new JobPace(List.of(TASK_MILLIS), finishing);
    start(
        isOfJob
            ? config(20, "\"enabled\": true", job("a", ", \"start_rate\": " + rate))
            : config(20, "\"start_rates\": {\"instance\": " + rate + "}", job("a", "")));
    int job = core.findJob("a");
    for (long now = 1_000; core.tasks().progress(job).running() < 20; now += 1_000) {
      core.advance(now, Integer.MAX_VALUE);
      while (!core.round(TestPolicies.IN_TURN, 100, run -> {})) {
        // Until nothing more may start.
      }
    }
    JobEta eta = eta("a");
    assertThat(Objects.requireNonNull(eta.bottleneck()).kind())
        .isEqualTo(isOfJob ? Kind.START_RATE : Kind.LEVEL_START_RATE);
    // After the last start comes the last task.
    assertThat(eta.p50Seconds()).isCloseTo(starts / 0.5 + 30, within(0.1));
  }

  private static String groups(int limit) {
    return GROUPS.replace("LIMIT", "\"max_concurrent\": " + limit);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 5})
  void theMembersOfAGroupFollowEachOther(int slots) {
    start(config(slots, groups(1), job("a", "")));
    Bottleneck narrow = checked();
    assertThat(narrow.kind()).isEqualTo(Kind.GROUP);
    assertThat(narrow.name()).isEqualTo("replset rs-0");
    assertThat(narrow.level()).isEqualTo("host");
    assertThat(narrow.node()).isEmpty();
    assertThat(narrow.limit()).isEqualTo(1);
    assertThat(narrow.gainSeconds()).isEqualTo(narrow.gainOfLevelSeconds());
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3})
  void moreMembersAtATimeGainWhatIsSaid(int slots) {
    first = 10;
    start(config(slots, groups(1), job("a", "")));
    Bottleneck narrow = checked();
    assertThat(narrow.gainSeconds()).as("the other group takes as long").isZero();
    assertGain(narrow.gainOfLevelSeconds(), config(slots, groups(2), job("a", "")));
    // Of three members two are busy at first, then one.
    assertThat(checked().limit()).isEqualTo(2);
  }

  @ParameterizedTest
  @CsvSource({"10, 1", "10, 5", "40, 1", "40, 5"})
  void membersAreBusyUntilTheirLastTaskEnds(int databases, int slots) {
    first = databases;
    pace = new JobPace(List.of(5_000L, 20_000L, 30_000L, 35_000L, 60_000L), 1);
    start(config(slots, groups(1), job("a", "")));
    assertThat(checked().kind()).isEqualTo(Kind.GROUP);
  }

  @Test
  void aMemberIsBusyWithTheTasksOfAllJobs() {
    start(config(2, groups(1), job("a", ""), job("b", "")));
    assertThat(checked().kind()).isEqualTo(Kind.GROUP);
    assertThat(eta("a").p50Seconds()).as("60 tasks twice, two at a time").isGreaterThan(1_700);
  }

  @Test
  void aGroupThatHasRoomForAllItsMembersLimitsNothing() {
    start(config(2, groups(3), job("a", "")));
    Bottleneck narrow = checked();
    assertThat(narrow.kind()).isEqualTo(Kind.RESOURCE);
    assertThat(narrow.node()).isEqualTo("h0");
  }

  @Test
  void nothingEndsInAGroupThatIsClosed() {
    String follows = "\"max_concurrent\": 1, \"follows\": [\"lag\"]";
    String probes =
        "\"probes\": {\"lag\": {\"level\": \"host\", \"source\": \"push\", \"bad_above\": 5,"
            + " \"good_below\": 2}}, ";
    start(config(2, probes + GROUPS.replace("LIMIT", follows), job("a", "")));
    core.limits().setHealth(new HealthLimit("host", "groups.replset", "h1", 0, "lag", 0));
    settleLimits();
    JobEta eta = eta("a");
    assertThat(eta.never()).isEqualTo(60).isEqualTo(leftInTheSimulation());
    assertThat(Objects.requireNonNull(eta.bottleneck()).name()).isEqualTo("replset rs-1");
    assertPlannedAsLive();
    core.limits().setHealth(new HealthLimit("host", "groups.replset", "h4", 0, "lag", 0));
    settleLimits();
    assertThat(eta("a").bottleneck())
        .isEqualTo(new Bottleneck(Kind.GROUP, "host", "", "", "replset rs-0", 0, -1, -1));
  }

  @Test
  void tasksBelowABrakedNodeNeverEndUnlessTheBrakeEnds() {
    start(config(2, "\"enabled\": true", job("a", "")));
    JobEta before = eta("a");
    Scope host = Scope.node("host", "h0");
    core.gates().close(new Gate(GateKind.NODE_BRAKE, host, "", "", 0, 900_000));
    assertThat(eta("a")).as("as if it ended now").isEqualTo(before);
    core.gates().close(new Gate(GateKind.NODE_BRAKE, host, "", "", 0, 0));
    JobEta eta = eta("a");
    assertThat(eta.never()).isEqualTo(40).isEqualTo(leftInTheSimulation());
    assertThat(eta.p50Seconds()).isCloseTo(150, within(22.0));
    assertPlannedAsLive();
    core.gates()
        .close(new Gate(GateKind.NODE_BRAKE, Scope.node("instance", "instance1"), "", "", 0, 0));
    JobEta none = eta("a");
    assertThat(none.never()).isEqualTo(TASKS);
    assertThat(none.bottleneck())
        .isEqualTo(new Bottleneck(Kind.BRAKE, "instance", "instance1", "", "", 0, -1, -1));
  }

  @Test
  void tasksBelowANodeThatAnOperatorHasQuarantinedNeverEnd() {
    start(config(2, "\"enabled\": true", job("a", "") + ", " + job("b", "")));
    JobEta before = eta("a");
    Scope host = Scope.jobOnNode("a", "host", "h0");
    core.gates().close(new Gate(GateKind.JOB_QUARANTINE, host, "", "", 0, 900_000));
    assertThat(eta("a")).as("a trial may lift it").isEqualTo(before);
    core.gates().close(new Gate(GateKind.JOB_QUARANTINE, host, "ann", "", 0, 0));
    assertThat(eta("a").never()).isEqualTo(40);
    assertThat(eta("b").never()).as("it is open to this job").isZero();
    assertThat(leftInTheSimulation()).isEqualTo(40);
    assertPlannedAsLive();
    Scope all = Scope.node("instance", "instance1");
    core.gates().close(new Gate(GateKind.NODE_QUARANTINE, all, "ann", "", 0, 0));
    assertThat(eta("a").never()).isEqualTo(TASKS);
    assertThat(eta("b").bottleneck())
        .isEqualTo(
            new Bottleneck(Kind.BRAKE, "instance", "instance1", "", "quarantine", 0, -1, -1));
  }

  @Test
  void aBrakeThatLeavesAShareNarrowsItsNode() {
    start(config(4, "\"enabled\": true", job("a", "")));
    core.limits()
        .setFactor(
            new LimitFactor("brake", Scope.node("host", "h0"), Set.of(), 500_000, "", "", 0, 0));
    settleLimits();
    Bottleneck narrow = checked();
    assertThat(narrow.node()).isEqualTo("h0");
    assertThat(narrow.limit()).isEqualTo(2);
  }

  @Test
  void tasksThatNeverEndAreNoWorkForWhatIsAboveThem() {
    start(config(10, queue("\"max_slots\": {\"slots\": 1}"), inQueue("a", "q")));
    core.gates().close(new Gate(GateKind.NODE_BRAKE, Scope.node("host", "h0"), "", "", 0, 0));
    JobEta eta = eta("a");
    assertThat(eta.never()).isEqualTo(40);
    double seconds = simulatedSeconds("a");
    assertThat(eta.p50Seconds()).isCloseTo(seconds, within(0.15 * seconds));
  }

  private static Config all() {
    return config(
        2,
        queue("\"max_slots\": {\"slots\": 3}") + ", " + rate(0.1) + ", " + groups(1),
        inQueue("a", "q"),
        inQueue("b", "q"));
  }

  private void assertPlannedAsLive() {
    WorkCopy copy = new WorkCopy(core);
    while (!copy.step(1)) {
      // In the smallest slices.
    }
    PlannedWork planned = PlannedWork.now(copy);
    int job = Objects.requireNonNull(planned.withTasks().get("a"));
    assertThat(eta(planned, job, 1_000)).isEqualTo(eta("a"));
  }

  @Test
  void aPlanSeesTheSameLimits() {
    start(all());
    assertThat(eta("a").bottleneck()).isNotNull();
    assertPlannedAsLive();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 7, 50})
  void noSliceVisitsMoreThanItMay(int units) {
    start(all());
    JobEta eta = eta(new LiveWork(core), core.findJob("a"), units);
    assertThat(eta).isEqualTo(eta("a"));
  }
}
