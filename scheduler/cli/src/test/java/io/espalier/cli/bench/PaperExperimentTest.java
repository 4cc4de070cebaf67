package io.espalier.cli.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.espalier.policies.RoundRobinPolicy;
import io.espalier.server.app.Plugins;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class PaperExperimentTest {
  private static List<PaperResult> run(PaperFigure figure, double scale, long seed) {
    PaperExperiment experiment = new PaperExperiment(WorkClock.Kind.NONE, seed, true);
    List<PaperResult> results = new ArrayList<>();
    figure.points(scale).forEach(point -> results.add(experiment.run(point)));
    return results;
  }

  @ParameterizedTest
  @EnumSource(PaperFigure.class)
  void aSchedulerThatTakesNoTimeKeepsEverySlotInUse(PaperFigure figure) {
    assertThat(run(figure, 0.001, 1))
        .isNotEmpty()
        .allSatisfy(result -> assertThat(result.used()).isCloseTo(1, within(1e-9)));
  }

  @ParameterizedTest
  @EnumSource(PaperFigure.class)
  void theSeedAloneDecidesTheResult(PaperFigure figure) {
    List<PaperResult> first = run(figure, 0.001, 5);
    assertThat(run(figure, 0.001, 5)).isEqualTo(first);
    assertThat(run(figure, 0.001, 6)).isNotEqualTo(first);
  }

  @Test
  void throughputIsThePossibleOneButForChance() {
    PaperPoint point = new PaperPoint("a", 1, 2_000, 10, 1, -1);
    PaperResult result = new PaperExperiment(WorkClock.Kind.NONE, 1, true).run(point);
    assertThat(result.throughput()).isCloseTo(1, within(0.01));
    assertThat(result.endedPerSecond()).isCloseTo(4_000, within(40.0));
    assertThat(result.headroom()).isZero();
  }

  @Test
  void statusesDoNotChangeWhatIsPlaced() {
    PaperPoint point = new PaperPoint("a", 1, 40, 10, 1, -1);
    assertThat(new PaperExperiment(WorkClock.Kind.NONE, 1, false).run(point))
        .isEqualTo(new PaperExperiment(WorkClock.Kind.NONE, 1, true).run(point));
  }

  @Test
  void aGlobalResourceIsTurnedOverAsOftenAsWanted() {
    PaperPoint point = new PaperPoint("d", 100, 1_200, 5, 5, 100);
    PaperResult result = new PaperExperiment(WorkClock.Kind.NONE, 1, true).run(point);
    // A little less: its tasks also wait for a slot on a host.
    assertThat(result.turnovers()).isBetween(85.0, 105.0);
    assertThat(result.used()).isGreaterThan(0.9999);
  }

  @Test
  void aSchedulerThatIsTooSlowLosesThroughput() {
    PaperPoint point = new PaperPoint("a", 1, 400, 5, 0.5, -1);
    PaperWorld world = PaperWorld.of(point, Plugins.load());
    // Each slice takes half a second: a slot that becomes free waits for longer than a task takes.
    WorkClock slow =
        new WorkClock() {
          private long reading;

          @Override
          public long nanos() {
            reading += 500_000_000L;
            return reading;
          }

          @Override
          public long overheadNanos() {
            return 0;
          }
        };
    PaperResult result = new VirtualRun(point, world, new RoundRobinPolicy(), slow, 1, true).run();
    assertThat(result.used()).isLessThan(0.6);
    assertThat(result.headroom()).isLessThan(1.1);
  }

  @Test
  void theFiguresHaveThePointsOfThePaper() {
    assertThat(PaperFigure.A.points(1)).hasSize(10).allMatch(point -> point.leaves() == 3_000_000);
    assertThat(PaperFigure.B.points(1)).hasSize(10).last().matches(p -> p.leaves() == 10_000_000);
    assertThat(PaperFigure.C.points(1)).extracting(PaperPoint::jobs).startsWith(1).endsWith(10);
    assertThat(PaperFigure.D.points(1)).allMatch(point -> point.leaves() == 300_000);
    assertThat(PaperFigure.D.points(1)).last().matches(point -> point.turnovers() == 10_000);
  }
}
