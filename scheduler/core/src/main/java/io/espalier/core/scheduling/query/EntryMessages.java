package io.espalier.core.scheduling.query;

import io.espalier.core.api.view.Explanation.Kind;
import io.espalier.core.api.view.Explanation.Reason;
import io.espalier.core.scheduling.capacity.HealthLimit;
import io.espalier.core.scheduling.capacity.LimitFactor;
import io.espalier.core.scheduling.capacity.RunningCap;
import io.espalier.core.scheduling.gate.Gate;
import io.espalier.core.scheduling.gate.Scope;
import io.espalier.core.status.store.LimitOverride;
import java.math.BigDecimal;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** Tells people what closes a job or a node, or changes a limit: by whom, until when, and why. */
final class EntryMessages {
  private EntryMessages() {}

  /** Explains a closed gate. */
  static Reason reason(Gate gate, long nowMillis) {
    String why = gate.reason();
    String message =
        switch (gate.kind()) {
          case PAUSE -> "the job is paused" + since(gate) + suffix(gate);
          case LOADING -> "the stored statuses of the job are still being read";
          case CAPACITY -> "the job waits for a place: " + why;
          case DEADLINE -> why + ": nothing more starts";
          case JOB_FAILED -> "the job has failed: " + why + "; it can be resumed or forgiven";
          case JOB_SUCCEEDED -> why + "; a resume lets the rest run";
          case NODE_CLOSED -> "the node is closed" + since(gate) + suffix(gate);
          case NODE_MOVING, JOB_STARTING, WORKER_STARTING -> why;
          case ROLLOUT -> "the stages of the roll-out are being determined";
          case HALTED ->
              "the roll-out is halted"
                  + since(gate)
                  + suffix(gate)
                  + "; it can be resumed or promoted";
          case JOB_WINDOW, NODE_WINDOW -> why + in(gate.untilMillis() - nowMillis);
          case WINDOW_CUTOFF ->
              "window of "
                  + gate.scope().level()
                  + " "
                  + gate.name()
                  + " "
                  + why
                  + in(gate.untilMillis() - nowMillis);
          case JOB_BRAKE -> "a brake stops the job" + since(gate) + suffix(gate);
          case NODE_BRAKE -> "a brake stops the node" + since(gate) + suffix(gate);
          case NODE_QUARANTINE -> "the node is quarantined" + since(gate) + suffix(gate);
          case JOB_QUARANTINE -> "the node is quarantined for the job" + since(gate) + suffix(gate);
        };
    String node = gate.kind().closes() == Scope.Kind.JOB ? null : gate.name();
    return Reason.of(gate.kind().explanation(), node, message).until(gate.untilMillis());
  }

  private static String in(long millis) {
    long minutes = (millis + 59_999) / 60_000;
    if (minutes <= 0) {
      return "";
    }
    long days = minutes / 1440;
    long hours = minutes / 60 % 24;
    String left =
        (days > 0 ? days + " d " : "")
            + (hours > 0 ? hours + " h " : "")
            + (days > 0 ? "" : minutes % 60 + " min");
    return " (in " + left.strip() + ")";
  }

  private static String since(Gate gate) {
    return gate.sinceMillis() == 0 ? "" : " since " + Instant.ofEpochMilli(gate.sinceMillis());
  }

  private static String suffix(Gate gate) {
    return suffix(gate.author(), gate.untilMillis(), gate.reason());
  }

  /**
   * Returns an addition to a sentence about a limit; empty when it is not overridden.
   *
   * @param configured the configured limit; -1: not mentioned
   */
  static String of(@Nullable LimitOverride override, int configured) {
    if (override == null) {
      return "";
    }
    return "; the limit of "
        + override.limit()
        + " is an override"
        + (configured >= 0 ? " of the configured " + configured : "")
        + (override.isOfLevel() ? " for all of level " + override.level() : "")
        + suffix(override.author(), override.untilMillis(), override.reason());
  }

  /** Returns an addition to a sentence about a limit that a factor has lowered. */
  static String of(LimitFactor factor, int base) {
    Scope scope = factor.scope();
    return "; the limit of "
        + base
        + " is multiplied by "
        + BigDecimal.valueOf(factor.millionths(), 6).stripTrailingZeros().toPlainString()
        + switch (scope.kind()) {
          case LEVEL -> ", for all of level " + scope.level();
          case NODE, JOB_ON_NODE -> ", on and below " + scope.name();
          case ALL, JOB, QUEUE, WORKER -> ", for all nodes";
        }
        + (factor.author().isEmpty() ? "" : ",")
        + suffix(factor.author(), factor.untilMillis(), factor.reason());
  }

  /** Returns an addition to a sentence about a limit that health has lowered. */
  static String of(HealthLimit health, int limit, long nowMillis) {
    return "; "
        + health.reasonAt(nowMillis)
        + ": "
        + health.limit()
        + " of "
        + limit
        + (limit == 1 ? " slot" : " slots");
  }

  /** Explains a cap that as many tasks have reached as run. */
  static Reason reason(RunningCap cap, int running) {
    boolean ofQueue = cap.scope().kind() == Scope.Kind.QUEUE;
    String message =
        "a brake lets "
            + cap.most()
            + (cap.most() == 1 ? " task of " : " tasks of ")
            + (ofQueue ? "queue " + cap.scope().name() : "the job")
            + " run at once, and "
            + running
            + (running == 1 ? " runs" : " run")
            + (cap.author().isEmpty() ? "" : ", set")
            + suffix(cap.author(), cap.untilMillis(), cap.reason());
    return Reason.of(ofQueue ? Kind.QUEUE_LIMIT : Kind.MAX_CONCURRENT, null, message)
        .lacking(null, 1, cap.most() - running, cap.most())
        .until(cap.untilMillis());
  }

  private static String suffix(String author, long untilMillis, String reason) {
    return (author.isEmpty() ? "" : " by " + author)
        + (untilMillis > 0 ? " until " + Instant.ofEpochMilli(untilMillis) : "")
        + (reason.isEmpty() ? "" : " (" + reason + ")");
  }
}
