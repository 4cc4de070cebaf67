package io.espalier.core.loop.state;

import io.espalier.core.api.view.JobActivity;
import io.espalier.core.api.view.JobActivity.Straggler;
import io.espalier.core.api.view.JobProgress;
import io.espalier.core.api.view.WaitQuantiles;
import io.espalier.core.forecast.JobPace;
import io.espalier.core.loop.state.LiveTasks.Live;
import io.espalier.core.running.Counters;
import io.espalier.core.running.TaskResult;
import io.espalier.core.status.TaskStatus;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Measures the completion rate of each job, the duration of its tasks, and how long they waited,
 * from the starts and ends of tasks in this loop; nothing is stored. The same events give the same
 * figures.
 */
public final class Throughput {
  /** The least number of tasks that must be done before their durations count. */
  private static final int SAMPLES = 20;

  /** Tasks that run for less are never called stragglers, however short the others are. */
  private static final long SHORT_MILLIS = 1_000;

  /** The order in which stragglers are told: the first started first. */
  private static final Comparator<Straggler> OLDEST =
      Comparator.comparingLong(Straggler::startedMillis)
          .thenComparing(Straggler::job)
          .thenComparing(Straggler::node);

  private final Map<String, Pace> paces = new HashMap<>();
  private final MinuteCounts minutesOfAll = new MinuteCounts();

  private static final class Pace {
    final DurationHistogram durations = new DurationHistogram();
    final DurationHistogram waits = new DurationHistogram();
    final CompletionRate rate = new CompletionRate();

    /** Null until somebody asks how long tasks take that are done. */
    @Nullable DurationHistogram done;

    final CounterRates counters = new CounterRates();
    final MinuteCounts minutes = new MinuteCounts();
    long ended;
    long finished;

    JobPace ofForecasts(DurationHistogram running) {
      List<Long> millis = durations.durations(JobPace.QUANTILES, running);
      // Where none has finished, it is not to be expected that none ever will.
      return new JobPace(millis, Math.max((double) finished, 0.5) / Math.max(ended, 1));
    }
  }

  /** Notes what the tasks of a job have counted. */
  public void counted(String job, Counters more, long nowMillis) {
    paces.computeIfAbsent(job, name -> new Pace()).counters.add(more, nowMillis);
  }

  /** Notes that a task is placed now, and how long it has waited. */
  public void placed(Live task, long nowMillis) {
    Pace pace = pace(task);
    pace.waits.add(task.waitedMillis);
    pace.minutes.started(nowMillis);
    minutesOfAll.started(nowMillis);
  }

  private Pace pace(Live task) {
    return paces.computeIfAbsent(task.key.job(), job -> new Pace());
  }

  public void ended(Live task, TaskResult end, TaskStatus status, long nowMillis) {
    if (end.kind() == TaskResult.Kind.NOT_STARTED || task.isOfForgottenJob()) {
      return;
    }
    Pace pace = pace(task);
    pace.rate.ended(status.isFinal(), nowMillis);
    boolean isError =
        status.main() == TaskStatus.Main.FAILED || status.main() == TaskStatus.Main.ERROR;
    pace.minutes.ended(isError, nowMillis);
    minutesOfAll.ended(isError, nowMillis);
    pace.ended++;
    pace.finished += status.isFinal() ? 1 : 0;
    // A stopped or lost task is no measure of how long the others take.
    if (end.kind() == TaskResult.Kind.EXITED) {
      pace.durations.add(nowMillis - task.startedMillis());
      // Windows ask how long tasks take that nobody slows down.
      if (pace.done != null && status.main() == TaskStatus.Main.DONE && !task.wasThrottled) {
        pace.done.add(nowMillis - task.startedMillis());
      }
    }
  }

  /** Returns the paces of the jobs with ended invocations, by name, for forecasts. */
  public Map<String, JobPace> paces(LiveTasks live, long nowMillis) {
    Map<String, DurationHistogram> running = new HashMap<>();
    for (Live task : live.all()) {
      running
          .computeIfAbsent(task.key.job(), job -> new DurationHistogram())
          .addForEver(nowMillis - task.startedMillis());
    }
    Map<String, JobPace> known = new HashMap<>();
    paces.forEach(
        (job, pace) -> {
          if (!pace.durations.isEmpty()) {
            // Once that many have ended, those that run make no difference.
            DurationHistogram none = new DurationHistogram();
            boolean counts = pace.ended < DurationHistogram.MEMORY;
            known.put(job, pace.ofForecasts(counts ? running.getOrDefault(job, none) : none));
          }
        });
    return known;
  }

