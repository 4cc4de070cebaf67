package io.espalier.core.loop;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.problem.Problem;
import io.espalier.core.running.WorkerInfo;
import io.espalier.core.running.WorkerInfo.State;
import io.espalier.core.running.WorkerRef;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A worker that is unhealthy or lost is a problem, until there is a healthy one for its shard. */
class WorkerProblemsTest {
  private final LoopWorld world = new LoopWorld();

  @BeforeEach
  void configured() {
    world.post(new LoopInput.Workers(List.of(worker("w1", 1, State.NEW))));
    world.settle();
    world.configure(
        """
        {"bistro_settings": {"nodes": {"levels": ["db"], "node_sources": [
           {"source": "manual", "prefs": {"a": []}}]}, "resources": {}},
         "bistro_job->j": {"owner": "o", "enabled": false, "command": ["x"]}}
        """);
  }

  private static WorkerInfo worker(String shard, int instance, State state) {
    return WorkerInfo.of(new WorkerRef(shard, instance), "h")
        .state(state)
        .note("it is silent")
        .build();
  }

  private List<String> problems(List<WorkerInfo> workers) {
    world.post(new LoopInput.Workers(workers));
    world.advance(60_000);
    return Objects.requireNonNull(world.view).configProblems().stream()
        .map(Problem::toString)
        .toList();
  }

  @Test
  void aWorkerThatGetsNoTasksBecauseSomethingIsWrongIsNamed() {
    assertThat(
            problems(
                List.of(
                    worker("w1", 1, State.HEALTHY),
                    worker("w2", 1, State.UNHEALTHY),
                    worker("w3", 1, State.LOST),
                    worker("w4", 1, State.NEW),
                    worker("w5", 1, State.DRAINING))))
        .satisfiesExactly(
            first ->
                assertThat(first)
                    .contains("workers", "w2 is unhealthy and gets no tasks: it is silent"),
            second -> assertThat(second).contains("w3 is lost and gets no tasks: it is silent"));
    assertThat(problems(List.of(worker("w2", 1, State.HEALTHY)))).isEmpty();
  }

  @Test
  void aNewProcessOfItsShardEndsTheProblem() {
    assertThat(problems(List.of(worker("w1", 1, State.LOST), worker("w1", 2, State.HEALTHY))))
        .isEmpty();
    assertThat(problems(List.of(worker("w1", 2, State.HEALTHY), worker("w1", 1, State.LOST))))
        .isEmpty();
  }

  @Test
  void beyondTwentyTheyAreCounted() {
    List<String> problems =
        problems(IntStream.range(0, 1_000).mapToObj(i -> worker("w" + i, 1, State.LOST)).toList());
    assertThat(problems).hasSize(21).last().asString().contains("980 more workers get no tasks");
  }
}
