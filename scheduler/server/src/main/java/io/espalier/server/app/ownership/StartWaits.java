package io.espalier.server.app.ownership;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Runs the waits of a start, which may take minutes and which a stop request ends. Thread-safe. */
public final class StartWaits {
  private final CountDownLatch givenUp = new CountDownLatch(1);

  /** Thrown when a start is given up while it waits. Everything it opened is closed again. */
  public static final class GivenUp extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private GivenUp() {
      super("stopped while it waited");
    }
  }

  /** Ends the current wait and each later one immediately. */
  public void giveUp() {
    givenUp.countDown();
  }

  /**
   * Waits for the given time.
   *
   * @throws GivenUp when {@link #giveUp} was called
   */
  void pause(long millis) throws InterruptedException {
    if (givenUp.await(millis, TimeUnit.MILLISECONDS)) {
      throw new GivenUp();
    }
  }
}
