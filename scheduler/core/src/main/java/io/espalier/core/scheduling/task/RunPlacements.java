package io.espalier.core.scheduling.task;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The positions of the running tasks in one scheduling state, by their numbers in {@link
 * RunningTasks}. All data of a running task is adjacent: tasks end in any order, and separate
 * arrays would cost one cache miss each.
 */
public final class RunPlacements {
  private static final int JOB = 0;
  private static final int NODE = 1;
  private static final int WORKER = 2;

  /**
   * Offset of the index of the charges in {@link #amounts}; its lowest bit is {@link #isOfTree}.
   */
  private static final int CHARGED = 3;

  private static final int PATH = 4;

  /** The number of levels of a path. */
  private final int levels;

  private final int stride;
  private final int[] ofJob;

  /** The needs of the jobs, followed by all other charges that ever occurred. */
  private final List<int[]> amounts = new ArrayList<>();

  private final Map<List<Integer>, Integer> others = new HashMap<>();

  private final RunIndex lookup = new RunIndex();
  private int[] records = new int[0];
  private long[] orphans = new long[0];
  private int orphanCount;

  /**
   * @param needs by job: slots by resource
   * @param expected the expected number of running tasks; growing copies all data
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
   * @param job -1: unknown in this state
   * @param node -1: gone
   * @param path the node per level, -1 for none
   * @param charged slots by resource
   * @param worker the worker number, -1 for none
   * @param isOfTree whether each node of the path is the parent of the next in this state
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

  /** Returns the number of the running task of a job on a node, or -1. */
  public int find(int job, int node) {
    return lookup.find(job, node, run -> job(run) == job && node(run) == node);
  }

  /** Returns the job of a running task; -1: unknown in this state. */
  public int job(int run) {
    return records[run * stride + JOB];
  }

  public int node(int run) {
    return records[run * stride + NODE];
  }

  /** Returns the node on a level of the task's path, or -1. */
  public int node(int run, int level) {
    return records[run * stride + PATH + level];
  }

  /** Returns the number of the task's worker, or -1. */
  public int worker(int run) {
    return records[run * stride + WORKER];
  }

  public int[] amounts(int run) {
    return amounts.get(records[run * stride + CHARGED] >>> 1);
  }

  /** Returns whether each node of the task's path is the parent of the next, as far as is known. */
  public boolean isOfTree(int run) {
    return (records[run * stride + CHARGED] & 1) != 0;
  }

  /** Returns the number of running tasks of a job. */
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

  /** Returns the numbers of the orphans in ascending order. */
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
