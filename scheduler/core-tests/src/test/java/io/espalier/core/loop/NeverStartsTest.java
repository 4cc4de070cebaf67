package io.espalier.core.loop;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.api.Command;
import io.espalier.core.api.view.WaitingReasons;
import io.espalier.core.loop.state.LiveTasks;
import io.espalier.core.loop.state.LoopEvents;
import io.espalier.core.loop.watch.JobStateTracker;
import io.espalier.core.loop.watch.JobVerifications;
import io.espalier.core.loop.watch.NeverStarts;
import io.espalier.core.problem.Problem;
import io.espalier.core.status.store.LimitOverride;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Tasks that need more than a limit on their path (docs/explain.md#tasks-that-can-never-start). */
class NeverStartsTest {
  private static final long LONG_ENOUGH = 6_000;

  private final LoopWorld world = new LoopWorld();

  /**
   * @param ofA the limit of host a; the others have two slots
   * @param jobs members of the configuration
   */
  private void configure(int ofA, String jobs) {
    world.configure(
        """
        {'bistro_settings': {
           'nodes': {'levels': ['host', 'db'], 'node_order': 'original', 'node_sources': [
             {'source': 'manual', 'prefs': {'a': ['a1', 'a2'], 'b': ['b1']}}]},
           'resources': {'host': {'slots': {'default': 1, 'limit': 2}}},
           'node_resources_override': [{'level': 'host', 'name': 'a', 'limits': {'slots': %d}}]},
         %s}
        """
            .formatted(ofA, jobs)
            .replace('\'', '"'));
    world.advance(LONG_ENOUGH);
  }

  private Map<String, Long> counts() {
    Map<String, Long> counts = new TreeMap<>();
    world.loop.stats().neverStarting().forEach((job, found) -> counts.put(job, found.tasks()));
    return counts;
  }

  private List<String> problems() {
    world.advance(200); // a view is no more often
    return Objects.requireNonNull(world.view).configProblems().stream()
        .map(Problem::toString)
        .toList();
  }

  private void limit(String node, int slots) {
    world.done(
        new Command.SetLimit(new LimitOverride("host", "slots", node, slots, "o", "r", 0, 0), 0));
    world.advance(LONG_ENOUGH);
  }

  @Test
  void theyAreCountedAndAProblemUntilALimitIsRaised() {
    configure(0, "'bistro_job->j': {'owner': 'o'}, 'bistro_job->k': {'owner': 'o'}");
    assertThat(counts()).containsOnly(Map.entry("j", 2L), Map.entry("k", 2L));
    assertThat(problems())
        .hasSize(2)
        .first()
        .asString()
        .contains("bistro_job->j")
        .contains(
            "2 of its tasks can never start as the limits are: it needs 1 of slots, 0 of 0 are"
                + " free on a; it can never start while the limit is 0");
    limit("a", 1);
    assertThat(counts()).isEmpty();
    assertThat(problems()).isEmpty();
  }

  @Test
  void noTimeIsLeftForAJobThatHasThem() {
    configure(0, "'bistro_job->j': {'owner': 'o'}");
    world.writes("j", "b1", "done");
    assertThat(secondsLeft()).isEqualTo(-1);
    limit("a", 1);
    assertThat(secondsLeft()).isGreaterThan(0);
  }

  private double secondsLeft() {
    world.advance(1_000);
    return Objects.requireNonNull(Objects.requireNonNull(world.view).progress().get("j"))
        .secondsLeft();
  }

  @Test
  void anOverrideCanMakeThem() {
    configure(2, "'bistro_job->j': {'owner': 'o', 'resources': {'slots': 2}}");
    assertThat(counts()).isEmpty();
    limit("b", 1);
    assertThat(counts()).as("that of b runs").isEmpty();
    world.writes("j", "b1", "error_backoff");
    world.advance(100_000);
    world.advance(LONG_ENOUGH);
    assertThat(counts()).containsOnly(Map.entry("j", 1L));
  }

  @Test
  void tasksThatEndOrJobsThatGoAreNotCounted() {
    configure(0, "'bistro_job->j': {'owner': 'o'}");
    assertThat(counts()).containsOnly(Map.entry("j", 2L));
    configure(0, "'bistro_job->k': {'owner': 'o', 'filters': {'host': {'blacklist': ['a']}}}");
    assertThat(counts()).isEmpty();
    assertThat(problems()).isEmpty();
  }

  @Test
  void aLimitOfZeroEverywhereIsAStopAndNotAProblem() {
    configure(2, "'bistro_job->j': {'owner': 'o', 'resources': {'slots': 2}}");
    limit("a", 0);
    assertThat(counts()).as("a2 waits").containsOnly(Map.entry("j", 1L));
    limit("", 0);
    assertThat(counts()).isEmpty();
    assertThat(problems()).isEmpty();
  }

  @Test
  void aJobThatIsStuckHasOneProblemForIt() {
    configure(1, "'bistro_job->j': {'owner': 'o', 'resources': {'slots': 3}}");
    assertThat(counts()).containsOnly(Map.entry("j", 3L));
    assertThat(problems())
        .anyMatch(problem -> problem.contains("the job is stuck"))
        .noneMatch(problem -> problem.contains("of its tasks can never start"));
  }

  @Test
  void withoutSuchAJobNothingIsCounted() {
    configure(1, "'bistro_job->j': {'owner': 'o'}");
    List<String> asked = new ArrayList<>();
    NeverStarts never = counting(asked);
    assertThat(never.step(world.now)).isFalse();
    assertThat(never.nextMillis()).isEqualTo(Long.MAX_VALUE);
    assertThat(asked).isEmpty();
  }

  @Test
  void jobsAreCountedOncePerChangeAndNotAtOnceAgain() {
    configure(0, "'bistro_job->j': {'owner': 'o'}, 'bistro_job->k': {'owner': 'o'}");
    List<String> asked = new ArrayList<>();
    NeverStarts never = counting(asked);
    for (int step = 0; step < 5; step++) {
      never.step(world.now);
    }
    assertThat(asked).containsExactly("j", "k");
    assertThat(never.nextMillis()).as("nothing has happened").isEqualTo(Long.MAX_VALUE);
    long counted = world.now;
    limit("b", 1);
    assertThat(never.nextMillis()).isEqualTo(counted + 5_000);
    never.step(counted + 4_999);
    assertThat(asked).hasSize(2);
    never.step(counted + 5_000);
    assertThat(asked).containsExactly("j", "k", "j");
  }

  /** One that is told that no task waits. */
  private NeverStarts counting(List<String> asked) {
    JobStateTracker outcomes =
        new JobStateTracker(
            world.core, new LoopEvents(1), new JobVerifications(world.core, new LiveTasks()));
    return new NeverStarts(
        world.core,
        outcomes,
        job -> {
          asked.add(job);
          return CompletableFuture.completedFuture(
              new WaitingReasons(job, world.now, 0, 0, false, List.of()));
        });
  }
}
