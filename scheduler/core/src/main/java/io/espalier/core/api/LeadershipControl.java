package io.espalier.core.api;

import io.espalier.core.api.view.LeadershipView;
import java.util.List;

/**
 * Lets operators view and give up a scheduler's leadership. Any thread may call; no call blocks.
 */
public interface LeadershipControl {
  /** The control of a scheduler that runs without an election. */
  LeadershipControl ALONE = new Alone();

  LeadershipView view();

  /**
   * Gives up leadership so that another scheduler leads soon; tasks continue, and the new leader
   * takes them over.
   *
   * @throws RefusedException without an election, and when there is no other candidate
   */
  void stepDown(String reason);

  /** The permanent leadership of a scheduler without rivals. */
  final class Alone implements LeadershipControl {
    private Alone() {}

    @Override
    public LeadershipView view() {
      return new LeadershipView(false, 0, Long.MAX_VALUE, List.of(), null);
    }

    @Override
    public void stepDown(String reason) {
      throw new RefusedException(
          RefusedException.Reason.UNSUPPORTED,
          "this scheduler leads without an election: it was started without --zookeeper");
    }
  }
}
