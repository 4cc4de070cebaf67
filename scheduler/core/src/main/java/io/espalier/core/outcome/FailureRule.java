package io.espalier.core.outcome;

import io.espalier.core.config.task.OutcomeRules;
import org.jspecify.annotations.Nullable;

/**
 * Evaluates {@code fail_job_when} (docs/design/features.md#rules-that-end-a-job). It counts
 * permanently failed tasks, not attempts. A job fails with {@code failed_tasks} failed tasks or
 * more, or with more than {@code failed_pct} percent of the ended tasks, once {@code min_samples}
 * have ended.
 */
public final class FailureRule {
  private FailureRule() {}

  /**
   * Evaluates counts.
   *
   * @param ended number of done and failed tasks
   * @return why the job has failed, with the numbers; null when it has not
   */
  public static @Nullable String broken(OutcomeRules rules, long failed, long ended) {
    if (rules.failedTasks().isPresent() && failed >= rules.failedTasks().getAsInt()) {
      return counts(rules, failed, ended)
          + (rules.failedTasks().getAsInt() == 1
              ? ", none may"
              : ", the job fails with " + rules.failedTasks().getAsInt());
    }
    if (rules.failedPercent().isPresent()
        && failed > 0
        && ended >= rules.minSamples()
        && Percent.isMoreThan(failed, ended, rules.failedPercent().getAsDouble())) {
      return counts(rules, failed, ended)
          + ", "
          + Percent.text(rules.failedPercent().getAsDouble())
          + " allowed";
    }
    return null;
  }

  private static String counts(OutcomeRules rules, long failed, long ended) {
    return failed
        + " of "
        + ended
        + (ended == 1 ? " ended task" : " ended tasks")
        + rules.window().map(window -> " of the last " + seconds(window.toSeconds())).orElse("")
        + " failed";
  }

  private static String seconds(long seconds) {
    if (seconds % 3600 == 0) {
      return seconds == 3600 ? "hour" : seconds / 3600 + " hours";
    }
    if (seconds % 60 == 0) {
      return seconds == 60 ? "minute" : seconds / 60 + " minutes";
    }
    return seconds + " seconds";
  }
}
