package io.espalier.core.status.store;

import org.jspecify.annotations.Nullable;

/**
 * Thrown when a working status store refuses something in a batch that it will always refuse: text
 * that is too large for it, a value outside its ranges. Nothing of the batch was stored.
 */
public final class RefusedDataException extends StoreException {
  private static final long serialVersionUID = 1L;

  /**
   * @param message one line for a person: which store, what it refused
   */
  public RefusedDataException(String message, @Nullable Throwable cause) {
    super(message, false, cause);
  }
}
