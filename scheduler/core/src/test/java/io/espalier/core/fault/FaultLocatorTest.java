package io.espalier.core.fault;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

final class FaultLocatorTest {
  private static final int HOSTS = 1_000;
  private static final int HOSTS_PER_RACK = 20;
  private static final int TASKS_PER_HOST = 20;
  private static final List<String> LEVELS = List.of("instance", "rack", "host", "db");

  private final FaultLocator faults = new FaultLocator();

  private @Nullable Fault ended(int host, int task, @Nullable String cause) {
    return faults.ended(
        "j",
        LEVELS,
        List.of("i", "r" + host / HOSTS_PER_RACK, "h" + host, "h" + host + "d" + task),
        cause);
  }

  /** All tasks in a random order; returns what is found first. */
  private @Nullable Fault run(Random random, Failing failing) {
    List<Integer> order =
        new ArrayList<>(IntStream.range(0, HOSTS * TASKS_PER_HOST).boxed().toList());
    Collections.shuffle(order, random);
    for (int each : order) {
      int host = each / TASKS_PER_HOST;
      Fault fault = ended(host, each % TASKS_PER_HOST, failing.cause(host, random));
      if (fault != null) {
        return fault;
      }
    }
    return null;
  }

  private interface Failing {
    @Nullable String cause(int host, Random random);
  }

  private static @Nullable String atRandom(Random random, double rate) {
    return random.nextDouble() < rate ? "chance" : null;
  }

  @Test
  void oneBadHostOfAThousandIsFoundWithFewFailures() {
    for (int seed = 0; seed < 20; seed++) {
      FaultLocator fresh = new FaultLocator();
      Random random = new Random(seed);
      Fault fault = null;
      int failures = 0;
      // Every host works at its own pace, so the bad one, too, ends task after task.
      for (int task = 0; task < TASKS_PER_HOST && fault == null; task++) {
        for (int host = 0; host < HOSTS && fault == null; host++) {
          String cause = host == 417 ? "disk" : atRandom(random, 0.01);
          failures += host == 417 ? 1 : 0;
          fault =
              fresh.ended(
                  "j",
                  LEVELS,
                  List.of("i", "r" + host / HOSTS_PER_RACK, "h" + host, host + "d" + task),
                  cause);
        }
      }
      assertThat(Objects.requireNonNull(fault).node()).as("seed %d", seed).isEqualTo("h417");
      assertThat(failures).as("seed %d", seed).isLessThanOrEqualTo(20);
    }
  }

  @Test
  void randomFailuresAreNobodysFault() {
    for (int seed = 0; seed < 100; seed++) {
      assertThat(new FaultLocatorTest().run(new Random(seed), (host, r) -> atRandom(r, 0.01)))
          .as("seed %d", seed)
          .isNull();
    }
  }

  @Test
  void diffuseFailuresAreNobodysFault() {
    for (double rate : new double[] {0.1, 0.3, 0.6, 1}) {
      assertThat(new FaultLocatorTest().run(new Random(1), (host, r) -> atRandom(r, rate)))
          .as("rate %s", rate)
          .isNull();
    }
  }

  @Test
  void aBadRackIsFoundAndNotOneOfItsHosts() {
    Fault fault =
        run(new Random(1), (host, r) -> host / HOSTS_PER_RACK == 7 ? "power" : atRandom(r, 0.01));
    assertThat(Objects.requireNonNull(fault).level()).isEqualTo("rack");
    assertThat(fault.node()).isEqualTo("r7");
  }

  @Test
  void aHostWithACauseOfItsOwnIsFoundAmongOtherFailures() {
    Fault fault = run(new Random(1), (host, r) -> host == 5 ? "disk" : atRandom(r, 0.4));
    assertThat(Objects.requireNonNull(fault).node()).isEqualTo("h5");
  }

  @Test
  void oneBrokenTaskIsNoBrokenHostHoweverOftenItFails() {
    for (int i = 0; i < 1_000; i++) {
      assertThat(ended(i % HOSTS, 1, null)).isNull();
      assertThat(ended(3, 0, "broken")).isNull();
    }
  }

  @Test
  void aHostWhoseTasksAllFailFirstIsFoundOnceOthersHaveEnded() {
    for (int task = 0; task < 6; task++) {
      assertThat(ended(3, task, "disk")).isNull();
    }
    for (int host = 20; host < 117; host++) {
      assertThat(ended(host, 0, null)).isNull();
    }
    assertThat(ended(3, 0, "disk")).as("6 of 6 beside 0 of 97 may be chance").isNull();
    assertThat(ended(117, 0, null)).isNull();
    Fault fault = Objects.requireNonNull(ended(3, 1, "disk"));
    assertThat(fault.node()).isEqualTo("h3");
    assertThat(fault.failed()).as("each task counts once").isEqualTo(6);
    assertThat(fault.ended()).isEqualTo(6);
    assertThat(fault.endedElsewhere()).isEqualTo(98);
    for (int i = 0; i < 100; i++) {
      assertThat(ended(3, i % 6, "disk")).as("it is found once").isNull();
    }
  }

  @Test
  void nothingIsFoundWithoutAComparison() {
    for (int task = 0; task < 100; task++) {
      assertThat(ended(3, task, "first")).as("only this host has run anything").isNull();
    }
  }

  @Test
  void itSaysHowMuchFailsWhere() {
    for (int host = 20; host < 320; host++) {
      assertThat(ended(host, 0, host == 20 ? "chance" : null)).isNull();
    }
    Fault fault = null;
    for (int task = 0; fault == null; task++) {
      fault = ended(3, task, "disk");
    }
    assertThat(fault.words("backfill"))
        .isEqualTo(
            "83 % of the failures of backfill are under host h3 (rack r0): 5 of 5 tasks failed"
                + " there lately, 1 of 300 elsewhere");
  }

  @Test
  void whatWasFoundBeginsAgain() {
    for (int host = 20; host < 320; host++) {
      assertThat(ended(host, 0, null)).isNull();
    }
    int task = 0;
    while (ended(3, task++, "disk") == null) {
      assertThat(task).isLessThan(20);
    }
    int first = task;
    faults.forgive("j");
    while (ended(3, task++, "disk") == null) {
      assertThat(task).as("it takes as many failures").isLessThan(3 * first);
    }
    assertThat(task).isGreaterThanOrEqualTo(first + FaultLocator.LEAST_FAILURES);
  }
}