  /**
   * Returns what the tasks of a job have done in the last hour, and its stragglers.
   *
   * @param job empty: all jobs
   */
  public JobActivity activity(String job, LiveTasks live, long nowMillis) {
    Pace known = paces.get(job);
    MinuteCounts minutes =
        job.isEmpty() ? minutesOfAll : known == null ? new MinuteCounts() : known.minutes;
    Map<String, Long> usual = new HashMap<>();
    PriorityQueue<Straggler> oldest = new PriorityQueue<>(OLDEST.reversed());
    int total = 0;
    for (Live task : live.all()) {
      String of = task.key.job();
      long most = job.isEmpty() || job.equals(of) ? usual.computeIfAbsent(of, this::usual) : -1;
      long elapsed = nowMillis - task.startedMillis();
      if (most < 0 || elapsed <= Math.max(SHORT_MILLIS, 2 * most)) {
        continue;
      }
      total++;
      oldest.add(new Straggler(of, task.key.node(), task.startedMillis(), most));
      if (oldest.size() > JobActivity.MOST) {
        oldest.remove();
      }
    }
    List<Straggler> stragglers = new ArrayList<>(oldest);
    stragglers.sort(OLDEST);
    return new JobActivity(
        job,
        nowMillis,
        minutes.view(nowMillis),
        known == null ? -1 : known.durations.quantile(0.5),
        known == null ? -1 : known.durations.quantile(0.95),
        stragglers,
        total);
  }

  /** Returns how long 95 % of the attempts of a job took; -1: too few have ended. */
  private long usual(String job) {
    Pace pace = paces.get(job);
    return pace == null || pace.durations.total() < SAMPLES ? -1 : pace.durations.quantile(0.95);
  }

  public void retain(Set<String> jobs) {
    paces.keySet().retainAll(jobs);
  }

  /**
   * Returns how long 95 % of the tasks of a job take that end as done, in milliseconds. They are
   * counted from the first such question on.
   *
   * @param assumedMillis the duration to assume while too few are done; -1: that of those few
   */
  public long mostTakeMillis(String job, long assumedMillis) {
    Pace pace = paces.computeIfAbsent(job, name -> new Pace());
    DurationHistogram done = pace.done;
    if (done == null) {
      done = new DurationHistogram();
      pace.done = done;
    }
    boolean isAssumed = done.total() < SAMPLES && assumedMillis >= 0;
    return Math.max(0, isAssumed ? assumedMillis : done.bound(0.95));
  }

  /** When a live task is expected to end; 0: unknown. */
  public long expectedEnd(Live task, long nowMillis) {
    long byProgress = task.endByProgress();
    if (byProgress > 0) {
      return Math.max(byProgress, nowMillis);
    }
    Pace pace = paces.get(task.key.job());
    long began = task.startedMillis();
    long takes = pace == null ? -1 : pace.durations.expected(nowMillis - began);
    return takes < 0 ? 0 : Math.max(nowMillis, began + takes);
  }

  /**
   * Adds a job's completion rate, as far as known, to its counts.
   *
   * @param mayStart whether tasks of the job may start at all
   */
  public JobProgress withPace(JobProgress counts, boolean mayStart, long nowMillis) {
    Pace pace = paces.get(counts.job());
    if (pace == null) {
      return counts;
    }
    long runs = counts.running() + (mayStart ? counts.waiting() + counts.ready() : 0);
    // Tasks that wait for others on their node are assumed to complete at the same rate.
    long left = counts.left();
    boolean isKept = runs == 0 || (!mayStart && runs < left);
    double through = pace.rate.throughPerSecond(nowMillis);
    double seconds = left == 0 ? 0 : through > 0 && !isKept ? left / through : -1;
    return counts.withPace(
        pace.rate.perSecond(nowMillis),
        seconds,
        new WaitQuantiles(pace.waits.quantile(0.5) / 1000.0, pace.waits.quantile(0.95) / 1000.0),
        pace.counters.perSecond(nowMillis));
  }
}
