package io.espalier.thrift.rpc;

/**
 * What a peer may cost a server at most.
 *
 * @param maxFrameBytes of a request or answer
 * @param maxConnections that have greeted; one more pushes out the one that was silent longest
 * @param maxStrangers connections that have not greeted; one more pushes out the oldest
 * @param greetMillis from accepting to the end of the greeting, TLS included
 * @param frameMillis from the first byte of a request to its last, and the same for an answer
 * @param idleMillis between requests; clients close before that
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

  /** All a stranger may send at once. */
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
