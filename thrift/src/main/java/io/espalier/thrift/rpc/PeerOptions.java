package io.espalier.thrift.rpc;

/**
 * What both ends of connections need to know about us.
 *
 * @param program for people at the other end: name and version
 */
public record PeerOptions(
    String program,
    RpcSecurity security,
    RpcTimeouts timeouts,
    RpcLimits limits,
    ProtocolRange protocol) {
  public static PeerOptions of(String program, RpcSecurity security) {
    return new PeerOptions(
        program, security, RpcTimeouts.DEFAULT, RpcLimits.DEFAULT, ProtocolRange.OURS);
  }

  public PeerOptions withTimeouts(RpcTimeouts newTimeouts) {
    return new PeerOptions(program, security, newTimeouts, limits, protocol);
  }

  public PeerOptions withLimits(RpcLimits newLimits) {
    return new PeerOptions(program, security, timeouts, newLimits, protocol);
  }

  public PeerOptions withProtocol(ProtocolRange range) {
    return new PeerOptions(program, security, timeouts, limits, range);
  }
}
