package io.espalier.core.config.label;

import org.jspecify.annotations.Nullable;

/** Says what is wrong with an expression, and where. */
public final class LabelSyntaxException extends Exception {
  private static final long serialVersionUID = 1L;
  private final @Nullable String hint;

  LabelSyntaxException(String message, int at, @Nullable String hint) {
    super(message + " at character " + (at + 1), null, false, false);
    this.hint = hint;
  }

  /** Returns how to correct it, or null. */
  public @Nullable String hint() {
    return hint;
  }
}
