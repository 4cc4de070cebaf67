package io.espalier.thrift.rpc;

/**
 * Time limits of the parts of a call (docs/design/bistro.md#time-limits-of-calls).
 *
 * @param connectMillis until the connection is established
 * @param sendMillis until the request has been sent
 * @param receiveMillis from then until the whole answer has arrived
 * @param totalMillis whole call, including the greeting of a new connection
 */
public record RpcTimeouts(int connectMillis, int sendMillis, int receiveMillis, int totalMillis) {
  public static final RpcTimeouts DEFAULT = new RpcTimeouts(1_000, 1_000, 2_000, 5_000);

  public RpcTimeouts {
    if (connectMillis < 1 || sendMillis < 1 || receiveMillis < 1 || totalMillis < 1) {
      throw new IllegalArgumentException("a time-out is at least 1 ms");
    }
  }

  /** Returns a copy with another time limit for the answer. */
  public RpcTimeouts withReceive(int millis) {
    return new RpcTimeouts(
        connectMillis, sendMillis, millis, Math.max(totalMillis, millis + connectMillis));
  }

  /** Returns a copy limited to that total time. */
  public RpcTimeouts within(long millis) {
    return new RpcTimeouts(
        connectMillis, sendMillis, receiveMillis, (int) Math.max(1, Math.min(totalMillis, millis)));
  }

  /** Returns a copy in which no limit extends beyond an instant of {@link System#nanoTime}. */
  RpcTimeouts until(long deadlineNanos) {
    int left =
        (int)
            Math.max(
                1, Math.min(Integer.MAX_VALUE, (deadlineNanos - System.nanoTime()) / 1_000_000));
    return new RpcTimeouts(
        Math.min(connectMillis, left),
        Math.min(sendMillis, left),
        Math.min(receiveMillis, left),
        left);
  }
}
