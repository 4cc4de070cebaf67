package io.espalier.core.running;

import org.jspecify.annotations.Nullable;

/**
 * One attempt to run a task.
 *
 * @param epoch epoch of the scheduler's leadership (or start, without an election)
 * @param sequence sequence number, growing with every start in that epoch; (epoch, sequence) is the
 *     fencing token
 * @param startMillis epoch milliseconds at which the scheduler decided to start it
 */
public record Invocation(long epoch, long sequence, long startMillis) {
  /** The fencing token as tasks see it; it grows with each start of the same task. */
  public String token() {
    return epoch + "." + sequence;
  }

  // By hand, as in TaskKey.

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof Invocation same
        && sequence == same.sequence
        && epoch == same.epoch
        && startMillis == same.startMillis;
  }

  @Override
  public int hashCode() {
    return 31 * (31 * Long.hashCode(epoch) + Long.hashCode(sequence)) + Long.hashCode(startMillis);
  }
}
