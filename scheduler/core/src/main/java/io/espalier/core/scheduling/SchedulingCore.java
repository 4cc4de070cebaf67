package io.espalier.core.scheduling;

import io.espalier.core.api.Explanation;
import io.espalier.core.api.Histogram;
import io.espalier.core.api.JobProgress;
import io.espalier.core.config.Config;
import io.espalier.core.config.Job;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.topology.Topology;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The scheduling core (design section 4): knows every task's status and every node's free slots,
 * and answers "which task may start now?" in the depth of the tree. Cost follows change, not size.
 *
 * <p><b>Numbers.</b> Jobs and nodes are small ints: nodes as in {@link #topology}, jobs from 0 to
 * {@link #jobCount} - 1. Both hold until the next change is in force. A running task is a long that
 * holds for as long as it runs, over all changes.
 *
 * <p><b>Time</b> only enters as an argument. Back-offs end at the first {@link #advance} at or
 * after their end rounded up to {@link #TICK_MILLIS}.
 *
 * <p><b>Threads.</b> One thread at a time, but for {@link #prepare}. Nothing here blocks.
 *
 * <p><b>Order of a loop:</b> apply what came in ({@code finish}, {@code setStatus}, changes),
 * {@code advance}, then {@code round} in slices until it answers true.
 */
@SuppressWarnings("DoNotCallSuggester") // the bodies come next
public final class SchedulingCore {
  /** Granularity of timers. */
  public static final int TICK_MILLIS = 10;

  /**
   * A core without jobs, with only the instance node.
   *
   * @param seed of all its randomness
   */
  public SchedulingCore(long seed) {}

  // ---- configuration and nodes

  /** Puts a configuration and its nodes in force at once: {@code prepare}, {@code begin}, step. */
  public NewTasks apply(Config config, Topology topology, long nowMillis) {
    throw new UnsupportedOperationException();
  }

  /**
   * The expensive part of a change that needs no state: comparing names, evaluating filters. May
   * run on any thread, while the core goes on; a second change must be prepared after the first is
   * in force.
   */
  public Change prepare(Config config, Topology topology) {
    throw new UnsupportedOperationException();
  }

  /**
   * Starts to bring a prepared change into force.
   *
   * @throws IllegalStateException when it was prepared against other nodes or another configuration
   *     than those in force, or a change is under way
   */
  public void begin(Change change) {
    throw new UnsupportedOperationException();
  }

  /**
   * Does a slice of the work of the change that was begun. Until it is in force, everything goes by
   * the old configuration; nothing that happens meanwhile is lost.
   *
   * @param units about how many words of the index to touch: 10,000 take well below a millisecond
   * @return the new tasks when the change is in force; null when there is more to do
   */
  public @Nullable NewTasks step(int units) {
    throw new UnsupportedOperationException();
  }

  /** Whether a change was begun and is not in force yet. */
  public boolean isChanging() {
    throw new UnsupportedOperationException();
  }

  /** The configuration in force. */
  public Config config() {
    throw new UnsupportedOperationException();
  }

  /** The nodes in force. */
  public Topology topology() {
    throw new UnsupportedOperationException();
  }

  // ---- jobs

  /** Jobs that are known: configured ones and removed ones of which tasks still run. */
  public int jobCount() {
    throw new UnsupportedOperationException();
  }

  /** The number of a job, or -1. */
  public int findJob(String name) {
    throw new UnsupportedOperationException();
  }

  public String jobName(int job) {
    throw new UnsupportedOperationException();
  }

  /** The job's configuration; null when it was removed. */
  public @Nullable Job job(int job) {
    throw new UnsupportedOperationException();
  }

  /** Stops starts of that job, known or not, until resumed. Constant time. */
  public void pause(String job) {
    throw new UnsupportedOperationException();
  }

  public void resume(String job) {
    throw new UnsupportedOperationException();
  }

  public boolean isPaused(String job) {
    throw new UnsupportedOperationException();
  }

  /** Like a pause, while the stored statuses of the job's tasks are being read. */
  public void hold(String job) {
    throw new UnsupportedOperationException();
  }

  public void release(String job) {
    throw new UnsupportedOperationException();
  }

  /** Tells whether some eligible worker has room for a task of that job; true at first. */
  public void setWorkerFits(String job, boolean fits) {
    throw new UnsupportedOperationException();
  }

  public JobProgress progress(int job) {
    throw new UnsupportedOperationException();
  }

  /**
   * Counts per level (behaviour 9.5). The levels above the tasks cost what changed since the last
   * call, the first call for a job one pass.
   *
   * @param samples node names per bucket, at most
   */
  public Histogram histogram(int job, int samples) {
    throw new UnsupportedOperationException();
  }

  // ---- tasks

  /**
   * Gives a task its status, running or not: loaded, forgiven, changed by hand. Does not start or
   * end it: see {@link #round}, {@link #adopt} and {@link #finish}.
   *
   * @param status null: never tried
   */
  public void setStatus(int job, int node, @Nullable TaskStatus status) {
    throw new UnsupportedOperationException();
  }

  /**
   * The status of a task. While it runs: the one given by {@link #setStatus}, or that of before its
   * start. Of a task that is plainly done only that much is kept.
   */
  public @Nullable TaskStatus status(int job, int node) {
    throw new UnsupportedOperationException();
  }

  /** The status bits of a task as in histograms (behaviour 9.5). */
  public int bits(int job, int node) {
    throw new UnsupportedOperationException();
  }

  /**
   * Finds the next task of a job in node order whose status is in a set.
   *
   * @param fromNode where to begin; below the job's level: at its first node
   * @param limit how many tasks to look at
   * @return the node; {@code -1} when there is none up to the end; otherwise {@code -2 - next}
   *     where {@code next} is the node to go on from
   */
  public int nextTask(int job, int fromNode, int limit, StatusSet set) {
    throw new UnsupportedOperationException();
  }

  /**
   * Why a task is not running: all conditions that fail, by the same predicates that start tasks.
   * Where a node has several parents, those of the path on which fewest conditions fail.
   *
   * @throws io.espalier.core.api.RefusedException for an unknown job or node
   */
  public Explanation explain(String job, String node) {
    throw new UnsupportedOperationException();
  }

  // ---- rounds and running tasks

  /**
   * Starts what the limits allow, in the order of a policy. After a complete round no ready task
   * has room on any of its root paths.
   *
   * @param maxStarts ends the slice
   * @return whether the round is complete; if not, call again to go on with it
   */
  public boolean round(SchedulingPolicy policy, int maxStarts, PlacementSink sink) {
    throw new UnsupportedOperationException();
  }

  /**
   * Takes a task for running that was not started here, with its slots, fitting or not, on the path
   * that is least short of them.
   */
  public long adopt(int job, int node) {
    throw new UnsupportedOperationException();
  }

  /**
   * Ends a running task and frees its slots.
   *
   * @param status its new status; null: never tried. Ignored when job or node are gone
   * @throws IllegalArgumentException when it is not running
   */
  public void finish(long run, @Nullable TaskStatus status) {
    throw new UnsupportedOperationException();
  }

  public int runningCount() {
    throw new UnsupportedOperationException();
  }

  public boolean isRunning(long run) {
    throw new UnsupportedOperationException();
  }

  /** The running task of that job and node, or -1. */
  public long findRun(int job, int node) {
    throw new UnsupportedOperationException();
  }

  /** All running tasks, in no order; a new array. */
  public long[] runs() {
    throw new UnsupportedOperationException();
  }

  /** The number of its job; always valid. */
  public int runJob(long run) {
    throw new UnsupportedOperationException();
  }

  /** The number of its node, or -1 when the node is gone or no longer on the job's level. */
  public int runNode(long run) {
    throw new UnsupportedOperationException();
  }

  public String runJobName(long run) {
    throw new UnsupportedOperationException();
  }

  public String runNodeName(long run) {
    throw new UnsupportedOperationException();
  }

  /** The names of the nodes it was charged to, instance first, its own last. */
  public List<String> runPath(long run) {
    throw new UnsupportedOperationException();
  }

  /** What it was charged when it started: node to resource to slots, in path order. */
  public Map<String, Map<String, Integer>> resourcesByNode(long run) {
    throw new UnsupportedOperationException();
  }

  /**
   * Running tasks that should not run: the job is gone, disabled or invalid, or the node is gone or
   * disabled on every path (behaviour 5.8 with L28). Filters make no orphans.
   */
  public long[] orphans() {
    throw new UnsupportedOperationException();
  }

  // ---- time

  /**
   * Ends the back-offs that are over.
   *
   * @param limit how many at most
   * @return whether all that are over were ended
   */
  public boolean advance(long nowMillis, int limit) {
    throw new UnsupportedOperationException();
  }

  /** When {@link #advance} has something to do next; {@link Long#MAX_VALUE}: never. */
  public long nextTimerMillis() {
    throw new UnsupportedOperationException();
  }

  // ---- figures

  /** Slots left of a resource on a node, negative when over-committed. */
  public int free(int node, int resource) {
    throw new UnsupportedOperationException();
  }

  /** The highest use of each resource of the levels that have nodes, since the core was made. */
  public List<Peak> peaks() {
    throw new UnsupportedOperationException();
  }

  /** How many words of the index were evaluated or scanned so far: the measure of its cost. */
  public long work() {
    throw new UnsupportedOperationException();
  }

  /** Memory of the index and the task table in bytes, statuses of tried tasks left out. */
  public long byteSize() {
    throw new UnsupportedOperationException();
  }
}
