package io.espalier.thrift.rpc;

/**
 * How long parts of a call may take (behaviour 8.1).
 *
 * @param connectMillis until the connection stands
 * @param sendMillis until the request has left
 * @param receiveMillis from then until the whole answer is here
 */
public record RpcTimeouts(int connectMillis, int sendMillis, int receiveMillis) {
  public static final RpcTimeouts DEFAULT = new RpcTimeouts(1_000, 1_000, 2_000);

  public RpcTimeouts {
    if (connectMillis < 1 || sendMillis < 1 || receiveMillis < 1) {
      throw new IllegalArgumentException("a time-out is at least 1 ms");
    }
  }

  /** The same with more patience for the answer. */
  public RpcTimeouts withReceive(int millis) {
    return new RpcTimeouts(connectMillis, sendMillis, millis);
  }
}
