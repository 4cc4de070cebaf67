package io.espalier.thrift.rpc;

import io.espalier.core.protocol.Versions;

/**
 * The settings of this process that both ends of its connections need.
 *
 * @param program name and version, for people at the other end
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
