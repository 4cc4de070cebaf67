package io.espalier.core.rollout;

import io.espalier.core.config.rollout.RolloutSpec;
import io.espalier.core.outcome.Percent;
import org.jspecify.annotations.Nullable;

/**
 * The verdict about the open stage of a roll-out. While tasks of the stage are left, fewer than
 * {@code min_samples} prove nothing; when all have ended, it is judged by what there is.
 */
public final class RolloutRules {
  private RolloutRules() {}

  /**
   * Returns which check has failed, with the numbers; null: none has.
   *
   * @param hasLeft whether tasks of the stage are left
   * @param samples how many durations there are
   * @param p95Millis their 95th percentile
   */
  public static @Nullable String failure(
      RolloutSpec spec, Rollout rollout, boolean hasLeft, int samples, long p95Millis) {
    boolean counts = !hasLeft || rollout.counted() >= spec.minSamples();
    if (counts
        && spec.failedPercent().isPresent()
        && rollout.failed() > 0
        && Percent.isMoreThan(
            rollout.failed(), rollout.counted(), spec.failedPercent().getAsDouble())) {
      return rollout.failed()
          + " of "
          + rollout.counted()
          + (rollout.counted() == 1 ? " task" : " tasks")
          + " failed, "
          + Percent.text(spec.failedPercent().getAsDouble())
          + " allowed";
    }
    boolean measured = samples > 0 && (!hasLeft || samples >= spec.minSamples());
    if (measured
        && spec.maxP95Ratio().isPresent()
        && rollout.p95Millis() > 0
        && p95Millis > spec.maxP95Ratio().getAsDouble() * rollout.p95Millis()) {
      return "the 95th percentile of the durations is "
          + seconds(p95Millis)
          + " s, it was "
          + seconds(rollout.p95Millis())
          + " s in the stages before";
    }
    return null;
  }

  private static String seconds(long millis) {
    return millis >= 10_000
        ? Long.toString(millis / 1000)
        : millis / 1000 + "." + millis / 100 % 10;
  }
}
