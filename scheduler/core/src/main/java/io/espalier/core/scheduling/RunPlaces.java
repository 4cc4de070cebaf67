package io.espalier.core.scheduling;

import java.util.Arrays;

/** Where the running tasks stand in one world, by their number in the {@link RunTable}. */
final class RunPlaces {
  private static final int[] NOTHING = {};

  /** How many levels a path has. */
  private final int levels;

  private final int[] ofJob;
  private int[] jobs = new int[0];
  private int[] nodes = new int[0];
  private int[] paths = new int[0];
  private int[][] amounts = new int[0][];
  private int[] workers = new int[0];
  private long[] orphans = new long[0];
  private int orphanCount;

  RunPlaces(int levels, int jobCount) {
    this.levels = levels;
    ofJob = new int[jobCount];
  }

  /**
   * @param job -1: not known in this world
   * @param node -1: gone
   * @param path node per level, -1 for none
   * @param charged slots by resource
   * @param worker its number, -1 for none
   */
  void add(int run, int job, int node, int[] path, int[] charged, int worker) {
    if (run >= jobs.length) {
      grow(run);
    }
    jobs[run] = job;
    nodes[run] = node;
    System.arraycopy(path, 0, paths, run * levels, levels);
    amounts[run] = charged;
    workers[run] = worker;
    if (job >= 0) {
      ofJob[job]++;
    }
  }

  private void grow(int run) {
    int size = Math.max(64, Math.max(run + 1, jobs.length * 2));
    jobs = Arrays.copyOf(jobs, size);
    nodes = Arrays.copyOf(nodes, size);
    paths = Arrays.copyOf(paths, Math.multiplyExact(size, levels));
    int old = amounts.length;
    amounts = Arrays.copyOf(amounts, size);
    Arrays.fill(amounts, old, size, NOTHING);
    workers = Arrays.copyOf(workers, size);
    orphans = Arrays.copyOf(orphans, (size + 63) >>> 6);
  }

  void remove(int run) {
    if (jobs[run] >= 0) {
      ofJob[jobs[run]]--;
    }
    amounts[run] = NOTHING;
    setOrphan(run, false);
  }

  /** -1: not known in this world. */
  int job(int run) {
    return jobs[run];
  }

  int node(int run) {
    return nodes[run];
  }

  /** The node on a level of its path, or -1. */
  int node(int run, int level) {
    return paths[run * levels + level];
  }

  /** The number of its worker, or -1. */
  int worker(int run) {
    return workers[run];
  }

  int[] amounts(int run) {
    return amounts[run];
  }

  /** How many tasks of a job run. */
  int ofJob(int job) {
    return ofJob[job];
  }

  void setOrphan(int run, boolean on) {
    long bit = 1L << run;
    boolean was = (orphans[run >>> 6] & bit) != 0;
    if (was != on) {
      orphans[run >>> 6] ^= bit;
      orphanCount += on ? 1 : -1;
    }
  }

  /** Numbers of the orphans, ascending. */
  int[] orphans() {
    int[] all = new int[orphanCount];
    int n = 0;
    for (int w = 0; n < orphanCount; w++) {
      for (long bits = orphans[w]; bits != 0; bits &= bits - 1) {
        all[n++] = (w << 6) + Long.numberOfTrailingZeros(bits);
      }
    }
    return all;
  }
}
