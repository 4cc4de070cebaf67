package io.espalier.worker.process;

/** Stub. */
final class Survivors {
  static final String COOKIE_VARIABLE = "ESPALIER_TASK_COOKIE";

  private Survivors() {}
}
