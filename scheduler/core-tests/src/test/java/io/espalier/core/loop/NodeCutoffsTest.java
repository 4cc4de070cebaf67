package io.espalier.core.loop;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.api.view.Explanation;
import io.espalier.core.config.Job;
import io.espalier.core.scheduling.gate.Gate;
import io.espalier.core.scheduling.gate.GateKind;
import io.espalier.core.scheduling.query.WaitReasonScan;
import io.espalier.core.scheduling.window.NodeWindowGates;
import io.espalier.core.status.TaskKey;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Tasks that would not end within the window of a node (docs/adr/0070-windows.md). */
class NodeCutoffsTest {
  private static final String NIGHT =
      "{\"level\": \"host\", \"tag\": \"night\", \"windows\": [%s]}";

  private final LoopWorld world = new LoopWorld();

  /** Two jobs with a task for each database: on a host with a window, and on one without. */
  private static String config(String windows, String job) {
    return """
    {"bistro_settings": {"nodes": {"levels": ["host", "db"], "node_order": "original",
       "node_sources": [{"source": "manual", "prefs":
         {"night": {"children": ["n1", "n2"], "tags": ["night"]}, "plain": ["p1", "p2"]}}]},
       "node_windows": [%s],
       "resources": {"db": {"slots": {"default": 1, "limit": 1}}}},
     "bistro_job->j": {"owner": "o", "backoff": [1, "repeat"], "command": ["x"]%s},
     "bistro_job->short": {"owner": "o", "resources": {"slots": 0}, "command": ["x"],
       "backoff": [1, "repeat"], "assume": "1m"}}
    """
        .formatted(NIGHT.formatted(windows), job);
  }

  private static final String EVENING = config("\"20:00-22:00 UTC\"", ", \"assume\": \"30m\"");

  private List<String> running(String job) {
    return world.running.keySet().stream()
        .filter(task -> task.job().equals(job))
        .map(TaskKey::node)
        .sorted()
        .toList();
  }

  /** Ends what runs of a job, and lets what may start again. */
  private void again(String job) {
    running(job).forEach(node -> world.writes(job, node, "incomplete"));
    world.advance(2_000);
  }

  private List<String> reasons(String job, String node) {
    return world.core.tasks().explain(job, node).reasons().stream()
        .filter(reason -> reason.kind() == Explanation.Kind.WINDOW)
        .map(Explanation.Reason::message)
        .toList();
  }

  private List<String> waiting(String job) {
    WaitReasonScan scan = world.core.tasks().waiting(world.core.findJob(job));
    while (!scan.isDone()) {
      scan.step(1_000);
    }
    return scan.reasons(10, 1).reasons().stream()
        .map(group -> group.count() + " " + group.kind() + ": " + group.message())
        .toList();
  }

  private String problem() {
    world.advance(200);
    return Objects.requireNonNull(world.view).errors().getOrDefault("windows", "");
  }

  @Test
  void nothingStartsThatWouldStillRunWhenTheWindowOfItsNodeCloses() {
    world.at("2026-11-23T21:29:58Z");
    world.configure(EVENING);
    assertThat(running("j")).containsExactly("n1", "n2", "p1", "p2");
    world.until("2026-11-23T21:30:00Z");
    assertThat(reasons("j", "n1")).as("a task of half an hour just fits").isEmpty();
    world.until("2026-11-23T21:30:00.001Z");
    again("j");
    assertThat(running("j")).containsExactly("p1", "p2");
    assertThat(running("short")).containsExactly("n1", "n2", "p1", "p2");
    world.until("2026-11-23T21:32:00Z");
    assertThat(reasons("j", "n1"))
        .containsExactly(
            "window of host night closes Mon 22:00 UTC, and a task takes up to 30 min; the next"
                + " opens Tue 20:00 UTC (in 22 h 28 min)");
    assertThat(reasons("short", "n1")).isEmpty();
    assertThat(waiting("j"))
        .containsExactly("2 window: the window of a node on their path closes too soon");
    assertThat(world.core.gates().of(GateKind.WINDOW_CUTOFF))
        .singleElement()
        .satisfies(gate -> assertThat(gate.untilMillis()).isPositive());
    assertThat(world.loop.isQuiet()).isFalse();
    world.until("2026-11-23T22:00:00Z");
    assertThat(world.core.gates().of(GateKind.WINDOW_CUTOFF)).as("the node is closed").isEmpty();
    assertThat(reasons("j", "n1"))
        .containsExactly("window of host night opens Tue 20:00 UTC (in 22 h 0 min)");
    world.until("2026-11-24T20:00:00Z");
    assertThat(running("j")).containsExactly("n1", "n2", "p1", "p2");
    world.core.verify();
  }

