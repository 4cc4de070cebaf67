package io.espalier.core.scheduling.query;

import io.espalier.core.api.view.TaskCounts;
import io.espalier.core.scheduling.job.StatusCodes;
import io.espalier.core.scheduling.state.SchedulingState;
import io.espalier.core.status.TaskStatus.Main;
import io.espalier.core.topology.Topology;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;

/**
 * Counts the tasks in a subtree by state, in slices. When every node has one parent and nodes are
 * numbered like their edges, the nodes at each distance from the root form a range and are read
 * sequentially. Otherwise the subtree is walked, and a node with several parents is counted once
 * for each edge.
 *
 * <p>{@code TaskQueries.counts} creates it; use it on the thread of the core.
 */
public final class SubtreeCountScan {
  private static final int STATES = 7;
  private static final int DONE = 0;
  private static final int FAILED = 1;
  private static final int RUNNING = 2;
  private static final int WAITING = 3;
  private static final int READY = 4;
  private static final int BLOCKED = 5;
  private static final int CANCELLED = 6;
  private static final int NONE = 7;

  /** By code: the state, for jobs whose tasks may start. */
  private static final byte[] STATE = new byte[StatusCodes.COUNT];

  /** By code: the state, for jobs whose tasks may not start. */
  private static final byte[] STATE_BLOCKED = new byte[StatusCodes.COUNT];

  static {
    for (int code = 0; code < STATE.length; code++) {
      int category = categoryOf(code);
      STATE[code] = (byte) category;
      STATE_BLOCKED[code] = (byte) (category == READY ? BLOCKED : category);
    }
  }

  /** The number of codes per unit; reading a code in a range is cheaper than visiting a node. */
  private static final int CODES_PER_UNIT = 8;

  private static final int UNITS_PER_NODE = 3;

  private final Supplier<SchedulingState> current;
  private final SchedulingState state;
  private final Topology topology;
  private final boolean byJob;
  private final int onlyJob;
  private final int lowest;

  /** By job and state; a single row when jobs are not counted separately. */
  private final long[] counts;

  private long leaves;

  // The position: either in the nodes at one distance from the root of the subtree,
  private int from;
  private int to;
  private int job;
  private int at;

  // or in a walk.
  private int[] stack = new int[64];
  private int depth;

  private boolean isDone = true;

  public SubtreeCountScan(Supplier<SchedulingState> current, int onlyJob, boolean byJob) {
    this.current = current;
    this.state = current.get();
    this.topology = state.topology;
    this.onlyJob = onlyJob;
    this.byJob = byJob;
    counts = new long[(byJob ? state.jobs.count() : 1) * (STATES + 1)];
    lowest = topology.levels().bottom();
  }

  private static int categoryOf(int code) {
    Main main = StatusCodes.main(code);
    if (main == Main.RUNNING) {
      return RUNNING;
    }
    if (StatusCodes.effect(code) != StatusCodes.OPEN) {
      return NONE;
    }
    return switch (main) {
      case DONE -> DONE;
      case FAILED -> FAILED;
      case CANCELLED -> CANCELLED;
      case RUNNING -> RUNNING;
      case UNSTARTED, INCOMPLETE, ERROR -> StatusCodes.isWaiting(code) ? WAITING : READY;
    };
  }

  public static TaskCounts of(SchedulingState state, int job, int node) {
    long[] counts = new long[STATES + 1];
    int level = state.index.level(node);
    for (int j = Math.max(0, job); j < (job < 0 ? state.jobs.count() : job + 1); j++) {
      if (state.jobs.levels[j] == level) {
        counts[categoryOf(state, j, node)]++;
      }
    }
    return counts(counts, 0);
  }

  private static int categoryOf(SchedulingState state, int job, int node) {
    int category = states(state, job)[state.tasks.code(job, node)];
    return category == READY && !state.index.isReady(node, job) ? BLOCKED : category;
  }

  private static byte[] states(SchedulingState state, int job) {
    return state.mayStart(job) ? STATE : STATE_BLOCKED;
  }

  /** Returns whether jobs or nodes have been renumbered, so that all numbers are invalid. */
  public boolean isStale() {
    return current.get() != state;
  }

  /** Begins to count a subtree, discarding the previous counts. */
  public void begin(int slot) {
    Arrays.fill(counts, 0);
    leaves = 0;
    isDone = false;
    if (topology.slotsAreNodes()) {
      from = slot;
      to = slot + 1;
      job = -1;
    } else {
      stack[0] = slot;
      depth = 1;
    }
  }

