package io.espalier.server.process;

import io.espalier.core.api.ProblemAges;
import io.espalier.core.api.SchedulerView;

/**
 * Holds the latest view and the time since when its problems have existed. Only one thread writes
 * it.
 */
final class CurrentView {
  private volatile SchedulerView view = SchedulerView.EMPTY;
  private volatile ProblemAges ages = ProblemAges.NONE;

  /** Replaces the view by a newer one. Only the thread that creates views may call this. */
  void publish(SchedulerView newer) {
    ages = ages.next(newer);
    view = newer;
  }

  SchedulerView get() {
    return view;
  }

  ProblemAges ages() {
    return ages;
  }
}
