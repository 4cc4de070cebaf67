package io.espalier.webui.fleet;

import io.espalier.core.problem.Problem;
import java.util.List;

/** Is told which schedulers there are; from any thread, one call at a time. */
public interface SchedulerListListener {
  /**
   * From now on these.
   *
   * @param source where the list is from, for people
   */
  void follow(String source, List<SchedulerAddress> schedulers);

  /** The newest list cannot be used: the one before stays in force. */
  void complain(List<Problem> problems);
}
