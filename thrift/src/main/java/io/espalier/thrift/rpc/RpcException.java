package io.espalier.thrift.rpc;

import java.io.IOException;

/** A call that returned no answer. */
public final class RpcException extends IOException {
  private static final long serialVersionUID = 1;

  /** What is known about the fate of the request. */
  public enum Kind {
    /** It was never sent, so the peer certainly took no action. */
    NOT_SENT,
    /** The peer may or may not have acted on it. */
    UNKNOWN,
    /** The peer rejects us: wrong token, other version, other role. It took no action. */
    REFUSED
  }

  private final Kind kind;

  public RpcException(Kind kind, String message) {
    super(message);
    this.kind = kind;
  }

  public RpcException(Kind kind, String message, Throwable cause) {
    super(message, cause);
    this.kind = kind;
  }

  public Kind kind() {
    return kind;
  }
}
