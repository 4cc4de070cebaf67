package io.espalier.server.process;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * The waits of a start that may take minutes: whoever is asked to stop ends them. For any thread.
 */
public final class StartWaits {
  private final CountDownLatch givenUp = new CountDownLatch(1);

  /** A start was given up while it waited: nothing of it is open any more. */
  public static final class GivenUp extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private GivenUp() {
      super("stopped while it waited");
    }
  }

  /** The wait that is under way, and each later one, ends at once. */
  public void giveUp() {
    givenUp.countDown();
  }

  /**
   * Waits so long.
   *
   * @throws GivenUp when that was asked for
   */
  void pause(long millis) throws InterruptedException {
    if (givenUp.await(millis, TimeUnit.MILLISECONDS)) {
      throw new GivenUp();
    }
  }
}
