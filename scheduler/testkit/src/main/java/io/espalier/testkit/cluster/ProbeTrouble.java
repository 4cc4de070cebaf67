package io.espalier.testkit.cluster;

import io.espalier.core.config.LimitRules;
import io.espalier.core.health.HealthRule;
import io.espalier.core.health.ProbeSpec;
import io.espalier.core.json.Json;
import io.espalier.core.loop.health.ProbeAnswer.Sample;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * The source of a probe of hosts: their values change, and at times it does not answer, until the
 * cluster is told to be quiet. It happens in few lives, with random numbers of its own: all other
 * seeds live as they always have.
 */
final class ProbeTrouble {
  static final String NAME = "lag";

  /** Shorter than many failures of the source, and than most changes of leaders. */
  static final int MAX_AGE_MILLIS = 5_000;

  private static final double BAD_ABOVE = 5;
  private static final double GOOD_BELOW = 2;

  private final SimulatedCluster cluster;
  private final double[] values;
  private final Random random;
  private boolean isBroken;

  ProbeTrouble(SimulatedCluster cluster, int hosts, long seed) {
    this.cluster = cluster;
    this.values = new double[hosts];
    this.random = new Random(seed);
  }

  /** Returns whether a limit follows a probe in the life of a seed. */
  static boolean isIn(long seed) {
    return Math.floorMod(seed, 16) == 3 || Math.floorMod(seed, 16) == 8;
  }

  /** The probe, and the resource whose limit follows it. */
  static LimitRules rules(int level, String resource) {
    ProbeSpec probe =
        new ProbeSpec(
            NAME,
            level,
            "simulated",
            Json.Obj.EMPTY,
            "",
            Duration.ofSeconds(1),
            Duration.ofMillis(MAX_AGE_MILLIS),
            BAD_ABOVE,
            GOOD_BELOW,
            false);
    return LimitRules.NONE
        .withProbes(List.of(probe))
        .withHealth(Map.of(resource, new HealthRule(List.of(NAME), 0)));
  }

  void begin() {
    cluster.timeline.after(random.nextInt(10_000), this::next);
  }

  private void next() {
    if (cluster.isQuiet()) {
      return;
    }
    if (random.nextInt(4) == 0) {
      isBroken = !isBroken;
      cluster.trace(() -> "the probe " + (isBroken ? "does not answer" : "answers"));
      if (isBroken) {
        cluster.coverage.happened(SimulationEvent.PROBE_BROKEN);
      }
    } else {
      int host = random.nextInt(values.length);
      values[host] = random.nextInt(10);
      cluster.trace(() -> "the probe of host " + host + " is " + values[host]);
    }
    cluster.timeline.after(1 + random.nextInt(6_000), this::next);
  }

  void heal() {
    isBroken = false;
    Arrays.fill(values, 0);
  }

  /**
   * Returns the values of all hosts, as they are now.
   *
   * @param nowMillis by the clock of who asks
   * @return null: there is no answer
   */
  @Nullable List<Sample> answer(long nowMillis) {
    if (isBroken) {
      return null;
    }
    List<Sample> samples = new ArrayList<>();
    for (int host = 0; host < values.length; host++) {
      samples.add(new Sample(SimulatedSources.name(host), values[host], nowMillis));
    }
    return samples;
  }

  /** Returns how long a request or the time between two requests takes. */
  int pause() {
    return 1 + random.nextInt(1_500);
  }
}
