package io.espalier.server.app.loop;

import io.espalier.core.api.ProblemAges;
import io.espalier.core.api.view.SchedulerView;

/** The latest view and the time since when its problems have existed. Only one thread writes it. */
public final class CurrentView {
  private volatile SchedulerView view = SchedulerView.EMPTY;
  private volatile ProblemAges ages = ProblemAges.NONE;

  /** Replaces the view by a newer one. Only the thread that creates views may call this. */
  public void publish(SchedulerView newer) {
    ages = ages.next(newer);
    view = newer;
  }

  public SchedulerView get() {
    return view;
  }

  ProblemAges ages() {
    return ages;
  }
}
