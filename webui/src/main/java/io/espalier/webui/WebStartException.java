package io.espalier.webui;

/** Thrown when the server cannot listen; the message is one line for the operator. */
public final class WebStartException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public WebStartException(String message, Throwable cause) {
    super(message, cause);
  }
}
