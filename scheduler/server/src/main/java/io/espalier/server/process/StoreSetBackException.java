package io.espalier.server.process;

/**
 * The status store was set back while this scheduler led. It leads no more; the next start takes
 * the store over with an epoch above all that were heard of, and waits safely.
 */
public final class StoreSetBackException extends Exception {
  private static final long serialVersionUID = 1L;

  StoreSetBackException(String message) {
    super(message);
  }
}
