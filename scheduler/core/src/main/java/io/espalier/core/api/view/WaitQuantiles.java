package io.espalier.core.api.view;

/**
 * How long the tasks of a job that this scheduler process has placed were eligible before, where
 * newer ones weigh more.
 *
 * @param p50Seconds half of them waited no longer; negative: none was placed
 * @param p95Seconds 95 percent waited no longer; negative: none was placed
 */
public record WaitQuantiles(double p50Seconds, double p95Seconds) {
  /** The waits of a job that has not placed a task. */
  public static final WaitQuantiles NONE = new WaitQuantiles(-1, -1);

  /** Returns whether any task was placed. */
  public boolean isKnown() {
    return p50Seconds >= 0;
  }
}
