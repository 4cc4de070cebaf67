package io.espalier.core.scheduling.task;

import io.espalier.core.outcome.JobCounts;
import io.espalier.core.scheduling.job.StatusCodes;
import io.espalier.core.scheduling.util.LongMap;
import io.espalier.core.status.Failure;
import io.espalier.core.status.TaskStatus;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/**
 * A table with one byte per task, and a status for each task that was tried, is not running and is
 * not plainly done. Counts per job and code are updated with every write, so progress and
 * histograms need no pass.
 */
public final class TaskTable {
  private static final boolean[] REMAINING = new boolean[StatusCodes.COUNT];
  private static final byte[] CLASS = new byte[StatusCodes.COUNT];

  static {
    for (int code = 0; code < REMAINING.length; code++) {
      REMAINING[code] = StatusCodes.isRemaining(code);
      CLASS[code] = (byte) tallyClass(code);
    }
  }

  /** By job and node, from the first node of the job's level. */
  private final byte[][] codes;

  private final int[] first;
  private final int[][] counts;

  /** By job: the number of changes of its counts. */
  private final int[] revisions;

  /** The number of changes of any input that determines whether jobs can make progress. */
  private long changes;

  /**
   * By job with node-by-node dependencies: the number of tasks whose status, node and dependencies
   * let them start. For other jobs the codes are sufficient. Null: no job has such dependencies.
   */
  private final int @Nullable [] startable;

  private final long[] remaining;

  /** By job and class of code: the counts that determine a job's state. */
  private final int[][] tallies;

  /** The jobs whose tally has changed since {@link #takeTouched}. */
  private final BitSet touched = new BitSet();

  /** By job; null: nobody watches its tasks. */
  private final @Nullable List<Watch>[] watches;

  /** Follows the codes of the tasks of a job. */
  interface Watch {
    /**
     * Notes a changed code.
     *
     * @param at the node, counted from the first one of the job's level
     */
    void changed(int at, int before, int after);
  }

  private final LongMap<TaskStatus> details = new LongMap<>();
  private final FailureIndex[] failures;

  /**
   * @param codes by job: one code per node of its level
   * @param first by job: the first node of its level
   * @param dependenciesMatter whether any job has node-by-node dependencies
   */
  TaskTable(byte[][] codes, int[] first, boolean dependenciesMatter) {
    this.codes = codes;
    startable = dependenciesMatter ? new int[codes.length] : null;
    this.first = first;
    counts = new int[codes.length][StatusCodes.COUNT];
    revisions = new int[codes.length];
    remaining = new long[codes.length];
    tallies = new int[codes.length][CLASSES];
    touched.set(0, codes.length);
    watches = watches(codes.length);
    failures = new FailureIndex[codes.length];
    Arrays.setAll(failures, j -> new FailureIndex());
    for (int j = 0; j < codes.length; j++) {
      for (byte code : codes[j]) {
        counts[j][code & 0xff]++;
      }
      for (int code = 0; code < StatusCodes.COUNT; code++) {
        remaining[j] += REMAINING[code] ? counts[j][code] : 0;
        tallies[j][CLASS[code]] += counts[j][code];
      }
    }
  }

  @SuppressWarnings({"unchecked", "rawtypes"}) // Java has no generic arrays
  private static @Nullable List<Watch>[] watches(int jobs) {
    return new List[jobs];
  }

  /** Begins to count a subset of the tasks of a job. */
  DoneCounts watch(int job, BitSet nodes) {
    DoneCounts counts = new DoneCounts(nodes, codes[job]);
    watch(job, counts);
    return counts;
  }

  void watch(int job, Watch watch) {
    List<Watch> others = watches[job];
    if (others == null) {
      others = new ArrayList<>();
      watches[job] = others;
    }
    others.add(watch);
  }

  void unwatch(int job, Watch watch) {
    List<Watch> others = watches[job];
    if (others != null) {
      others.removeIf(other -> other == watch);
    }
  }

  public static long key(int job, int node) {
    return (long) job << 32 | node;
  }

  public static int job(long key) {
    return (int) (key >>> 32);
  }

  public static int node(long key) {
    return (int) key;
  }

  public boolean has(int job, int node) {
    int at = node - first[job];
    return at >= 0 && at < codes[job].length;
  }

  public int code(int job, int node) {
    return codes[job][node - first[job]] & 0xff;
  }

  public int first(int job) {
    return first[job];
  }

  /** Returns the number of tasks of all jobs. */
  public long size() {
    long sum = 0;
    for (byte[] ofJob : codes) {
      sum += ofJob.length;
    }
    return sum;
  }

  /**
   * Counts the tasks in a range of nodes by state.
   *
   * @param states the state of each code
   * @param counts the counts to add to, from {@code row} on
   */
  public void tally(int job, int from, int to, byte[] states, long[] counts, int row) {
    byte[] codesOfJob = codes[job];
    int begin = from - first[job];
    int end = to - first[job];
    for (int i = begin; i < end; i++) {
      counts[row + states[codesOfJob[i] & 0xff]]++;
    }
  }

