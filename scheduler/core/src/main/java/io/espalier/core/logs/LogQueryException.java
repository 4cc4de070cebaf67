package io.espalier.core.logs;

/** A query that cannot be answered because of what it asks, as a sentence for its author. */
public final class LogQueryException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public LogQueryException(String message) {
    super(message);
  }
}
