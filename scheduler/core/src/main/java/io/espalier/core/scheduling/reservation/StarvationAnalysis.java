package io.espalier.core.scheduling.reservation;

import java.util.Arrays;

/**
 * Determines which of some jobs the others can starve although every startable task is started. A
 * job is starved in two cases: another job uses the same resource and needs less of it; or the job
 * needs two resources, and each of them is used by jobs that need less of the other, so that both
 * are hardly ever free at the same time. The cost is the number of jobs times the square of the
 * number of resources; pairs of jobs are not compared.
 */
final class StarvationAnalysis {
  private final int resources;

  /** By two resources: the smallest need of the second among the jobs that use the first. */
  private final int[] least;

  StarvationAnalysis(int resources) {
    this.resources = resources;
    least = new int[resources * resources];
    Arrays.fill(least, Integer.MAX_VALUE);
  }

  /** Adds the needs of a job. */
  void add(int[] needs) {
    for (int a = 0; a < resources; a++) {
      for (int b = 0; needs[a] > 0 && b < resources; b++) {
        least[a * resources + b] = Math.min(least[a * resources + b], needs[b]);
      }
    }
  }

  /** Returns whether the added jobs can starve a job with these needs. */
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
