package io.espalier.core.api;

import java.util.List;

/** What operators see and do of a scheduler's leadership. For any thread; nothing of it waits. */
public interface LeadershipControl {
  /** A scheduler that is the only one. */
  LeadershipControl ALONE = new Alone();

  LeadershipView view();

  /**
   * Lets another lead, soon: tasks go on, and it takes them over.
   *
   * @throws RefusedException without an election, and when there is no other
   */
  void stepDown(String reason);

  /** Leads, and nobody else could. */
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
