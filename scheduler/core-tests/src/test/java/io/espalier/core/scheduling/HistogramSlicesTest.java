package io.espalier.core.scheduling;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.api.view.Histogram;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.TaskStatus.Main;
import io.espalier.core.topology.Topology;
import io.espalier.testkit.scheduling.ConfigFixture;
import io.espalier.testkit.scheduling.TreeFixture;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Histograms in parts (docs/design/design.md#slices) come to an end whatever happens meanwhile. */
final class HistogramSlicesTest {
  private static final int HOSTS = 50;
  private static final int SHARDS = 20;
  private static final int UNITS = 30;

  private static TaskStatus of(Main main) {
    return TaskStatus.of(main, 0, 1);
  }

  @Test
  void tasksThatChangeFasterThanTheyAreLookedAtDoNotKeepItFromItsEnd() {
    ConfigFixture config = new ConfigFixture("host", "db").job("j");
    Topology topology = TreeFixture.regular(config.levels(), HOSTS, SHARDS);
    SchedulingCore core = new SchedulingCore(1);
    core.apply(config.build(), topology, 0);
    int first = topology.levelStart(2);
    // No host has every status, so each that has changed is looked at as a whole.
    core.setStatus(0, first + HOSTS * SHARDS - 1, of(Main.FAILED));

    int calls = 0;
    long used = UNITS;
    while (used >= UNITS) {
      calls++;
      assertThat(calls).as("parts").isLessThan(1_000);
      for (int host = 0; host < 10; host++) {
        core.setStatus(0, first + host * SHARDS, calls % 2 == 0 ? null : of(Main.DONE));
      }
      used = core.tasks().prepareHistogram(0, UNITS);
    }

    assertThat(calls).as("it is not done in one piece").isGreaterThan(10);
    long hosts =
        core.tasks().histogram(0, 0).levels().getOrDefault("host", Map.of()).values().stream()
            .mapToLong(Histogram.Bucket::count)
            .sum();
    assertThat(hosts).isEqualTo(HOSTS);
    core.verify();
  }
}
