package io.espalier.core.status;

import io.espalier.core.json.Json;
import io.espalier.core.running.Counters;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.ResourceUsage;
import io.espalier.core.running.StopReason;
import io.espalier.core.running.TaskResult;
import io.espalier.core.running.WorkerRef;
import io.espalier.core.text.ShortText;
import io.soabase.recordbuilder.core.RecordBuilder;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * One ended invocation, as recorded in the history of its task.
 *
 * @param number number of the attempt of its task, from 1
 * @param invocation its token, and when the scheduler started it
 * @param endedAtMillis epoch milliseconds, by the clock of its host if known
 * @param bits bits of the resulting task status
 * @param stopReason why its runner stopped it; null when it ended by itself
 * @param message what went wrong, at most {@link #MAX_MESSAGE} characters; empty when nothing did
 * @param fingerprint fingerprint shared by failures with the same cause, see {@link
 *     FailureFingerprint}; empty for an attempt that did not fail
 * @param gotOn whether it made progress: its cursor changed, or its {@code done} grew
 * @param backoffSeconds the back-off of its task afterwards; 0: none
 * @param waitedMillis how long its task had been eligible when the scheduler started it (see {@code
 *     SchedulingCore.eligibleMillis}); {@link #UNKNOWN_WAIT}: not known
 * @param startedAtMillis start of its process, or sending of its call, epoch milliseconds by the
 *     clock of its host; 0: it did not start, or it is not known
 * @param counters what it counted, which belongs to its task and job from then on
 * @param step the {@linkplain StepPosition#label step} that it was; empty: its job has none
 */
@RecordBuilder
public record Attempt(
    String job,
    String node,
    int number,
    Invocation invocation,
    WorkerRef worker,
    long endedAtMillis,
    TaskResult.Kind kind,
    int bits,
    @Nullable Integer exitCode,
    @Nullable Integer signal,
    boolean coreDumped,
    @Nullable StopReason stopReason,
    ResourceUsage usage,
    String message,
    String fingerprint,
    boolean gotOn,
    int backoffSeconds,
    long waitedMillis,
    long startedAtMillis,
    Counters counters,
    String step)
    implements AttemptBuilder.With {
  /** The wait of an attempt whose scheduler, or whose release, did not record it. */
  public static final long UNKNOWN_WAIT = -1;

  /** Longer messages are cut; the logs contain the rest. */
  public static final int MAX_MESSAGE = 500;

  /**
   * Creates the attempt for an end.
   *
   * @param status status of the task after the attempt
   * @param gotOn whether it made progress
   * @param waitedMillis how long its task had been eligible before
   * @param nowMillis when the scheduler learned of the end, for runners that do not report the time
   */
  public static Attempt of(
      TaskResult end,
      int number,
      WorkerRef worker,
      TaskStatus status,
      boolean gotOn,
      long waitedMillis,
      long nowMillis) {
    boolean failed =
        status.main() == TaskStatus.Main.ERROR
            || status.main() == TaskStatus.Main.FAILED
            || end.stopReason() != null
            || end.coreDumped();
    boolean says = end.message() != null && end.lastErrorLine() == null;
    String message = failed || says ? cause(end, status) : "";
    return new Attempt(
        end.job(),
        end.node(),
        number,
        end.invocation(),
        worker,
        end.endedAtMillis() > 0 ? end.endedAtMillis() : nowMillis,
        end.kind(),
        status.bits(),
        end.exitCode(),
        end.signal(),
        end.coreDumped(),
        end.stopReason(),
        end.usage() == null ? ResourceUsage.UNKNOWN : end.usage(),
        ShortText.cut(message, MAX_MESSAGE),
        failed ? FailureFingerprint.of(end, message) : "",
        gotOn,
        status.backoffSeconds(),
        waitedMillis,
        end.startedAtMillis(),
        end.counters(),
        "");
  }

  /**
   * Corrects an attempt recorded as lost with its real end, for the history only. The status of the
   * task, and its counts, remain as they are.
   */
  public Attempt reportedLate(TaskResult end) {
    String raw = end.rawStatus() == null ? "" : ", with status " + end.rawStatus().strip();
    String text =
        "reported after its worker was taken for lost, so it does not count: it ended as "
            + end.kind().name().toLowerCase(Locale.ROOT)
            + raw;
    return with(
        attempt ->
            attempt
                .endedAtMillis(end.endedAtMillis() > 0 ? end.endedAtMillis() : endedAtMillis)
                .kind(end.kind())
                .exitCode(end.exitCode())
                .signal(end.signal())
                .coreDumped(end.coreDumped())
                .stopReason(end.stopReason())
                .usage(end.usage() == null ? ResourceUsage.UNKNOWN : end.usage())
                .message(ShortText.cut(text, MAX_MESSAGE))
                .fingerprint("")
                .gotOn(false)
                .startedAtMillis(end.startedAtMillis())
                // What it counted after it was taken for lost does not count.
                .counters(Counters.NONE));
  }

  /** How long it ran, in milliseconds, from when its process started, or else was placed. */
  public long ranMillis() {
    return Math.max(
        0, endedAtMillis - (startedAtMillis > 0 ? startedAtMillis : invocation.startMillis()));
  }

  /**
   * The failure to store in the task's status; null when the attempt did not fail, was only
   * stopped, or never began.
   */
  public @Nullable Failure failure() {
    boolean failed = (bits & (TaskStatus.Main.ERROR.bit() | TaskStatus.Main.FAILED.bit())) != 0;
    return failed && kind != TaskResult.Kind.NOT_STARTED && !fingerprint.isEmpty()
        ? new Failure(fingerprint, message)
        : null;
  }

  private static String cause(TaskResult end, TaskStatus status) {
    if (end.message() != null && end.lastErrorLine() == null) {
      return end.message();
    }
    Json.Obj data = status.data();
    for (String key : new String[] {ParsedStatus.EXCEPTION, "error", "message"}) {
      if (data != null && data.get(key) instanceof Json.Str text && !text.value().isBlank()) {
        return text.value();
      }
    }
    if (end.lastErrorLine() == null && end.rawStatus() != null && isGoodExit(end)) {
      return "the task said " + status.main().name().toLowerCase(Locale.ROOT) + " without a reason";
    }
    return StatusParser.whyItFailed(end);
  }

  /** Detects exit code 0, because "exited with code 0" would read like success. */
  private static boolean isGoodExit(TaskResult end) {
    return end.exitCode() != null && end.exitCode() == 0;
  }
}
