package io.espalier.core.loop;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.json.Json;
import io.espalier.core.notification.NotifiedKind;
import io.espalier.core.scheduling.window.MissedWindow;
import io.espalier.core.scheduling.window.NodeWindowGates;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Windows of nodes in which no task of a job has started (docs/adr/0070-windows.md). */
class MissedNodeWindowsTest {
  private final LoopWorld world = new LoopWorld();

  /** Jobs with a task on each host, whose window is the evening. */
  private static String config(int hosts, String more, String job) {
    String all =
        IntStream.range(0, hosts)
            .mapToObj(i -> "\"h" + i + "\": {\"tags\": [\"night\"]}")
            .collect(Collectors.joining(", "));
    return """
    {"bistro_settings": {"nodes": {"levels": ["host"], "node_order": "original",
       "node_sources": [{"source": "manual", "prefs": {%s%s}}]},
       "node_windows": [{"level": "host", "tag": "night", "windows": ["20:00-22:00 UTC"]}],
       "resources": {}},
     "bistro_job->j": {"owner": "o", "backoff": [1, "repeat"], "command": ["x"]%s},
     "bistro_job->off": {"owner": "o", "enabled": false, "command": ["x"]}}
    """
        .formatted(more, all, job);
  }

  /** Ends what runs of the job. */
  private void allWrite(String status) {
    world.running.keySet().stream()
        .filter(task -> task.job().equals("j"))
        .toList()
        .forEach(task -> world.writes("j", task.node(), status));
    world.settle();
  }

  /** What was told of windows of nodes that were missed, without the words. */
  private List<String> missed() {
    return world.events.stream()
        .filter(event -> event.kind().equals("window_closed"))
        .map(event -> event.data())
        .filter(data -> data.get("level") != null && data.get("job") != null)
        .map(data -> data.get("nodes") + " nodes, " + data.get("left") + " left")
        .toList();
  }

  @Test
  void nodesWithoutAnyStartAreOneEventAndANotification() {
    world.at("2026-11-23T19:00:00Z");
    world.configure(config(30, "", ", \"max_concurrent\": 10"));
    world.until("2026-11-23T21:59:00Z");
    assertThat(world.running).hasSize(10);
    allWrite("incomplete");
    world.advance(2_000);
    world.until("2026-11-23T22:00:01Z");
    assertThat(missed())
        .as("the next ten have started at the end")
        .containsExactly("10 nodes, 10 left");
    Json.Obj data =
        world.events.stream()
            .map(event -> event.data())
            .filter(of -> of.get("level") != null && of.get("job") != null)
            .findFirst()
            .orElseThrow();
    NotifiedKind kind = Objects.requireNonNull(NotifiedKind.of("window_closed"));
    assertThat(kind.subject(data)).contains("j");
    assertThat(kind.summary(data, 1))
        .isEqualTo(
            "the window of job j on 10 nodes of level host has closed with 10 tasks left: windows"
                + " of 10 of 30 nodes of level host have closed, and no task of job j has started"
                + " in them");
  }

  @Test
  void eachWindowCountsAnew() {
    world.at("2026-11-23T19:00:00Z");
    world.configure(config(30, "", ", \"max_concurrent\": 10, \"overrun\": \"allow\""));
    world.until("2026-11-23T20:30:00Z");
    world.until("2026-11-23T22:00:01Z");
    world.until("2026-11-24T20:30:00Z");
    world.until("2026-11-24T22:00:01Z");
    assertThat(missed())
        .as("ten run over both windows")
        .containsExactly("20 nodes, 20 left", "20 nodes, 20 left");
    allWrite("done");
    world.until("2026-11-25T20:30:00Z");
    assertThat(world.running).hasSize(10);
    allWrite("done");
    world.until("2026-11-25T22:00:01Z");
    assertThat(missed()).as("the last ten run").hasSize(2);
  }

