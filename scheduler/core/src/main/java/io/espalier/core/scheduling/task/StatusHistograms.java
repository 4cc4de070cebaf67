package io.espalier.core.scheduling.task;

import io.espalier.core.api.view.Histogram;
import io.espalier.core.scheduling.job.JobTable;
import io.espalier.core.scheduling.job.StatusCodes;
import io.espalier.core.topology.Topology;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Counts tasks by status for histograms (docs/design/bistro.md#histograms). On the task level a
 * histogram is the counts per code. Each node above has the OR of the bits of all tasks below it.
 * These bits are stored per node from the first histogram of a job on; a change of a task marks its
 * ancestors dirty, and the next query recomputes the dirty nodes (docs/design/design.md#questions).
 * When no query has come for as many changes as there are nodes, the bits are dropped: then the
 * marks have cost as much as the pass that computes them again.
 */
public final class StatusHistograms {
  private static final int MOST_PASSES = 4;

  /**
   * The number of combinations of status bits while no task is cancelled
   * (docs/design/bistro.md#status-bits).
   */
  private static final int COMBINATIONS = 4096;

  /** The maximum number of nodes to visit to find the samples of one bucket. */
  private static final int SAMPLE_EFFORT = 200_000;

  private static final int[] BITS = new int[StatusCodes.COUNT];

  static {
    for (int code = 0; code < BITS.length; code++) {
      BITS[code] = StatusCodes.bits(code);
    }
  }

  private final Topology topology;
  private final JobTable jobs;
  private final TaskTable tasks;
  private final int words;
  private final long[] watched;

  /**
   * The dirty jobs, as bits, of each node above the lowest level; empty before the first histogram.
   */
  private long[] dirty = new long[0];

  private final short[] @Nullable [] rows;
  private final int[] @Nullable [][] counts;
  private int effort;

  /** The number of nodes that the current refresh may still visit. */
  private long left;

  /** Whether the current refresh stopped because it reached its budget. */
  private boolean isCut;

  private boolean hasProgress;

  /** By job: the number of changes since the last query. */
  private final int[] unasked;

  /** By job: the nodes visited since its rows were last completely up to date. */
  private final long[] spent;

  public StatusHistograms(Topology topology, JobTable jobs, TaskTable tasks) {
    this.topology = topology;
    this.jobs = jobs;
    this.tasks = tasks;
    words = jobs.words;
    watched = new long[words];
    rows = new short[jobs.count()] @Nullable [];
    counts = new int[jobs.count()] @Nullable [][];
    spent = new long[jobs.count()];
    unasked = new int[jobs.count()];
  }

  /** Marks the ancestors of a task whose bits have changed. */
  void touch(int job, int node) {
    long bit = 1L << job;
    if ((watched[job >>> 6] & bit) == 0) {
      return;
    }
    if (unasked[job]++ < topology.size()) {
      mark(node, job >>> 6, bit);
    } else {
      watched[job >>> 6] &= ~bit;
      rows[job] = null;
      counts[job] = null;
    }
  }

  /** Returns whether changes of a job's tasks are marked for the next query. */
  public boolean isWatched(int job) {
    return rows[job] != null;
  }

  private void mark(int node, int word, long bit) {
    int slotCount = topology.slotCount(node);
    for (int i = 0; i < slotCount; i++) {
      int parent = topology.parent(topology.slot(node, i));
      if (parent >= 0 && (dirty[parent * words + word] & bit) == 0) {
        dirty[parent * words + word] |= bit;
        mark(parent, word, bit);
      }
    }
  }

  /**
   * Does a part of the work of {@link #histogram} in advance. When tasks change faster than slices
   * can follow, the slices would never finish; so once they have cost several full passes, the rest
   * is done at once.
   *
   * @param units about how many nodes to visit
   * @return the number of nodes visited; when it is less than {@code units}, everything is up to
   *     date
   */
  public long prepare(int job, long units) {
    int taskLevel = jobs.levels[job];
    if (taskLevel <= 0) {
      return 0;
    }
    // The first call marks all nodes above the tasks. This is quick, because they are few.
    short[] row = row(job, taskLevel);
    long most = spent[job] > (long) MOST_PASSES * topology.size() ? Long.MAX_VALUE : units;
    left = most;
    isCut = false;
    hasProgress = false;
    refresh(job, taskLevel, row, counts(job, taskLevel));
    long used = most - left;
    left = Long.MAX_VALUE;
    spent[job] = isCut ? spent[job] + used : 0;
    return isCut ? Math.max(used, units) : Math.min(used, units - 1);
  }

  public Histogram histogram(int job, int samples) {
    left = Long.MAX_VALUE;
    Map<String, Map<Integer, Histogram.Bucket>> levels = new LinkedHashMap<>();
    int taskLevel = jobs.levels[job];
    if (taskLevel >= 0) {
      short[] row = row(job, taskLevel);
      int[][] count = counts(job, taskLevel);
      refresh(job, taskLevel, row, count);
      for (int level = 0; level < taskLevel; level++) {
        levels.put(topology.levels().name(level), upperLevel(row, count[level], level, samples));
      }
      levels.put(topology.levels().name(taskLevel), taskLevel(job, row, samples));
    }
    return new Histogram(jobs.name(job), levels);
  }

  private int[][] counts(int job, int taskLevel) {
    int[][] count = counts[job];
    if (count == null) {
      count = new int[taskLevel][COMBINATIONS];
      counts[job] = count;
    }
    return count;
  }

  private short[] row(int job, int taskLevel) {
    unasked[job] = 0;
    short[] row = rows[job];
    if (row == null) {
      int above = topology.levelStart(taskLevel);
      row = new short[above];
      rows[job] = row;
      watched[job >>> 6] |= 1L << job;
      if (dirty.length < above * words) {
        dirty = Arrays.copyOf(dirty, above * words);
      }
      for (int node = 0; node < above; node++) {
        dirty[node * words + (job >>> 6)] |= 1L << job;
      }
    }
    return row;
  }

  /** Recomputes the dirty rows of a job. */
  private void refresh(int job, int taskLevel, short[] row, int[][] count) {
    int all = 0;
    for (int code = 0; code < StatusCodes.COUNT; code++) {
      all |= tasks.count(job, code) > 0 ? BITS[code] : 0;
    }
    if (taskLevel > 0) {
      refresh(0, 0, job, taskLevel, row, count, all);
    }
  }

  private int refresh(
      int node, int level, int job, int taskLevel, short[] row, int[][] count, int all) {
    int at = node * words + (job >>> 6);
    int before = row[node];
    if ((dirty[at] & 1L << job) == 0) {
      return before;
    }
    // Even with no budget left, one node is completed; otherwise the slices might never finish.
    if (left <= 0 && hasProgress) {
      isCut = true;
      return before;
    }
    left--;
    boolean cutBefore = isCut;
    isCut = false;
    int bits = 0;
    int end = topology.childEnd(node);
    int taskStart = topology.levelStart(taskLevel);
    for (int slot = topology.childStart(node); slot < end; slot++) {
      int child = topology.node(slot);
      if (child < taskStart) {
        int childLevel = level + 1;
        while (child >= topology.levelEnd(childLevel)) {
          childLevel++;
        }
        bits |= refresh(child, childLevel, job, taskLevel, row, count, all);
      } else if (tasks.has(job, child)) {
        left--;
        bits |= BITS[tasks.code(job, child)];
        // Further tasks cannot add bits. Other levels may hide a child that is still dirty.
        if (bits == all && level == taskLevel - 1) {
          break;
        }
      }
    }
    if (isCut) {
      // Some children are not up to date: the node stays dirty and is visited again.
      return before;
    }
    isCut = cutBefore;
    hasProgress = true;
    dirty[at] &= ~(1L << job);
    if (bits != before) {
      count[level][before]--;
      if (bits >= count[level].length) {
        count[level] = Arrays.copyOf(count[level], 2 * COMBINATIONS);
      }
      count[level][bits]++;
      row[node] = (short) bits;
    }
    return bits;
  }

  private Map<Integer, Histogram.Bucket> upperLevel(
      short[] row, int[] count, int level, int samples) {
    Map<Integer, List<String>> names = new TreeMap<>();
    int wanted = 0;
    for (int bits = 1; bits < count.length; bits++) {
      if (count[bits] > 0) {
        names.put(bits, new ArrayList<>());
        wanted += Math.min(samples, count[bits]);
      }
    }
    int end = Math.min(row.length, topology.levelEnd(level));
    int left = SAMPLE_EFFORT;
    for (int node = topology.levelStart(level); node < end && wanted > 0 && left-- > 0; node++) {
      List<String> some = row[node] == 0 ? null : names.get((int) row[node]);
      if (some != null && some.size() < samples) {
        some.add(topology.name(node));
        wanted--;
      }
    }
    Map<Integer, Histogram.Bucket> buckets = new TreeMap<>();
    names.forEach((bits, some) -> buckets.put(bits, new Histogram.Bucket(count[bits], some)));
    return buckets;
  }

  private Map<Integer, Histogram.Bucket> taskLevel(int job, short[] row, int samples) {
    Map<Integer, Histogram.Bucket> buckets = new TreeMap<>();
    for (int code = 0; code < StatusCodes.COUNT; code++) {
      int count = tasks.count(job, code);
      if (count > 0) {
        List<String> names = new ArrayList<>();
        effort = SAMPLE_EFFORT;
        if (samples > 0) {
          findSamples(0, job, code, row, Math.min(samples, count), names);
        }
        buckets.put(BITS[code], new Histogram.Bucket(count, names));
      }
    }
    return buckets;
  }

  /** Follows the bits of the rows down to tasks with a given code. */
  private void findSamples(
      int node, int job, int code, short[] row, int wanted, List<String> names) {
    if (tasks.has(job, node)) {
      if (tasks.code(job, node) == code) {
        String name = topology.name(node);
        if (!names.contains(name)) {
          names.add(name);
        }
      }
      return;
    }
    if (node >= row.length || (row[node] & BITS[code]) != BITS[code]) {
      return;
    }
    int end = topology.childEnd(node);
    for (int slot = topology.childStart(node); slot < end; slot++) {
      if (names.size() >= wanted || effort-- <= 0) {
        return;
      }
      findSamples(topology.node(slot), job, code, row, wanted, names);
    }
  }
}
