package io.espalier.webui.fleet;

import io.espalier.core.problem.Problem;
import io.espalier.webui.fleet.poll.SchedulerAddress;
import java.util.List;

/** Receives the list of schedulers; called from any thread, one call at a time. */
public interface SchedulerListListener {
  /**
   * Replaces the list.
   *
   * @param source of the list, for people
   */
  void follow(String source, List<SchedulerAddress> schedulers);

  /** Reports that the newest list cannot be used; the previous one stays in force. */
  void complain(List<Problem> problems);
}
