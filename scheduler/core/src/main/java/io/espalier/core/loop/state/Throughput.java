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
import io.espalier.core.status.store.JobDurations;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Measures the completion rate of each job, the duration of its tasks, and how long they waited,
 * from the starts and ends of tasks in this loop. Only what windows ask for is stored. The same
 * events give the same figures.
 */
public final class Throughput {
  /** The least number of tasks that must be done before their durations count. */
  private static final int SAMPLES = 20;

  private final Map<String, Pace> paces = new HashMap<>();

  /** What is known of jobs with windows that have not asked since; all of it can be read. */
  private final Map<String, JobDurations> stored = new HashMap<>();

  /** The jobs whose durations have changed since {@link #changed}. */
  private final Set<String> unsaved = new TreeSet<>();

  private final MinuteCounts minutesOfAll = new MinuteCounts();

  private static final class Pace {
    final DurationHistogram durations = new DurationHistogram();
    final DurationHistogram waits = new DurationHistogram();
    final CompletionRate rate = new CompletionRate();

    /** Null until windows ask how long tasks take. */
    @Nullable WindowDurations ofWindows;

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
    }
    if (pace.ofWindows != null
        && pace.ofWindows.ended(task, end, status, nowMillis - task.startedMillis())) {
      unsaved.add(task.key.job());
    }
  }

  /** Returns the jobs with ended invocations. */
  List<String> measured() {
    List<String> jobs = new ArrayList<>();
    paces.forEach(
        (job, pace) -> {
          if (!pace.durations.isEmpty()) {
            jobs.add(job);
          }
        });
    return jobs;
  }

  /** Returns how many invocations of a job have ended. */
  long ended(String job) {
    Pace pace = paces.get(job);
    return pace == null ? 0 : pace.ended;
  }

  /**
   * Returns how long the tasks of a job take; null when nothing is known of it any more.
   *
   * @param running how long its live tasks have run; null: they do not count
   */
  @Nullable JobPace ofForecasts(String job, @Nullable DurationHistogram running) {
    Pace pace = paces.get(job);
    return pace == null
        ? null
        : pace.ofForecasts(running == null ? new DurationHistogram() : running);
  }

  /** Adds to the stragglers what the tasks of a job, or of all jobs, have done. */
  JobActivity activity(String job, List<Straggler> stragglers, int total, long nowMillis) {
    Pace known = paces.get(job);
    MinuteCounts minutes =
        job.isEmpty() ? minutesOfAll : known == null ? new MinuteCounts() : known.minutes;
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
  long usual(String job) {
    Pace pace = paces.get(job);
    return pace == null || pace.durations.total() < SAMPLES ? -1 : pace.durations.quantile(0.95);
  }

  /** Forgets jobs that are not configured, but not what windows must know when they return. */
  public void retain(Set<String> jobs) {
    paces.forEach(
        (job, pace) -> {
          if (pace.ofWindows != null && !jobs.contains(job)) {
            stored.put(job, pace.ofWindows.stored(job));
          }
        });
    paces.keySet().retainAll(jobs);
  }

  /** Forgets a job that was deleted. */
  public void forget(String job) {
    paces.remove(job);
    stored.remove(job);
  }

  /**
   * Returns how long 95 % of the tasks of a job take that end as done, in milliseconds. Those that
   * are killed at the end of their window take longer than they had run. All are counted from the
   * first such question on.
   *
   * @param assumedMillis the duration to assume while too few are done, unless one was stopped that
   *     had run for longer; -1: that of those few
   */
  public long mostTakeMillis(String job, long assumedMillis) {
    Pace pace = paces.computeIfAbsent(job, name -> new Pace());
    WindowDurations known = pace.ofWindows;
    if (known == null) {
      JobDurations before = stored.remove(job);
      known = before == null ? WindowDurations.none() : WindowDurations.of(before);
      pace.ofWindows = known;
    }
    return known.mostTakeMillis(assumedMillis);
  }

  /** Restores what earlier schedulers have measured; warns of what cannot be read. */
  public void restore(List<JobDurations> all, LoopPorts.Warnings warnings) {
    for (JobDurations each : all) {
      try {
        WindowDurations.of(each);
        stored.put(each.job(), each);
      } catch (IllegalArgumentException e) {
        warnings.warn(
            "the durations in the status store (table duration) cannot be read, so it is not known"
                + " how long the tasks of this job take before its windows close",
            each.job(),
            "");
      }
    }
  }

  /** Returns the durations of jobs with windows that have changed since the last call. */
  public List<JobDurations> changed() {
    List<JobDurations> changed = new ArrayList<>();
    for (String job : unsaved) {
      Pace pace = paces.get(job);
      if (pace != null && pace.ofWindows != null) {
        changed.add(pace.ofWindows.stored(job));
      }
    }
    unsaved.clear();
    return changed;
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
   * @param mayEnd whether each of its tasks can start some time; otherwise the job has no time left
   */
  public JobProgress withPace(
      JobProgress counts, boolean mayStart, boolean mayEnd, long nowMillis) {
    Pace pace = paces.get(counts.job());
    if (pace == null) {
      return counts;
    }
    long runs = counts.running() + (mayStart ? counts.waiting() + counts.ready() : 0);
    // Tasks that wait for others on their node are assumed to complete at the same rate.
    long left = counts.left();
    boolean isKept = !mayEnd || runs == 0 || (!mayStart && runs < left);
    double through = pace.rate.throughPerSecond(nowMillis);
    double seconds = left == 0 ? 0 : through > 0 && !isKept ? left / through : -1;
    return counts.withPace(
        pace.rate.perSecond(nowMillis),
        seconds,
        new WaitQuantiles(pace.waits.quantile(0.5) / 1000.0, pace.waits.quantile(0.95) / 1000.0),
        pace.counters.perSecond(nowMillis));
  }
}
