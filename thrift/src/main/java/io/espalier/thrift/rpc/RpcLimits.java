package io.espalier.thrift.rpc;

/**
 * Limits on the resources that a peer may use on a server.
 *
 * @param maxFrameBytes size of a request or answer
 * @param maxConnections greeted connections; one more closes the one that was idle longest
 * @param maxStrangers connections that have not greeted; one more closes the oldest
 * @param greetMillis from accepting to the end of the greeting, TLS included
 * @param frameMillis from the first byte of a request to its last, and the same for an answer
 * @param idleMillis between requests; clients close earlier
 */
public record RpcLimits(
    int maxFrameBytes,
    int maxConnections,
    int maxStrangers,
    int greetMillis,
    int frameMillis,
    int idleMillis) {
  public static final RpcLimits DEFAULT =
      new RpcLimits(64 << 20, 4_096, 256, 3_000, 10_000, 300_000);

  /** The maximum number of bytes in a message before the greeting is accepted. */
  static final int GREETING_BYTES = 4_096;

  public RpcLimits withMaxFrameBytes(int bytes) {
    return new RpcLimits(bytes, maxConnections, maxStrangers, greetMillis, frameMillis, idleMillis);
  }

  public RpcLimits withMillis(int greet, int frame, int idle) {
    return new RpcLimits(maxFrameBytes, maxConnections, maxStrangers, greet, frame, idle);
  }

  public RpcLimits withConnections(int greeted, int strangers) {
    return new RpcLimits(maxFrameBytes, greeted, strangers, greetMillis, frameMillis, idleMillis);
  }
}
