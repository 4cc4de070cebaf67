package io.espalier.server.process;

import io.espalier.core.api.ProblemAges;
import io.espalier.core.api.SchedulerView;

/** The latest view, and since when its problems have been there. Written by one thread. */
final class CurrentView {
  private volatile SchedulerView view = SchedulerView.EMPTY;
  private volatile ProblemAges ages = ProblemAges.NONE;

  /** Takes a newer view; only the thread that makes them. */
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
