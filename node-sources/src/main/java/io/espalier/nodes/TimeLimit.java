package io.espalier.nodes;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Runs a blocking operation on a thread of its own, which is abandoned if it does not return. */
public final class TimeLimit {
  private TimeLimit() {}

  /**
   * Runs the work.
   *
   * @throws TimeoutException when it takes too long; the work is then interrupted
   * @throws ExecutionException when it failed
   */
  public static <T> T call(Duration limit, String name, Callable<T> work)
      throws InterruptedException, TimeoutException, ExecutionException {
    FutureTask<T> task = new FutureTask<>(work);
    Thread thread = new Thread(task, name);
    thread.setDaemon(true);
    thread.start();
    try {
      return task.get(limit.toMillis(), TimeUnit.MILLISECONDS);
    } finally {
      // Also when this thread is interrupted: nobody needs the result any more.
      boolean cancelled = task.cancel(true);
      assert !cancelled || task.isCancelled();
    }
  }
}