  public boolean isDone() {
    return isDone;
  }

  /**
   * Runs a slice.
   *
   * @param units about how many items to visit
   * @return the number of items visited, at least 1
   */
  public int step(int units) {
    return topology.slotsAreNodes() ? count(units) : walk(units);
  }

  private int count(int units) {
    int used = 0;
    while (used < units) {
      if (job < 0) {
        used++;
        if (from == to) {
          isDone = true;
          return used;
        }
        leaves += Math.max(0, Math.min(to, topology.levelEnd(lowest)) - first(lowest));
        next(0);
      } else if (job == state.jobs.count()) {
        used++;
        int last = topology.childEnd(to - 1);
        from = topology.childStart(from);
        to = last;
        job = -1;
      } else {
        int end = Math.min(to, topology.levelEnd(state.jobs.levels[job]));
        int stop = (int) Math.min(end, at + (long) (units - used) * CODES_PER_UNIT);
        if (at < stop) {
          count(at, stop);
          used += (stop - at) / CODES_PER_UNIT;
          at = stop;
        }
        used++;
        if (at >= end) {
          next(job + 1);
        }
      }
    }
    return used;
  }

  private void count(int begin, int end) {
    state.tasks.tally(job, begin, end, states(state, job), counts, row(job));
    if (state.jobs.dependencies[job].length > 0 || state.statuses.staged().waiting(job) > 0) {
      for (int node = begin; node < end; node++) {
        int code = state.tasks.code(job, node);
        if (states(state, job)[code] == READY && !state.index.isReady(node, job)) {
          counts[row(job) + READY]--;
          counts[row(job) + BLOCKED]++;
        }
      }
    }
  }

  /** Continues with the next job; {@code at} is its first task at that distance. */
  private void next(int number) {
    job = number;
    while (job < state.jobs.count() && (state.jobs.levels[job] < 0 || !wants(job))) {
      job++;
    }
    at = job < state.jobs.count() ? first(state.jobs.levels[job]) : 0;
  }

  /** Returns the first node of a level from the current position on. */
  private int first(int level) {
    return Math.max(from, topology.levelStart(level));
  }

  private boolean wants(int number) {
    return onlyJob < 0 || onlyJob == number;
  }

  private int row(int number) {
    return byJob ? number * (STATES + 1) : 0;
  }

  private int walk(int units) {
    int used = 0;
    while (used < units) {
      if (depth == 0) {
        isDone = true;
        return used + 1;
      }
      int node = topology.node(stack[--depth]);
      int nodeLevel = state.index.level(node);
      used += UNITS_PER_NODE;
      leaves += nodeLevel == lowest ? 1 : 0;
      for (int j = onlyJob < 0 ? 0 : onlyJob; j < state.jobs.count() && wants(j); j++) {
        if (state.jobs.levels[j] == nodeLevel) {
          counts[row(j) + categoryOf(state, j, node)]++;
          used++;
        }
      }
      int end = topology.childEnd(node);
      int start = topology.childStart(node);
      if (depth + end - start > stack.length) {
        stack = Arrays.copyOf(stack, Math.max(depth + end - start, stack.length * 2));
      }
      for (int slot = start; slot < end; slot++) {
        stack[depth++] = slot;
      }
    }
    return used;
  }

  /** Returns the number of lowest-level nodes in the subtree. */
  public long leaves() {
    return leaves;
  }

  /** Returns the counts of all tasks of the subtree, or of the selected job. */
  public TaskCounts counts() {
    long[] sum = new long[STATES];
    for (int i = 0; i < counts.length; i++) {
      int category = i % (STATES + 1);
      if (category < STATES) {
        sum[category] += counts[i];
      }
    }
    return counts(sum, 0);
  }

  private static TaskCounts counts(long[] from, int at) {
    return new TaskCounts(
        from[at + DONE],
        from[at + FAILED],
        from[at + CANCELLED],
        from[at + RUNNING],
        from[at + WAITING],
        from[at + READY],
        from[at + BLOCKED]);
  }

  /** Returns the counts by job if jobs are counted separately; jobs without tasks are omitted. */
  public Map<String, TaskCounts> countsByJob() {
    Map<String, TaskCounts> all = new LinkedHashMap<>();
    for (int j = 0; byJob && j < state.jobs.count(); j++) {
      TaskCounts some = counts(counts, row(j));
      if (some.total() > 0) {
        all.put(state.jobs.name(j), some);
      }
    }
    return all;
  }
}
