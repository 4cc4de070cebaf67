package io.espalier.core.scheduling.task;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

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
  private int[][] amounts;

  private final Map<List<Integer>, Integer> others = new HashMap<>();

  /** Null while nobody asks for running tasks by job and node: it would cost two misses a task. */
  private @Nullable RunIndex lookup;

  /** The number of starts and ends since somebody asked. */
  private int unasked;

  /** The number of entries that were added to the index or removed from it. */
  private long work;

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
    amounts = needs.clone();
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
    for (int level = 0; level < levels; level++) {
      records[at + PATH + level] = path[level];
    }
    if (job >= 0) {
      ofJob[job]++;
      if (lookup != null && node >= 0 && isAsked()) {
        work++;
        lookup.add(job, node, run);
      }
    }
  }

  /**
   * Drops the index when keeping it up to date has cost as much as building it again; returns
   * whether it is still there.
   */
  private boolean isAsked() {
    if (unasked++ > 2 * capacity()) {
      lookup = null;
    }
    return lookup != null;
  }

  private int capacity() {
    return records.length / stride;
  }

  private int chargedAt(int job, int[] charged) {
    if (job >= 0 && (amounts[job] == charged || Arrays.equals(amounts[job], charged))) {
      return job;
    }
    return others.computeIfAbsent(
        Arrays.stream(charged).boxed().toList(),
        key -> {
          amounts = Arrays.copyOf(amounts, amounts.length + 1);
          amounts[amounts.length - 1] = charged.clone();
          return amounts.length - 1;
        });
  }

  private void grow(int run) {
    int before = records.length;
    int size = Math.max(64, Math.max(run + 1, capacity() * 2));
    records = Arrays.copyOf(records, Math.multiplyExact(size, stride));
    Arrays.fill(records, before, records.length, -1);
    orphans = Arrays.copyOf(orphans, (size + 63) >>> 6);
  }

  public void remove(int run) {
    int job = job(run);
    if (job >= 0) {
      ofJob[job]--;
      if (lookup != null && node(run) >= 0 && isAsked()) {
        work++;
        lookup.remove(job, node(run), run);
      }
    }
    records[run * stride + JOB] = -1;
    if (orphanCount > 0) {
      setOrphan(run, false);
    }
  }

  /**
   * Returns the number of the running task of a job on a node, or -1. Takes constant time while
   * somebody asks often enough; otherwise a pass over all running tasks.
   */
  public int find(int job, int node) {
    unasked = 0;
    RunIndex index = lookup;
    if (index == null) {
      index = built();
      lookup = index;
    }
    return index.find(job, node, run -> job(run) == job && node(run) == node);
  }

  private RunIndex built() {
    RunIndex index = new RunIndex();
    for (int run = 0; run < capacity(); run++) {
      if (job(run) >= 0 && node(run) >= 0) {
        work++;
        index.add(job(run), node(run), run);
      }
    }
    return index;
  }

  /** Returns how many entries were added to the index or removed from it. */
  public long work() {
    return work;
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
    return amounts[records[run * stride + CHARGED] >>> 1];
  }

  /** Changes what a running task is charged, in slots by resource. */
  public void setAmounts(int run, int[] charged) {
    records[run * stride + CHARGED] = chargedAt(job(run), charged) << 1 | (isOfTree(run) ? 1 : 0);
  }

  /** Returns whether a running task is charged on any node. */
  public boolean isPlaced(int run) {
    for (int level = 0; level < levels; level++) {
      if (node(run, level) >= 0) {
        return true;
      }
    }
    return false;
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
