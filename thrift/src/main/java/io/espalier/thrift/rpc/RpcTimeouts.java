package io.espalier.thrift.rpc;

/**
 * How long parts of a call may take (docs/design/bistro.md#time-limits-of-calls).
 *
 * @param connectMillis until the connection stands
 * @param sendMillis until the request has left
 * @param receiveMillis from then until the whole answer is here
 * @param totalMillis all of it, with the greeting of a new connection
 */
public record RpcTimeouts(int connectMillis, int sendMillis, int receiveMillis, int totalMillis) {
  public static final RpcTimeouts DEFAULT = new RpcTimeouts(1_000, 1_000, 2_000, 5_000);

  public RpcTimeouts {
    if (connectMillis < 1 || sendMillis < 1 || receiveMillis < 1 || totalMillis < 1) {
      throw new IllegalArgumentException("a time-out is at least 1 ms");
    }
  }

  /** The same with more patience for the answer. */
  public RpcTimeouts withReceive(int millis) {
    return new RpcTimeouts(
        connectMillis, sendMillis, millis, Math.max(totalMillis, millis + connectMillis));
  }

  /** The same within that time in all. */
  public RpcTimeouts within(long millis) {
    return new RpcTimeouts(
        connectMillis, sendMillis, receiveMillis, (int) Math.max(1, Math.min(totalMillis, millis)));
  }

  /** The same with nothing that outlasts an instant of {@link System#nanoTime}. */
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
