package io.espalier.core.loop;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.api.Command;
import io.espalier.core.api.view.BrakeView;
import io.espalier.core.status.store.Brake;
import io.espalier.core.status.store.Brake.Target;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** The set-up of tests of brakes: two hosts with three databases each, and two jobs. */
abstract class BrakedLoop {
  /** Job "free" needs no resource. Jobs j and free are of queue q and of set s. */
  static final String TWO_HOSTS =
      """
      {"bistro_settings": {"nodes": {"levels": ["host", "db"], "node_order": "original",
         "node_sources": [
           {"source": "manual", "prefs": {"h1": ["a", "b", "c"], "h2": ["d", "e", "f"]}}]},
         "queues": {"q": {}},
         "resources": {"host": {"slots": {"default": 1, "limit": 2}}}},
       "bistro_job->j": {"owner": "o", "queue": "q", "set": "s", "backoff": [1, 2, "fail"],
         "command": ["x"]},
       "bistro_job->free": {"owner": "o", "queue": "q", "set": "s", "resources": {"slots": 0},
         "backoff": [1, 2, "fail"], "command": ["x"]}}
      """;

  static final Brake.Key ALL = Brake.Key.all();
  static final Brake.Key H1 = new Brake.Key(Target.NODE, "host", "h1");

  final LoopWorld world = new LoopWorld();

  CompletionStage<BrakeView> brake(
      Brake.Key key, double factor, long millis, Brake.@Nullable Ramp ramp) {
    int millionths = (int) Math.round(factor * Brake.ONE);
    return world.run(
        new Command.SetBrake(
            Brake.of(key, millionths)
                .ramp(ramp)
                .author("ann")
                .reason("the network is down")
                .build(),
            millis));
  }

  void brake(Brake.Key key, double factor) {
    assertThat(world.done(brake(key, factor, 0, null)).durable()).isTrue();
  }

  BrakeView release(Brake.Key key, Brake.@Nullable Ramp ramp) {
    return world.done(new Command.ReleaseBrake(key, ramp, "bob", "over"));
  }

  long running(String job, String... nodes) {
    return world.running.keySet().stream()
        .filter(task -> task.job().equals(job))
        .filter(task -> nodes.length == 0 || List.of(nodes).contains(task.node()))
        .count();
  }

  void endAll(String job, String status) {
    List.copyOf(world.running.keySet()).stream()
        .filter(task -> task.job().equals(job))
        .forEach(task -> world.writes(job, task.node(), status));
    // Long enough for what is to run again.
    world.advance(5_000);
  }

  static String manyHosts(int hosts, int slots, boolean enabled, String jobs) {
    return """
    {"bistro_settings": {
       "enabled": %s,
       "nodes": {"levels": ["host"], "node_sources": [{"source": "range_label",
         "prefs": {"parent_level": "instance", "start": 1, "end": %d, "format": "h{i}"}}]},
       "resources": {"host": {"slots": {"default": 1, "limit": %d}}}}%s}
    """
        .formatted(enabled, hosts, slots, jobs);
  }

  List<String> unconfirmed() {
    return Objects.requireNonNull(world.view).brakes().stream()
        .flatMap(brake -> brake.unconfirmed().stream())
        .toList();
  }

  /** Returns that many jobs more, as members of a configuration. */
  static String jobs(int count) {
    return IntStream.range(0, count)
        .mapToObj(", \"bistro_job->j%d\": {\"owner\": \"o\", \"command\": [\"x\"]}"::formatted)
        .collect(Collectors.joining());
  }
}
