package io.espalier.e2e.drill;

import java.time.Duration;
import java.util.concurrent.Callable;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionTimeoutException;

/** Waits for what comes from other processes, and says whether it came. */
final class Patience {
  private Patience() {}

  /**
   * Looks again and again, on the calling thread, until a condition holds.
   *
   * @param lookEvery between two looks
   * @return false when it did not hold in time
   */
  static boolean until(Duration atMost, Duration lookEvery, Callable<Boolean> condition) {
    try {
      Awaitility.await()
          .pollInSameThread()
          .pollDelay(Duration.ZERO)
          .pollInterval(lookEvery)
          .atMost(atMost)
          .until(condition);
      return true;
    } catch (ConditionTimeoutException e) {
      return false;
    }
  }
}
