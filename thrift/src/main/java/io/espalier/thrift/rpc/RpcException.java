package io.espalier.thrift.rpc;

import java.io.IOException;

/** A call that brought no answer. */
public final class RpcException extends IOException {
  private static final long serialVersionUID = 1;

  /** What is known of the request. */
  public enum Kind {
    /** It has certainly not been acted upon: it was never sent. */
    NOT_SENT,
    /** It may or may not have been acted upon. */
    UNKNOWN,
    /** The peer does not want us: wrong token, other version, other role. Not acted upon. */
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
