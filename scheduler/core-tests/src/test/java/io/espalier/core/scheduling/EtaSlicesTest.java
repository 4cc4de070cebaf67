package io.espalier.core.scheduling;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.api.view.JobEta;
import io.espalier.core.config.JobScheduling;
import io.espalier.core.config.window.Schedule;
import io.espalier.core.config.window.Window;
import io.espalier.core.config.window.WindowSyntaxException;
import io.espalier.core.forecast.EtaEstimate;
import io.espalier.core.forecast.EtaScan;
import io.espalier.core.forecast.JobPace;
import io.espalier.core.forecast.LiveWork;
import io.espalier.testkit.scheduling.ConfigFixture;
import io.espalier.testkit.scheduling.JobFixture;
import io.espalier.testkit.scheduling.TreeFixture;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The end of a job is estimated in slices, whatever the size of the tree. */
final class EtaSlicesTest {
  private static final int HOSTS = 1_000;

  private final SchedulingCore core = new SchedulingCore(3);

  private void plant() {
    plant(new JobFixture("a"));
  }

  private void plant(JobFixture a) {
    ConfigFixture config =
        new ConfigFixture("host")
            .resource("host", "slots", 2)
            .resource("host", "disk", 3)
            .job("a", a)
            .job("b", new JobFixture("b").needs("slots", 2));
    String[] hosts = new String[HOSTS];
    for (int i = 0; i < HOSTS; i++) {
      hosts[i] = "h" + i;
    }
    core.apply(config.build(), TreeFixture.of(config.levels(), hosts), 1_000);
  }

  private JobEta estimate(int units) {
    return estimate(units, 1_000, 0);
  }

  /**
   * @param windows how many windows are needed at least
   */
  private JobEta estimate(int units, long taskMillis, int windows) {
    int job = core.findJob("a");
    JobPace pace = JobPace.constant(taskMillis);
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
    EtaEstimate estimate = new EtaEstimate(new LiveWork(core), job, pace, true, scan, 1_000);
    // What a slice may visit beyond its units: the rest of a window.
    most = windows == 0 ? units : units + EtaEstimate.UNITS_PER_WINDOW;
    visited = 0;
    while (!estimate.isDone()) {
      int used = estimate.step(units);
      assertThat(used).isPositive().isLessThanOrEqualTo(most);
      visited += used;
    }
    // Nodes, twice the places of both resources, and windows.
    assertThat(visited)
        .isGreaterThanOrEqualTo(5L * HOSTS + (long) windows * EtaEstimate.UNITS_PER_WINDOW);
    return estimate.answer();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 50, 999})
  void noSliceVisitsMoreThanItMay(int units) {
    plant();
    assertThat(estimate(units)).isEqualTo(estimate(Integer.MAX_VALUE - 1_000));
  }

  /** In one minute a day, five tasks of ten seconds start one after the other. */
  @ParameterizedTest
  @ValueSource(ints = {1, 50, 999, 1_001})
  void noSliceLooksAtMoreWindowsThanItMay(int units) throws WindowSyntaxException {
    Schedule schedule = new Schedule(List.of(Window.parse("00:00-00:01 UTC")), List.of());
    plant(
        new JobFixture("a")
            .scheduling(JobScheduling.DEFAULT.with(s -> s.maxConcurrent(1).schedule(schedule))));
    JobEta eta = estimate(units, 10_000, 160);
    assertThat(eta.p50Seconds()).isBetween(160 * 86_400.0, 200 * 86_400.0);
    assertThat(eta).isEqualTo(estimate(Integer.MAX_VALUE - 2_000, 10_000, 160));
  }

  @Test
  void theAnswerNamesTheNarrowestPlace() {
    plant();
    JobEta eta = estimate(100);
    assertThat(eta.left()).isEqualTo(HOSTS);
    assertThat(eta.bottleneck()).isNotNull();
  }
}
