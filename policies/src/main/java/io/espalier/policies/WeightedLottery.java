package io.espalier.policies;

/**
 * Draws one item with a probability of its weight over the sum of all weights. A tree of partial
 * sums makes draws and changes take logarithmic time. No weight is ever subtracted from a sum, so
 * rounding errors do not accumulate.
 */
final class WeightedLottery {
  private final int leaves;
  private final double[] sums;

  /**
   * @param weights finite, 0 or more
   */
  WeightedLottery(double[] weights) {
    leaves = Math.max(1, Integer.highestOneBit(Math.max(1, weights.length - 1)) << 1);
    sums = new double[2 * leaves];
    System.arraycopy(weights, 0, sums, leaves, weights.length);
    for (int i = leaves - 1; i > 0; i--) {
      sums[i] = sums[2 * i] + sums[2 * i + 1];
    }
  }

  double total() {
    return sums[1];
  }

  double weight(int at) {
    return sums[leaves + at];
  }

  void setWeight(int at, double weight) {
    int i = leaves + at;
    sums[i] = weight;
    for (i >>>= 1; i > 0; i >>>= 1) {
      sums[i] = sums[2 * i] + sums[2 * i + 1];
    }
  }

  /**
   * Returns the item at a point of the total, which must be more than 0.
   *
   * @param fraction fraction of the total, from 0 to less than 1
   */
  int draw(double fraction) {
    double point = fraction * sums[1];
    int i = 1;
    while (i < leaves) {
      i *= 2;
      // Rounding may leave a remainder, which must not select an item without weight.
      if ((point >= sums[i] || sums[i] == 0) && sums[i + 1] > 0) {
        point -= sums[i];
        i++;
      }
    }
    return i - leaves;
  }
}