  /** What docs/windows.md advises for shards of very different sizes. */
  @Test
  void aJobForEachSizeOfShardsStartsTheSmallOnesForLonger() {
    world.at("2026-11-23T21:00:00Z");
    String large = ", \"assume\": \"90m\", \"filters\": {\"db\": {\"tag_whitelist\": [\"large\"]}}";
    world.configure(
        EVENING
            .replace(", \"assume\": \"30m\"", large)
            .replace("\"1m\"", "\"10m\", \"filters\": {\"db\": {\"tag_whitelist\": [\"small\"]}}")
            .replace(
                "\"plain\": [\"p1\", \"p2\"]",
                "\"n1\": {\"tags\": [\"small\"]}, \"n2\": {\"tags\": [\"large\"]},"
                    + " \"plain\": [\"p1\"], \"p1\": {\"tags\": [\"large\"]}"));
    assertThat(running("j")).as("the large ones").containsExactly("p1");
    assertThat(running("short")).as("the small ones").containsExactly("n1");
    world.until("2026-11-23T21:49:00Z");
    again("short");
    assertThat(running("short")).containsExactly("n1");
    world.until("2026-11-23T21:51:00Z");
    again("short");
    assertThat(running("short")).isEmpty();
    world.until("2026-11-24T20:00:00Z");
    assertThat(running("j")).containsExactly("n2", "p1");
  }

  @Test
  void tasksThatMayOverrunStartToTheEnd() {
    world.at("2026-11-23T21:50:00Z");
    world.configure(EVENING.replace("\"assume\": \"30m\"", "\"overrun\": \"allow\""));
    assertThat(running("j")).containsExactly("n1", "n2", "p1", "p2");
    world.until("2026-11-23T21:59:55Z");
    again("j");
    assertThat(running("j")).containsExactly("n1", "n2", "p1", "p2");
    world.until("2026-11-23T22:00:00Z");
    again("j");
    assertThat(running("j")).containsExactly("p1", "p2");
  }

  @Test
  void anotherConfigurationAndOtherNodesCountAtOnce() {
    world.at("2026-11-23T21:40:00Z");
    world.configure(EVENING);
    assertThat(running("j")).containsExactly("p1", "p2");
    world.configure(EVENING.replace("30m", "20m"));
    assertThat(running("j")).containsExactly("n1", "n2", "p1", "p2");
    again("short");
    world.configure(EVENING.replace("\"1m\"", "\"1h\""));
    again("short");
    assertThat(running("short")).containsExactly("p1", "p2");
    assertThat(world.core.gates().of(GateKind.WINDOW_CUTOFF)).hasSize(2);
    world.configure(EVENING.replace("\"tags\"", "\"disabled\": false, \"tags\""));
    assertThat(world.core.gates().of(GateKind.WINDOW_CUTOFF)).hasSize(1);
    world.configure(EVENING.replace("bistro_job->j\"", "bistro_job->k\""));
    assertThat(world.core.gates().of(GateKind.WINDOW_CUTOFF))
        .extracting(gate -> gate.scope().job())
        .as("of a job that is gone, none is left")
        .containsExactly("k");
    world.configure(EVENING.replace("\"tag\": \"night\"", "\"tag\": \"day\""));
    assertThat(world.core.gates().of(GateKind.WINDOW_CUTOFF)).isEmpty();
    assertThat(running("j")).containsExactly("n1", "n2", "p1", "p2");
    world.core.verify();
  }

  @Test
  void afterARestartNothingStartsBeforeItIsCutOff() {
    world.at("2026-11-23T21:40:00Z");
    world.configure(EVENING);
    world.crashAndRestart();
    world.configure(EVENING);
    assertThat(running("j")).containsExactly("p1", "p2");
    world.core.verify();
  }

  @Test
  void whatRunsIsNotDisturbed() {
    world.at("2026-11-23T21:29:00Z");
    world.configure(EVENING.replace("\"30m\"", "\"30m\", \"at_window_end\": \"kill\""));
    world.until("2026-11-23T21:59:59Z");
    assertThat(world.kills).isEmpty();
    world.until("2026-11-23T22:00:01Z");
    assertThat(world.kills).hasSize(2);
  }

