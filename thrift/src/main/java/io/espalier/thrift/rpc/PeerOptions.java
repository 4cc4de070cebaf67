package io.espalier.thrift.rpc;

import io.espalier.core.protocol.Versions;

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
    Versions protocol) {
  public static PeerOptions of(String program, RpcSecurity security) {
    return new PeerOptions(
        program, security, RpcTimeouts.DEFAULT, RpcLimits.DEFAULT, Versions.OURS);
  }

  public PeerOptions withTimeouts(RpcTimeouts newTimeouts) {
    return new PeerOptions(program, security, newTimeouts, limits, protocol);
  }

  public PeerOptions withLimits(RpcLimits newLimits) {
    return new PeerOptions(program, security, timeouts, newLimits, protocol);
  }

  public PeerOptions withProtocol(Versions range) {
    return new PeerOptions(program, security, timeouts, limits, range);
  }
}
