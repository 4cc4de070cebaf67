package io.espalier.core.config.rollout;

import io.espalier.core.json.Json;

/**
 * How many tasks a stage and those before it have together.
 *
 * @param amount a number of tasks, or a percentage of all; above 0
 * @param isPercent whether it is a percentage
 */
public record RolloutStage(double amount, boolean isPercent) {
  /** Everything: what the last stage must be. */
  public static final RolloutStage ALL = new RolloutStage(100, true);

  /** Returns the number of tasks if there are {@code total}; a share is rounded up. */
  public long of(long total) {
    return Math.min(total, isPercent ? (long) Math.ceil(total * amount / 100) : (long) amount);
  }

  /** Returns it as in the configuration, such as {@code 10} or {@code 1%}. */
  public String text() {
    return isPercent ? Json.of(amount) + "%" : Long.toString((long) amount);
  }
}