  @Test
  void aStartThatIsDurableTooLateIsTakenBack() {
    world.at("2026-11-23T21:29:59Z");
    world.storeAnswers = false;
    world.configure(EVENING);
    world.until("2026-11-23T21:31:00Z");
    assertThat(world.launches).isEmpty();
    world.storeAnswers();
    assertThat(running("j")).containsExactly("p1", "p2");
  }

  @Test
  void tasksThatFitIntoNoWindowAreAProblemAndNeverStart() {
    world.at("2026-11-23T20:00:00Z");
    world.configure(config("\"20:00-22:00 UTC\"", ", \"assume\": \"3h\""));
    assertThat(running("j")).containsExactly("p1", "p2");
    assertThat(reasons("j", "n2"))
        .containsExactly(
            "window of host night closes Mon 22:00 UTC, and a task takes up to 180 min; no later"
                + " one is open as long");
    String problem = "tasks take longer than windows of nodes are open: j (180 min, 1 node)";
    assertThat(problem()).isEqualTo(problem);
    world.until("2026-11-23T23:00:00Z");
    assertThat(problem()).as("also while it is closed").isEqualTo(problem);
    world.until("2026-11-24T20:00:00Z");
    assertThat(running("j")).containsExactly("p1", "p2");
    world.configure(EVENING);
    assertThat(problem()).isEmpty();
  }

  @Test
  void aLaterWindowThatIsLongEnoughIsNamed() {
    world.at("2026-11-23T20:30:00Z");
    world.configure(config("\"20:00-22:00 UTC\", \"Sat UTC\"", ", \"assume\": \"3h\""));
    assertThat(reasons("j", "n2"))
        .containsExactly(
            "window of host night closes Mon 22:00 UTC, and a task takes up to 180 min; the next"
                + " opens Sat 00:00 UTC (in 4 d 3 h)");
    assertThat(problem()).isEmpty();
    world.until("2026-11-28T00:00:00Z");
    assertThat(running("j")).containsExactly("n1", "n2", "p1", "p2");
  }

  @Test
  void measuredDurationsCountAndAreLookedAtEachMinute() {
    world.at("2026-11-23T20:00:00Z");
    String many =
        IntStream.range(0, 30).mapToObj(i -> "\"p" + i + "\"").collect(Collectors.joining(", "));
    world.configure(config("\"20:00-22:00 UTC\"", "").replace("\"p1\", \"p2\"", many));
    assertThat(running("j")).hasSize(32);
    // Nothing is known yet.
    world.until("2026-11-23T20:40:00Z");
    for (int i = 0; i < 25; i++) {
      world.writes("j", "p" + i, "done");
    }
    world.until("2026-11-23T21:25:00Z");
    world.writes("j", "n1", "incomplete");
    world.until("2026-11-23T21:25:10Z");
    assertThat(running("j")).as("tasks of 40 minutes").doesNotContain("n1");
    // The upper end of the class of durations.
    assertThat(reasons("j", "n1").get(0)).contains("a task takes up to 44 min");
  }

  /** A job with a task on each of 7,000 hosts, whose windows close together. */
  private static String manyHosts() {
    String hosts =
        IntStream.range(0, 7_000)
            .mapToObj(i -> "\"h" + i + "\": {\"tags\": [\"night\"]}")
            .collect(Collectors.joining(", "));
    return """
        {"bistro_settings": {"nodes": {"levels": ["host", "db"], "node_order": "original",
           "node_sources": [{"source": "manual", "prefs": {%s}}]},
           "node_windows": [%s], "resources": {}},
         "bistro_job->j": {"owner": "o", "backoff": [1, "repeat"], "command": ["x"],
           "level_for_tasks": "host", "assume": "30m"}}
        """
        .formatted(hosts, NIGHT.formatted("\"20:00-22:00 UTC\""));
  }

  @Test
  void manyNodesAreCutOffInSlicesAndNothingStartsBefore() {
    world.at("2026-11-23T21:29:58Z");
    world.configure(manyHosts());
    assertThat(running("j")).hasSize(7_000);
    // Its back-off ends when the first slice of gates is closed.
    world.writes("j", "h6999", "incomplete");
    world.until("2026-11-23T21:30:05Z");
    assertThat(world.core.gates().of(GateKind.WINDOW_CUTOFF)).hasSize(7_000);
    assertThat(running("j")).doesNotContain("h6999");
    world.until("2026-11-23T22:00:00Z");
    assertThat(world.core.gates().of(GateKind.WINDOW_CUTOFF)).isEmpty();
  }