  /** Returns the exclusive end of the job's nodes. */
  public int end(int job) {
    return first[job] + codes[job].length;
  }

  /** Sets the code of a task and returns the previous one. */
  public int set(int job, int node, int code) {
    byte[] row = codes[job];
    int at = node - first[job];
    int before = row[at] & 0xff;
    row[at] = (byte) code;
    int[] count = counts[job];
    count[before]--;
    count[code]++;
    revisions[job]++;
    changes++;
    if (REMAINING[before] != REMAINING[code]) {
      remaining[job] += REMAINING[code] ? 1 : -1;
    }
    if (CLASS[before] != CLASS[code]) {
      tallies[job][CLASS[before]]--;
      tallies[job][CLASS[code]]++;
      touched.set(job);
    }
    List<Watch> counting = watches[job];
    if (counting != null) {
      counting.forEach(counts -> counts.changed(at, before, code));
    }
    return before;
  }

  private static final int UNTRIED = 0;
  private static final int LEFT = 1;
  private static final int DONE = 2;
  private static final int FAILED = 3;
  private static final int CANCELLED = 4;

  /** The task is running, or on a node that does not count. */
  private static final int OTHER = 5;

  private static final int CLASSES = 6;

  private static int tallyClass(int code) {
    TaskStatus.Main main = StatusCodes.main(code);
    if (main == TaskStatus.Main.RUNNING || StatusCodes.effect(code) != StatusCodes.OPEN) {
      return OTHER;
    }
    return switch (main) {
      case UNSTARTED -> UNTRIED;
      case DONE -> DONE;
      case FAILED -> FAILED;
      case CANCELLED -> CANCELLED;
      case INCOMPLETE, ERROR, RUNNING -> LEFT;
    };
  }

  /**
   * Returns the counts that determine the job's state.
   *
   * @param running the number of running tasks, wherever they are
   */
  public JobCounts tally(int job, int running) {
    int[] of = tallies[job];
    return new JobCounts(of[UNTRIED], of[LEFT], running, of[DONE], of[FAILED], of[CANCELLED]);
  }

  /**
   * Marks a job whose state must be re-evaluated.
   *
   * @param job -1: none
   */
  public void touch(int job) {
    if (job >= 0) {
      touched.set(job);
      changes++;
    }
  }

  /** Counts a task whose dependencies have started or ceased to let it start. */
  public void startable(int job, int node, boolean on) {
    if (startable != null && StatusCodes.effect(code(job, node)) == StatusCodes.OPEN) {
      startable[job] += on ? 1 : -1;
      revisions[job]++;
      changes++;
    }
  }

  /**
   * Returns, for a job with node-by-node dependencies, the number of tasks that these let start.
   */
  public int startable(int job) {
    return startable == null ? 0 : startable[job];
  }

  /** Records another change that may affect whether jobs can make progress. */
  public void changed() {
    changes++;
  }

  /**
   * Returns a revision that changes whenever jobs may have become able or unable to make progress.
   */
  public long changes() {
    return changes;
  }

  /** Takes at most {@code limit} of the jobs whose state may have changed. */
  public int[] takeTouched(int limit) {
    if (touched.isEmpty()) {
      return NONE;
    }
    int[] taken = touched.stream().limit(limit).toArray();
    for (int job : taken) {
      touched.clear(job);
    }
    return taken;
  }

  public boolean isTouched() {
    return !touched.isEmpty();
  }

  private static final int[] NONE = {};

  public int revision(int job) {
    return revisions[job];
  }

  public int count(int job, int code) {
    return counts[job][code];
  }

  /** Returns the number of tasks with codes of a kind. */
  public long counted(int job, IntPredicate kind) {
    long sum = 0;
    for (int code = 0; code < StatusCodes.COUNT; code++) {
      sum += counts[job][code] > 0 && kind.test(code) ? counts[job][code] : 0;
    }
    return sum;
  }

  public long remaining(int job) {
    return remaining[job];
  }

  /**
   * Returns the stored status of a task; also null for a running task, see {@link TaskStatuses#of}.
   */
  public @Nullable TaskStatus detail(int job, int node) {
    return details.get(key(job, node));
  }

  /** Stores the status of a task that has none stored. */
  public void addDetail(int job, int node, TaskStatus status) {
    Failure failure = status.failure();
    details.put(
        key(job, node), failure == null ? status : failures[job].add(node, status, failure));
  }

  void removeDetail(int job, int node) {
    FailureIndex failed = failures[job];
    TaskStatus before = failed.isEmpty() ? null : details.get(key(job, node));
    Failure failure = before == null ? null : before.failure();
    if (before != null && failure != null) {
      failed.remove(before, failure);
    }
    details.remove(key(job, node));
  }

  public FailureIndex failures(int job) {
    return failures[job];
  }

  public LongMap<TaskStatus> details() {
    return details;
  }

  public long byteSize() {
    long size = 0;
    for (byte[] row : codes) {
      size += row.length;
    }
    return size;
  }
}
