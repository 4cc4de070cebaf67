package io.espalier.core.problem;

import java.util.concurrent.CompletionException;

/** What has failed behind a stage. */
public final class Causes {
  private Causes() {}

  /** Returns the failure without the {@link CompletionException}s that stages wrap around it. */
  public static Throwable of(Throwable failure) {
    Throwable cause = failure;
    while (cause instanceof CompletionException && cause.getCause() != null) {
      cause = cause.getCause();
    }
    return cause;
  }
}