  @Test
  void noStepClosesTheNodesOfMoreThanASlice() {
    world.at("2026-11-23T20:30:00Z");
    world.configure(manyHosts());
    NodeWindowGates gates = new NodeWindowGates(world.core, job -> 1_800_000, 60_000);
    do {
      gates.step(world.now);
    } while (gates.isBehind());
    List<Integer> closed = new ArrayList<>();
    do {
      gates.step(Instant.parse("2026-11-23T21:31:00Z").toEpochMilli());
      closed.add(world.core.gates().of(GateKind.WINDOW_CUTOFF).size());
    } while (gates.isBehind());
    assertThat(closed).containsExactly(2_000, 4_000, 6_000, 7_000);
  }

  /** Returns gates of their own, which count how often they ask how long tasks take. */
  private NodeWindowGates gates(List<String> asked) {
    return new NodeWindowGates(
        world.core,
        (Job job) -> {
          asked.add(job.name());
          return 60_000;
        },
        60_000);
  }

  @Test
  void withoutWindowsOfNodesNobodyAsksForDurationsAndWithThemOnceAMinute() {
    world.at("2026-11-23T20:30:00Z");
    world.configure(EVENING.replaceAll("\"node_windows\".*\n", ""));
    List<String> asked = new ArrayList<>();
    NodeWindowGates gates = gates(asked);
    gates.step(world.now);
    assertThat(gates.nextMillis()).isEqualTo(Long.MAX_VALUE);
    assertThat(asked).isEmpty();
    world.configure(EVENING);
    for (long at = world.now; at < world.now + 180_000; at += 1_000) {
      gates.step(at);
    }
    assertThat(asked).containsExactly("j", "short", "j", "short", "j", "short");
    assertThat(gates.isBehind()).isFalse();
  }

  @Test
  void windowsBelowTheNodesOfTasksDoNotConcernThem() {
    world.at("2026-11-23T21:59:00Z");
    world.configure(
        config("\"20:00-22:00 UTC\"", ", \"level_for_tasks\": \"host\", \"assume\": \"3h\"")
            .replace("\"level\": \"host\", \"tag\": \"night\"", "\"level\": \"db\""));
    assertThat(running("j")).containsExactly("night", "plain");
    assertThat(running("short")).hasSize(4);
    assertThat(world.core.gates().of(GateKind.WINDOW_CUTOFF)).isEmpty();
    assertThat(problem()).isEmpty();
  }

  @Test
  void itIsKnownWhenACutOffEnds() {
    world.at("2026-11-23T21:59:30Z");
    world.configure(EVENING);
    NodeWindowGates gates = gates(new ArrayList<>());
    gates.step(world.now);
    assertThat(gates.opensMillis()).isEqualTo(Instant.parse("2026-11-24T20:00:00Z").toEpochMilli());
  }

  @Test
  void gatesAreClosedAgainOnlyWhenTheyEndAtAnotherTime() {
    world.at("2026-11-23T21:58:30Z");
    world.configure(EVENING);
    long[] takes = {120_000};
    NodeWindowGates gates = new NodeWindowGates(world.core, job -> takes[0], 10_000);
    gates.step(world.now);
    List<Gate> before = List.copyOf(world.core.gates().of(GateKind.WINDOW_CUTOFF));
    assertThat(before).hasSize(2).allMatch(gate -> gate.reason().contains("up to 2 min"));
    takes[0] = 1_200_000;
    gates.step(world.now + 10_000);
    assertThat(world.core.gates().of(GateKind.WINDOW_CUTOFF)).containsExactlyElementsOf(before);
    takes[0] = 7_210_000;
    gates.step(world.now + 20_000);
    assertThat(world.core.gates().of(GateKind.WINDOW_CUTOFF))
        .hasSize(2)
        .allMatch(gate -> gate.reason().contains("up to 121 min; no later one is open as long"));
  }

  @Test
  void gatesThatAreRightStayAsTheyAre() {
    world.at("2026-11-23T21:40:00Z");
    world.configure(EVENING);
    List<Gate> before = List.copyOf(world.core.gates().of(GateKind.WINDOW_CUTOFF));
    world.advance(300_000);
    world.configure(EVENING.replace("\"p2\"", "\"p2\", \"p3\""));
    assertThat(world.core.gates().of(GateKind.WINDOW_CUTOFF)).containsExactlyElementsOf(before);
  }
}
