package io.espalier.core.running;

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
}
