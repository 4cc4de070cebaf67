package io.espalier.core.loop;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.api.Command;
import io.espalier.core.api.view.Explanation;
import io.espalier.core.config.Resource;
import io.espalier.core.health.ProbeView;
import io.espalier.core.loop.health.ProbeAnswer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;

/** The set-up of tests of health: two hosts whose slots follow the probe lag. */
abstract class ProbedLoop {
  static final String LAG =
      "\"lag\": {\"level\": \"host\", \"source\": \"%s\", \"every\": 10, \"max_age\": 60,"
          + " \"bad_above\": 5, \"good_below\": 2%s}";

  final LoopWorld world = new LoopWorld();

  static String config(String probes, String follows, int need) {
    return """
    {"bistro_settings": {"nodes": {"levels": ["host", "db"], "node_order": "original",
       "node_sources": [{"source": "manual", "prefs":
         {"h1": ["a", "b", "c", "d", "e", "f"], "h2": ["g", "i", "j", "k"]}}]},
       "probes": {%s},
       "resources": {"host": {"slots": {"default": %d, "limit": 4%s}}}},
     "bistro_job->j": {"owner": "o", "backoff": [1, "fail"], "command": ["x"]}}
    """
        .formatted(probes, need, follows);
  }

  static String config(String more) {
    return config(LAG.formatted("file", more), ", \"follows\": [\"lag\"]", 1);
  }

  long running(String nodes) {
    return world.running.keySet().stream().filter(task -> nodes.contains(task.node())).count();
  }

  void answer(Map<String, Double> values) {
    List<ProbeAnswer.Sample> samples = new ArrayList<>();
    values.forEach((node, value) -> samples.add(new ProbeAnswer.Sample(node, value, world.now)));
    world.post(new LoopInput.Probed(new ProbeAnswer("lag", samples, "")));
    world.settle();
  }

  void answers(double h1, double h2) {
    world.advance(10_000);
    answer(Map.of("h1", h1, "h2", h2));
  }

  /** Configures hosts that had a good value before these; of a third one there is no node. */
  void configure(String config, double h1, double h2) {
    world.configure(config.replace("\"owner\"", "\"enabled\": false, \"owner\""));
    answer(Map.of("h1", 1.0, "h2", 1.0));
    world.now += 10;
    answer(Map.of("h1", h1, "h2", h2, "h3", 9.0));
    world.configure(config);
  }

  int limit(String host) {
    return world.core.capacity().limit(world.core.topology().find(1, host), slots().index());
  }

  Resource slots() {
    return Objects.requireNonNull(world.core.config().settings().resources().find("slots"));
  }

  String reason(String node) {
    return reason(node, Explanation.Kind.RESOURCE);
  }

  String reason(String node, Explanation.Kind kind) {
    return world.core.tasks().explain("j", node).reasons().stream()
        .filter(reason -> reason.kind() == kind)
        .map(Explanation.Reason::message)
        .collect(Collectors.joining());
  }

  ProbeView view() {
    world.advance(200);
    return Objects.requireNonNull(world.view).probes().get(0);
  }

  List<String> events() {
    return world.events.stream()
        .filter(event -> event.kind().startsWith("limit_"))
        .map(
            event ->
                event.kind()
                    + " "
                    + (event.data().get("nodes") == null ? 1 : event.data().get("nodes")))
        .toList();
  }

  void push(String probe, String node, double value) {
    CompletableFuture<Integer> answer =
        world.run(new Command.PushProbe(probe, node, value, "", "")).toCompletableFuture();
    world.settle();
    assertThat(answer.join()).isEqualTo(1);
  }
}
