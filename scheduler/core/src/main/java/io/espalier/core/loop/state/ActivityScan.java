package io.espalier.core.loop.state;

import io.espalier.core.api.view.JobActivity;
import io.espalier.core.api.view.JobActivity.Straggler;
import io.espalier.core.loop.state.LiveTasks.Live;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;

/**
 * Finds what the tasks of a job, or of all jobs, have done in the last hour, and their stragglers:
 * a pass over the live tasks in slices. Use it on the owner's thread.
 */
public final class ActivityScan {
  /** Tasks that run for less are never called stragglers, however short the others are. */
  private static final long SHORT_MILLIS = 1_000;

  /** The order in which stragglers are told: the first started first. */
  private static final Comparator<Straggler> OLDEST =
      Comparator.comparingLong(Straggler::startedMillis)
          .thenComparing(Straggler::job)
          .thenComparing(Straggler::node);

  private final Throughput throughput;
  private final LiveTasks live;
  private final String job;

  /** By job how long its tasks usually take at most. */
  private final Map<String, Long> usual = new HashMap<>();

  private final PriorityQueue<Straggler> oldest = new PriorityQueue<>(OLDEST.reversed());
  private int total;

  /** The number of the live task to be looked at next. */
  private int place;

  /**
   * @param job empty: all jobs
   */
  public ActivityScan(Throughput throughput, LiveTasks live, String job) {
    this.throughput = throughput;
    this.live = live;
    this.job = job;
  }

  public boolean isDone() {
    return place >= live.high();
  }

  /**
   * Runs a slice.
   *
   * @param units how many tasks to look at
   * @return how many were looked at
   */
  public int step(long nowMillis, int units) {
    int first = place;
    int end = (int) Math.min(live.high(), (long) place + units);
    for (; place < end; place++) {
      Live task = live.at(place);
      if (task != null && (job.isEmpty() || job.equals(task.key.job()))) {
        look(task, nowMillis);
      }
    }
    return place - first;
  }

  private void look(Live task, long nowMillis) {
    String of = task.key.job();
    long most = usual.computeIfAbsent(of, throughput::usual);
    if (most < 0 || nowMillis - task.startedMillis() <= Math.max(SHORT_MILLIS, 2 * most)) {
      return;
    }
    total++;
    oldest.add(new Straggler(of, task.key.node(), task.startedMillis(), most));
    if (oldest.size() > JobActivity.MOST) {
      oldest.remove();
    }
  }

  /** Returns the answer, once it is done. */
  public JobActivity activity(long nowMillis) {
    List<Straggler> stragglers = new ArrayList<>(oldest);
    stragglers.sort(OLDEST);
    return throughput.activity(job, stragglers, total, nowMillis);
  }
}
