package io.espalier.core.scheduling.reservation;

import java.util.Arrays;

/**
 * Who of some jobs can be starved by the others although everything that may start is started: who
 * needs more of a resource than another one that takes some of it; or who needs two resources of
 * which one is taken by jobs that do with less of the other, and the other way round, so that the
 * two are hardly ever free at once. Costs jobs times resources squared, never pairs of jobs.
 */
final class StarvationAnalysis {
  private final int resources;

  /**
   * Per resource and resource: the least that anybody who takes of the first needs of the second.
   */
  private final int[] least;

  StarvationAnalysis(int resources) {
    this.resources = resources;
    least = new int[resources * resources];
    Arrays.fill(least, Integer.MAX_VALUE);
  }

  /** There is a job with such needs. */
  void add(int[] needs) {
    for (int a = 0; a < resources; a++) {
      for (int b = 0; needs[a] > 0 && b < resources; b++) {
        least[a * resources + b] = Math.min(least[a * resources + b], needs[b]);
      }
    }
  }

  /** Whether those that were added can starve a job with such needs. */
  boolean isStarved(int[] needs) {
    for (int a = 0; a < resources; a++) {
      for (int b = 0; needs[a] > 0 && b < resources; b++) {
        if (isTakenWithLess(a, b, needs) && isTakenWithLess(b, a, needs)) {
          return true;
        }
      }
    }
    return false;
  }

  private boolean isTakenWithLess(int taken, int less, int[] needs) {
    return least[taken * resources + less] < needs[less];
  }
}
