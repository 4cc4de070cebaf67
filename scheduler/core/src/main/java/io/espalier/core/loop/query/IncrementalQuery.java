package io.espalier.core.loop.query;

import io.espalier.core.api.RefusedException;
import java.util.concurrent.CompletableFuture;

/**
 * A query of a monitor that has to examine many items: it is answered in slices between the steps
 * of the loop (docs/design/design.md#questions).
 */
abstract class IncrementalQuery<T> {
  final CompletableFuture<T> answer = new CompletableFuture<>();

  /** How many items it has examined so far. */
  long spent;

  /** When it was last worked on. */
  long steppedMillis;

  /**
   * Continues with the answer.
   *
   * @param most approximate number of items to examine, ten to twenty nanoseconds each
   * @return the number of items examined
   */
  abstract long step(long nowMillis, int most);

  /** Answers that there is no such job. */
  final void refuseUnknown(String job) {
    answer.completeExceptionally(
        new RefusedException(RefusedException.Reason.UNKNOWN, "no such job: " + job));
  }
}