  @Test
  void whatHasStartedIsKnownWhenNodesAndWindowsChange() {
    world.at("2026-11-23T19:00:00Z");
    String job = ", \"max_concurrent\": 10";
    world.configure(config(30, "", job));
    world.until("2026-11-23T20:30:00Z");
    world.configure(config(31, "\"first\": {\"tags\": [\"night\"]}, ", job));
    world.until("2026-11-23T21:00:00Z");
    world.configure(
        config(31, "\"plain\": [], ", job)
            .replace(
                "\"node_windows\": [",
                "\"node_windows\": [{\"level\": \"host\", \"tag\": \"x\", \"windows\": [\"Sat UTC\"]}, "));
    allWrite("incomplete");
    world.until("2026-11-23T21:59:00Z");
    int started =
        world.launches.stream().map(each -> each.node()).collect(Collectors.toSet()).size();
    assertThat(started).isBetween(10, 20);
    world.until("2026-11-23T22:00:01Z");
    assertThat(missed()).hasSize(1);
    int nodes = Integer.parseInt(missed().get(0).replaceAll(" nodes.*", ""));
    int onPlain = world.launches.stream().anyMatch(each -> each.node().equals("plain")) ? 1 : 0;
    assertThat(nodes).isEqualTo(31 - (started - onPlain));
  }

  @Test
  void aWindowThatWasOpenBeforeIsNotCounted() {
    world.at("2026-11-23T21:00:00Z");
    String never = config(3, "", ", \"assume\": \"3h\"");
    world.configure(never);
    world.until("2026-11-23T22:00:01Z");
    assertThat(missed()).isEmpty();
    world.until("2026-11-24T21:00:00Z");
    world.crashAndRestart();
    world.configure(never);
    world.until("2026-11-24T22:00:01Z");
    assertThat(missed()).as("an earlier process may have started tasks").isEmpty();
    world.until("2026-11-25T20:30:00Z");
    world.until("2026-11-25T22:00:01Z");
    assertThat(missed()).containsExactly("3 nodes, 3 left");
  }

  @Test
  void whatHasStartedInAWindowThatIsNotCountedIsForgotten() {
    world.at("2026-11-23T21:00:00Z");
    world.configure(config(3, "", ""));
    assertThat(world.running).hasSize(3);
    allWrite("incomplete");
    world.until("2026-11-23T22:00:01Z");
    allWrite("incomplete");
    assertThat(missed()).isEmpty();
    world.configure(config(3, "", ", \"assume\": \"3h\""));
    world.until("2026-11-24T20:30:00Z");
    world.until("2026-11-24T22:00:01Z");
    assertThat(missed()).containsExactly("3 nodes, 3 left");
  }

  @Test
  void manyNodesAreCountedInSlices() {
    world.at("2026-11-23T19:00:00Z");
    world.configure(config(7_000, "", ", \"assume\": \"3h\""));
    NodeWindowGates gates = new NodeWindowGates(world.core, job -> 0, Long.MAX_VALUE);
    for (String instant : List.of("19:00", "20:00", "22:00")) {
      long millis = Instant.parse("2026-11-23T" + instant + ":00Z").toEpochMilli();
      do {
        gates.step(millis);
      } while (gates.isBehind());
    }
    int slices = 0;
    List<MissedWindow> missed = List.of();
    while (gates.isCounting()) {
      assertThat(missed).as("a part of the number").isEmpty();
      missed = gates.count();
      slices++;
    }
    assertThat(slices).isGreaterThan(3);
    assertThat(missed).containsExactly(new MissedWindow("j", "host", 7_000, 7_000, 7_000));
    assertThat(gates.count()).as("only once").isEmpty();
  }

  @Test
  void whatHasNoWindowsKeepsAndCountsNothing() {
    world.at("2026-11-23T19:00:00Z");
    world.configure(config(3, "", "").replace("\"tag\": \"night\"", "\"tag\": \"day\""));
    world.until("2026-11-24T22:00:01Z");
    assertThat(world.running).hasSize(3);
    assertThat(missed()).isEmpty();
  }
}
