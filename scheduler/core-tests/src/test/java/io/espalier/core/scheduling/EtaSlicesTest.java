package io.espalier.core.scheduling;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.api.view.JobEta;
import io.espalier.core.forecast.EtaEstimate;
import io.espalier.core.forecast.EtaScan;
import io.espalier.core.forecast.JobPace;
import io.espalier.core.forecast.LiveWork;
import io.espalier.testkit.scheduling.ConfigFixture;
import io.espalier.testkit.scheduling.JobFixture;
import io.espalier.testkit.scheduling.TreeFixture;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The end of a job is estimated in slices, whatever the size of the tree. */
final class EtaSlicesTest {
  private static final int HOSTS = 1_000;

  private final SchedulingCore core = new SchedulingCore(3);

  private void plant() {
    ConfigFixture config =
        new ConfigFixture("host")
            .resource("host", "slots", 2)
            .resource("host", "disk", 3)
            .job("a")
            .job("b", new JobFixture("b").needs("slots", 2));
    String[] hosts = new String[HOSTS];
    for (int i = 0; i < HOSTS; i++) {
      hosts[i] = "h" + i;
    }
    core.apply(config.build(), TreeFixture.of(config.levels(), hosts), 1_000);
  }

  private JobEta estimate(int units) {
    int job = core.findJob("a");
    JobPace pace = JobPace.constant(1_000);
    EtaScan scan = new EtaScan(new LiveWork(core), job, Map.of(), pace);
    // What a slice may visit beyond its units: the numbers that it sets to zero.
    int most = units + HOSTS / 64 + 1;
    long visited = 0;
    while (!scan.isDone()) {
      int used = scan.step(units);
      assertThat(used).isPositive().isLessThanOrEqualTo(most);
      visited += used;
    }
    // Of both jobs: tasks, nodes upwards, and places of both resources.
    assertThat(visited).isGreaterThanOrEqualTo(2 * 4 * HOSTS);
    EtaEstimate estimate = new EtaEstimate(new LiveWork(core), job, pace, true, scan);
    visited = 0;
    while (!estimate.isDone()) {
      int used = estimate.step(units);
      assertThat(used).isPositive().isLessThanOrEqualTo(units);
      visited += used;
    }
    // Nodes, and twice the places of both resources.
    assertThat(visited).isGreaterThanOrEqualTo(5 * HOSTS);
    return estimate.answer(1_000);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 50, 999})
  void noSliceVisitsMoreThanItMay(int units) {
    plant();
    assertThat(estimate(units)).isEqualTo(estimate(Integer.MAX_VALUE - 1_000));
  }

  @Test
  void theAnswerNamesTheNarrowestPlace() {
    plant();
    JobEta eta = estimate(100);
    assertThat(eta.left()).isEqualTo(HOSTS);
    assertThat(eta.bottleneck()).isNotNull();
  }
}
