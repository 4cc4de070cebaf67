package io.espalier.core.loop;

import io.espalier.core.api.view.Explanation;
import io.espalier.core.event.Event;
import io.espalier.core.outcome.JobState;
import io.espalier.core.rollout.Rollout;
import io.espalier.core.status.TaskKey;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** The set-up of tests of roll-outs: a job with stages on eight hosts. */
abstract class StagedLoop {
  final LoopWorld world = new LoopWorld();
  int perHost = 5;
  String command = "x";
  String settings = "";
  String ownEnvironment = "";

  String config(String rollout) {
    String hosts =
        IntStream.range(0, 8)
            .mapToObj(
                host ->
                    "\"h"
                        + host
                        + "\": ["
                        + IntStream.range(0, perHost)
                            .mapToObj(db -> "\"h" + host + "d" + db + "\"")
                            .collect(Collectors.joining(", "))
                        + "]")
            .collect(Collectors.joining(", "));
    return """
    {"bistro_settings": {"nodes": {"levels": ["host", "db"],
       "node_sources": [{"source": "manual", "prefs": {%s}}]}, "resources": {}%s},
     "bistro_job->j": {"owner": "o", "backoff": [1, "repeat"], "command": ["%s"]%s%s}}
    """
        .formatted(
            hosts,
            settings,
            command,
            ownEnvironment,
            rollout.isEmpty() ? "" : ", \"rollout\": {" + rollout + "}");
  }

  static final String STAGES =
      "\"stages\": [1, \"20%\", \"100%\"], \"soak\": \"10m\","
          + " \"fail_when\": {\"failed_percent\": 20, \"min_samples\": 4}";

  List<String> running() {
    return world.running.keySet().stream().map(TaskKey::node).sorted().toList();
  }

  void endAll(String status) {
    for (String node : running()) {
      world.writes("j", node, status);
    }
  }

  Rollout rollout() {
    world.advance(200);
    return Objects.requireNonNull(
        Objects.requireNonNull(world.view).rollouts().get("j"), "no roll-out");
  }

  JobState state() {
    return Objects.requireNonNull(world.loop.jobStates().get("j")).state();
  }

  List<String> events() {
    return world.events.stream()
        .map(Event::kind)
        .filter(kind -> kind.startsWith("rollout_"))
        .toList();
  }

  String waits(String node) {
    return world.core.tasks().explain("j", node).reasons().stream()
        .filter(reason -> reason.kind() == Explanation.Kind.ROLLOUT)
        .map(Explanation.Reason::message)
        .collect(Collectors.joining("; "));
  }

  String untried() {
    return world.core.topology().levels().count() == 0
        ? ""
        : IntStream.range(0, 8)
            .mapToObj(host -> "h" + host + "d0")
            .filter(node -> !waits(node).isEmpty())
            .findFirst()
            .orElseThrow();
  }

  Set<String> hosts() {
    return running().stream().map(node -> node.substring(0, 2)).collect(Collectors.toSet());
  }
}
