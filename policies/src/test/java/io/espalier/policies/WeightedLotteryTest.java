package io.espalier.policies;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.api.Test;

final class WeightedLotteryTest {
  @Test
  void eachPointBelongsToTheOneWhoseWeightItLiesIn() {
    WeightedLottery lottery = new WeightedLottery(new double[] {1, 0, 2, 0, 1});
    assertThat(lottery.total()).isEqualTo(4);
    assertThat(lottery.draw(0)).isEqualTo(0);
    assertThat(lottery.draw(0.24)).isEqualTo(0);
    assertThat(lottery.draw(0.25)).isEqualTo(2);
    assertThat(lottery.draw(0.74)).isEqualTo(2);
    assertThat(lottery.draw(0.75)).isEqualTo(4);
    assertThat(lottery.draw(Math.nextDown(1.0))).isEqualTo(4);
    lottery.setWeight(2, 0);
    assertThat(lottery.draw(0.49)).isEqualTo(0);
    assertThat(lottery.draw(0.5)).isEqualTo(4);
  }

  @Test
  void whoHasNoWeightIsNeverDrawnHoweverManyWereTakenOut() {
    Random random = new Random(9);
    double[] weights = random.doubles(1_000).toArray();
    WeightedLottery lottery = new WeightedLottery(weights);
    for (int i = 0; i < weights.length; i++) {
      assertThat(lottery.total()).isPositive();
      int drawn = lottery.draw(random.nextDouble());
      assertThat(lottery.weight(drawn)).isPositive();
      lottery.setWeight(drawn, 0);
    }
    assertThat(lottery.total()).isZero();
  }

  @Test
  void oneAndNoneAreNoSpecialCases() {
    assertThat(new WeightedLottery(new double[0]).total()).isZero();
    assertThat(new WeightedLottery(new double[] {0.5}).draw(0.99)).isZero();
  }
}
