package io.espalier.server.app.loop;

import io.espalier.core.api.ProblemAges;
import io.espalier.core.api.view.JobProgress;
import io.espalier.core.api.view.SchedulerView;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The latest view, the time since when its problems have existed, and the counts at the end. Any
 * thread may read it.
 */
public final class CurrentView {
  private volatile SchedulerView view = SchedulerView.EMPTY;
  private volatile ProblemAges ages = ProblemAges.NONE;
  private volatile @Nullable Map<String, JobProgress> atEnd;

  /** Replaces the view by a newer one. Only the thread that creates views may call this. */
  public void publish(SchedulerView newer) {
    ages = ages.next(newer);
    view = newer;
  }

  public SchedulerView get() {
    return view;
  }

  /** Sets the counts of all configured jobs after the last task has ended. */
  public void end(Map<String, JobProgress> counts) {
    atEnd = counts;
  }

  /** Returns the counts at the end, or those of the latest view while there is no end. */
  public Map<String, JobProgress> latestProgress() {
    Map<String, JobProgress> counts = atEnd;
    return counts != null ? counts : view.progress();
  }

  ProblemAges ages() {
    return ages;
  }
}
