package io.espalier.server;

/** The exit codes of the public contract (docs/design/design.md#exit-codes). */
public final class ExitCode {
  public static final int OK = 0;

  /** The task failed, or the server refused the request. */
  public static final int FAILED = 1;

  /** Usage or configuration error, lock held, port in use, not authorised. */
  public static final int USAGE = 2;

  /** The server cannot be reached. */
  public static final int UNREACHABLE = 3;

  /** Added to the number of the signal that ended the command: 130 for SIGINT, 143 for SIGTERM. */
  public static final int SIGNAL = 128;

  private ExitCode() {}
}
