package io.espalier.server.app.ownership;

/**
 * Thrown when the status store was set back while this scheduler led. The scheduler no longer
 * leads; the next start takes the store over with an epoch above all known epochs, and waits until
 * that is safe.
 */
public final class StoreSetBackException extends Exception {
  private static final long serialVersionUID = 1L;

  StoreSetBackException(String message) {
    super(message);
  }
}
