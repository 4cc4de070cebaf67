package io.espalier.core.scheduling.task;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Where the running tasks stand in one world, by their number in the {@link RunningTasks}. All that
 * is known of one lies side by side: tasks end in no order, and each would miss the cache once per
 * array.
 */
public final class RunPlacements {
  private static final int JOB = 0;
  private static final int NODE = 1;
  private static final int WORKER = 2;

  /**
   * What is charged, by its place in {@link #amounts}, and in the lowest bit whether of the tree.
   */
  private static final int CHARGED = 3;

  private static final int PATH = 4;

  /** How many levels a path has. */
  private final int levels;

  private final int stride;
  private final int[] ofJob;

  /** The needs of the jobs, and what else was ever charged. */
  private final List<int[]> amounts = new ArrayList<>();

  private final Map<List<Integer>, Integer> others = new HashMap<>();

  private final RunIndex lookup = new RunIndex();
  private int[] records = new int[0];
  private long[] orphans = new long[0];
  private int orphanCount;

  /**
   * @param needs by job: slots by resource
   * @param expected about how many there will be: growing copies them all
   */
  public RunPlacements(int levels, int[][] needs, int expected) {
    this.levels = levels;
    stride = PATH + levels;
    ofJob = new int[needs.length];
    amounts.addAll(Arrays.asList(needs));
    if (expected > 0) {
      grow(expected);
    }
  }

  /**
   * @param job -1: not known in this world
   * @param node -1: gone
   * @param path node per level, -1 for none
   * @param charged slots by resource
   * @param worker its number, -1 for none
   * @param isOfTree whether each node of the path is the parent of the next in this world
   */
  public void add(
      int run, int job, int node, int[] path, int[] charged, int worker, boolean isOfTree) {
    int at = run * stride;
    if (at + stride > records.length) {
      grow(run);
    }
    records[at + JOB] = job;
    records[at + NODE] = node;
    records[at + WORKER] = worker;
    records[at + CHARGED] = chargedAt(job, charged) << 1 | (isOfTree ? 1 : 0);
    System.arraycopy(path, 0, records, at + PATH, levels);
    if (job >= 0) {
      ofJob[job]++;
      if (node >= 0) {
        lookup.add(job, node, run);
      }
    }
  }

  private int chargedAt(int job, int[] charged) {
    if (job >= 0 && (amounts.get(job) == charged || Arrays.equals(amounts.get(job), charged))) {
      return job;
    }
    return others.computeIfAbsent(
        Arrays.stream(charged).boxed().toList(),
        key -> {
          amounts.add(charged.clone());
          return amounts.size() - 1;
        });
  }

  private void grow(int run) {
    int size = Math.max(64, Math.max(run + 1, records.length / stride * 2));
    records = Arrays.copyOf(records, Math.multiplyExact(size, stride));
    orphans = Arrays.copyOf(orphans, (size + 63) >>> 6);
  }

  public void remove(int run) {
    int job = job(run);
    if (job >= 0) {
      ofJob[job]--;
      if (node(run) >= 0) {
        lookup.remove(job, node(run), run);
      }
    }
    setOrphan(run, false);
  }

  /** The number of the running task of a job on a node, or -1. */
  public int find(int job, int node) {
    return lookup.find(job, node, run -> job(run) == job && node(run) == node);
  }

  /** -1: not known in this world. */
  public int job(int run) {
    return records[run * stride + JOB];
  }

  public int node(int run) {
    return records[run * stride + NODE];
  }

  /** The node on a level of its path, or -1. */
  public int node(int run, int level) {
    return records[run * stride + PATH + level];
  }

  /** The number of its worker, or -1. */
  public int worker(int run) {
    return records[run * stride + WORKER];
  }

  public int[] amounts(int run) {
    return amounts.get(records[run * stride + CHARGED] >>> 1);
  }

  /** Whether each node of its path is the parent of the next, as far as is known. */
  public boolean isOfTree(int run) {
    return (records[run * stride + CHARGED] & 1) != 0;
  }

  /** How many tasks of a job run. */
  public int ofJob(int job) {
    return ofJob[job];
  }

  public void setOrphan(int run, boolean on) {
    long bit = 1L << run;
    boolean was = (orphans[run >>> 6] & bit) != 0;
    if (was != on) {
      orphans[run >>> 6] ^= bit;
      orphanCount += on ? 1 : -1;
    }
  }

  /** Numbers of the orphans, ascending. */
  public int[] orphans() {
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
