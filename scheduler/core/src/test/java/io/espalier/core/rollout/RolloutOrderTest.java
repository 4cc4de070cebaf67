package io.espalier.core.rollout;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.config.rollout.RolloutSpec;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Which tasks a stage has, and when it is halted (docs/rollout.md). */
class RolloutOrderTest {
  private static final int SHARDS = 100_000;

  private static long[] first(int count, String job, Map<Long, Integer> hosts, int perHost) {
    RolloutOrder order = new RolloutOrder();
    for (int shard = 0; shard < SHARDS; shard++) {
      long hash = RolloutOrder.hash(job, "shard" + shard);
      hosts.put(hash, shard / perHost);
      order.add(hash, shard / perHost);
    }
    return order.first(count);
  }

  @Test
  void aStageTouchesAsManyHostsAsItHasTasksOrAll() {
    for (int perHost : new int[] {1, 40, 100_000}) {
      Map<Long, Integer> hosts = new HashMap<>();
      long[] most = first(20_000, "job", hosts, perHost);
      assertThat(hosts).as("hashes differ").hasSize(SHARDS);
      for (int size : new int[] {1, 2, 100, 2_500, 20_000}) {
        Set<Integer> touched = new HashSet<>();
        Arrays.stream(most, 0, size).forEach(hash -> touched.add(hosts.get(hash)));
        assertThat(touched).hasSize(Math.min(size, SHARDS / perHost));
      }
    }
  }

  @Test
  void aStageContainsTheOneBeforeAndIsTheSameEachTime() {
    long[] small = first(1_000, "job", new HashMap<>(), 40);
    long[] large = first(10_000, "job", new HashMap<>(), 40);
    assertThat(Arrays.copyOf(large, 1_000)).isEqualTo(small);
    assertThat(first(1_000, "other", new HashMap<>(), 40)).isNotEqualTo(small);
  }

  /** The first task is good, and 5 % of the others fail: 1, then 1 %, then 10 %. */
  @Test
  void aCommandThatFailsOnOneInTwentyIsHaltedInItsSecondStage() {
    RolloutSpec spec =
        new RolloutSpec(
            List.of(),
            Optional.empty(),
            Duration.ZERO,
            OptionalDouble.of(2),
            RolloutSpec.USUAL_SAMPLES,
            OptionalDouble.empty(),
            false,
            false,
            List.of());
    int halted = 0;
    for (int seed = 0; seed < 100; seed++) {
      Random random = new Random(seed);
      Rollout second =
          Rollout.begun(
                  "job",
                  1,
                  List.of("1", "1%", "10%", "100%"),
                  List.of(1L, 1_000L, 10_000L, (long) SHARDS),
                  0)
              .opened(1, 0, 0);
      String failure = null;
      for (long left = second.tasks(1) - 1; left >= 0 && failure == null; left--) {
        second = second.counted(random.nextDouble() < 0.05);
        failure = RolloutRules.failure(spec, second, left > 0, 0, 0);
      }
      halted += failure == null ? 0 : 1;
    }
    assertThat(halted).isGreaterThanOrEqualTo(99);
  }

  @Test
  void tasksWithoutAParentAreTheirOwn() {
    assertThat(Arrays.stream(ofTen(3)).boxed())
        .contains(RolloutOrder.hash("j", "n8"), RolloutOrder.hash("j", "n9"));
    assertThat(ofTen(100)).hasSize(10);
  }

  /** Eight tasks of one parent and two without. */
  private static long[] ofTen(int count) {
    RolloutOrder order = new RolloutOrder();
    for (int i = 0; i < 10; i++) {
      order.add(RolloutOrder.hash("j", "n" + i), i < 8 ? 0 : -1);
    }
    return order.first(count);
  }
}
