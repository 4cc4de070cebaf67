package io.espalier.core.loop.watch;

import io.espalier.core.api.RefusedException;
import io.espalier.core.api.view.NeverStarting;
import io.espalier.core.api.view.WaitingReasons;
import io.espalier.core.config.Config;
import io.espalier.core.loop.state.LoopStats;
import io.espalier.core.loop.state.RoundStep;
import io.espalier.core.outcome.JobState;
import io.espalier.core.problem.Problem;
import io.espalier.core.scheduling.SchedulingCore;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Counts the tasks that can never start, because their jobs need more of a resource than the limit
 * of a node on their path is. It counts those of one job after the other, when something has
 * changed, at most every five seconds, and so rarely that the counts take at most a twentieth of
 * the time. While no job needs more than the limit of some node, it does nothing.
 */
public final class NeverStarts implements RoundStep {
  private static final long PAUSE_MILLIS = 5_000;

  /** A count is followed by a pause that is this many times longer. */
  private static final int REST = 20;

  /** The maximum number of jobs that are named; the others are counted. */
  private static final int NAMED = 100;

  private final SchedulingCore core;
  private final JobStateTracker jobStates;
  private final Function<String, CompletionStage<WaitingReasons>> waiting;

  /** The jobs that are still to be counted. */
  private final Deque<String> left = new ArrayDeque<>();

  /** The tasks that were found, by job; replaced when it changes. */
  private SortedMap<String, NeverStarting> counts = Collections.emptySortedMap();

  private boolean isAsking;
  private boolean isAnswered;
  private boolean isNew;
  private long askedMillis;
  private long next;
  private long countedChanges = -1;
  private long countedState = -1;

  /**
   * @param waiting counts what the tasks of a job wait for, later and in slices, on the thread of
   *     the loop
   */
  public NeverStarts(
      SchedulingCore core,
      JobStateTracker jobStates,
      Function<String, CompletionStage<WaitingReasons>> waiting) {
    this.core = core;
    this.jobStates = jobStates;
    this.waiting = waiting;
  }

  @Override
  public boolean step(long nowMillis) {
    if (isAnswered) {
      isAnswered = false;
      long rest = REST * (nowMillis - askedMillis);
      next = nowMillis + (left.isEmpty() ? Math.max(PAUSE_MILLIS, rest) : rest);
    }
    if (!isAsking && nowMillis >= next) {
      if (left.isEmpty() && hasNews()) {
        begin();
      }
      if (!left.isEmpty()) {
        ask(left.remove(), nowMillis);
      }
    }
    boolean wasNew = isNew;
    isNew = false;
    return wasNew;
  }

  private boolean hasNews() {
    BitSet jobs = core.capacity().jobsBeyondSomeLimit();
    return !(jobs.isEmpty() && counts.isEmpty())
        && (core.changes() != countedChanges || core.stateNumber() != countedState);
  }

  private void begin() {
    countedChanges = core.changes();
    countedState = core.stateNumber();
    core.capacity().jobsBeyondSomeLimit().stream()
        .filter(number -> core.job(number) != null)
        .forEach(number -> left.add(core.jobName(number)));
    Set<String> asked = new HashSet<>(left);
    for (String job : List.copyOf(counts.keySet())) {
      if (!asked.contains(job)) {
        count(job, null);
      }
    }
  }

  private void ask(String job, long nowMillis) {
    isAsking = true;
    askedMillis = nowMillis;
    try {
      var unused = waiting.apply(job).whenComplete((found, failure) -> answered(job, found));
    } catch (RefusedException e) {
      answered(job, null);
    }
  }

  private void answered(String job, @Nullable WaitingReasons found) {
    isAsking = false;
    isAnswered = true;
    if (found == null) {
      // The job is gone: with it, its count goes.
      count(job, null);
      return;
    }
    List<WaitingReasons.Group> groups = found.reasons().stream().filter(this::isNever).toList();
    long tasks = groups.stream().mapToLong(WaitingReasons.Group::count).sum();
    if (tasks == 0) {
      count(job, null);
      return;
    }
    count(
        job,
        new NeverStarting(
            found.sampled() ? Math.max(1, tasks * found.total() / found.counted()) : tasks,
            (groups.size() == 1 ? "it " : "most of them because it ") + groups.get(0).message()));
  }

  private boolean isNever(WaitingReasons.Group group) {
    String resource = group.resource();
    return group.never() && resource != null && !core.capacity().isStop(resource);
  }

  /**
   * @param now null: the job has no such tasks
   */
  private void count(String job, @Nullable NeverStarting now) {
    if (Objects.equals(counts.get(job), now)) {
      return;
    }
    SortedMap<String, NeverStarting> after = new TreeMap<>(counts);
    if (now == null) {
      after.remove(job);
    } else {
      after.put(job, now);
    }
    counts = Collections.unmodifiableSortedMap(after);
    isNew = true;
  }

  @Override
  public long nextMillis() {
    if (isAnswered || isNew) {
      return 0;
    }
    return !isAsking && (!left.isEmpty() || hasNews()) ? next : Long.MAX_VALUE;
  }

  /** Returns the jobs with such tasks; the set is never changed. */
  public Set<String> jobs() {
    return counts.keySet();
  }

  /**
   * Returns a problem for each job with such tasks, up to a limit, and one more with the number of
   * the rest. A job that is stuck has a problem of its own.
   */
  public List<Problem> problems() {
    List<Problem> problems = new ArrayList<>();
    int more = 0;
    for (Map.Entry<String, NeverStarting> each : counts.entrySet()) {
      String job = each.getKey();
      if (jobStates.state(job) == JobState.STUCK) {
        continue;
      }
      if (problems.size() == NAMED) {
        more++;
        continue;
      }
      NeverStarting found = each.getValue();
      String text =
          found.tasks() + " of its tasks can never start as the limits are: " + found.reason();
      problems.add(Problem.warning(Config.JOB_KEY + job, text));
    }
    if (more > 0) {
      problems.add(
          Problem.warning(
              "", more + " more jobs have tasks that can never start as the limits are"));
    }
    return problems;
  }

  @Override
  public void stats(LoopStats stats) {
    stats.neverStarting(counts);
  }
}
