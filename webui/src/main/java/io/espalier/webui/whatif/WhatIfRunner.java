package io.espalier.webui.whatif;

import io.espalier.core.api.RefusedException;
import java.util.List;
import java.util.concurrent.CompletionStage;

/** Runs {@code espalier simulate --json} apart from this process. Thread-safe. */
public interface WhatIfRunner {
  /** Stands for a server that cannot run any. */
  WhatIfRunner NONE =
      (snapshot, options) -> {
        throw new RefusedException(
            RefusedException.Reason.UNSUPPORTED,
            "this server cannot simulate; run espalier simulate");
      };

  /**
   * Starts a run, without waiting for its process.
   *
   * @param snapshot as {@link io.espalier.core.api.SchedulerApi#snapshot} returns it
   * @param options of the command, one argument each
   * @throws RefusedException when this server cannot run any
   */
  Run start(byte[] snapshot, List<String> options);

  /** One run. */
  interface Run {
    /** Completes when the process is gone; fails when it could not be started. */
    CompletionStage<Ended> ended();

    /** Ends the process. Does not wait, and does nothing when it has ended. */
    void kill();
  }

  /**
   * The end of a run.
   *
   * @param exitCode as {@code docs/cli.md} has them
   * @param output the answer, if the exit code is 0
   * @param errors what the process wrote for people
   * @param exceeded the bound for which it was killed, such as "45 s"; empty if it was not
   */
  record Ended(int exitCode, String output, String errors, String exceeded) {}
}
