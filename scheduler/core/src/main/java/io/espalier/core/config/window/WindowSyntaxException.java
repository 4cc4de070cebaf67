package io.espalier.core.config.window;

import org.jspecify.annotations.Nullable;

/** Says what is wrong with the text of a window. */
public final class WindowSyntaxException extends Exception {
  private static final long serialVersionUID = 1L;
  private final String problem;
  private final @Nullable String hint;

  WindowSyntaxException(String message, @Nullable String hint) {
    super(message, null, false, false);
    this.problem = message;
    this.hint = hint;
  }

  /** Returns what is wrong. */
  public String problem() {
    return problem;
  }

  /** Returns how to correct it, or null. */
  public @Nullable String hint() {
    return hint;
  }
}
