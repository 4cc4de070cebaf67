package io.espalier.core.status;

import io.espalier.core.json.Json;
import io.soabase.recordbuilder.core.RecordBuilder;
import org.jspecify.annotations.Nullable;

/**
 * The last known status of a task that was tried at least once (docs/design/bistro.md#statuses).
 * Immutable.
 *
 * @param main exactly one main status; {@code UNSTARTED} only in the stored row of a task that was
 *     reset to run again
 * @param usesBackoff true when the task waits by its job's rules; otherwise it waits only for the
 *     pause between two starts
 * @param holdsPosition whether the back-off position does not advance (killed, preempted); while
 *     {@code RUNNING}: the task was cancelled, see {@link #isCancelled}
 * @param overwriteable whether the status is synthetic: the next real, non-running status replaces
 *     it
 * @param savedBackoff whether the effective wait differs from the job's own interval, which is
 *     {@code position} (worker lost)
 * @param sinceMillis when the scheduler set this status, epoch milliseconds
 * @param backoffSeconds effective wait after {@code sinceMillis}; 0: none. While {@code RUNNING},
 *     the wait that preceded this start if the previous start had no effect: the next such wait
 *     grows from it, but it does not delay the task
 * @param position last used interval of the job, from which {@code Backoff.next} continues; 0: at
 *     the start. Preserved while running and after never-started and killed
 * @param attempts number of invocations since it was last forgiven, or ever, this one included
 * @param data the task's own data; preserved by synthetic statuses
 * @param checkpoint the newest progress it wrote, for the next attempt; retained until it is done
 * @param failure why the latest attempt failed; null when it did not fail, was forgiven, or is
 *     running
 * @param retries counts of its failures for rules that consider progress
 * @param step where it is in the steps of its job; null: its job has none, or it begins with the
 *     first one
 */
@RecordBuilder
public record TaskStatus(
    Main main,
    boolean usesBackoff,
    boolean holdsPosition,
    boolean overwriteable,
    boolean savedBackoff,
    long sinceMillis,
    int backoffSeconds,
    int position,
    int attempts,
    Json.@Nullable Obj data,
    Json.@Nullable Obj checkpoint,
    @Nullable Failure failure,
    RetryCounts retries,
    @Nullable StepPosition step)
    implements TaskStatusBuilder.With {

  /** The key of the checkpoint in the data that stores write. */
  static final String CHECKPOINT_KEY = "__espalier_checkpoint";

  /** The key of the failure in the data that stores write. */
  static final String FAILURE_KEY = "__espalier_failure";

  /** The key of the retry counts in the data that stores write. */
  static final String RETRIES_KEY = "__espalier_retries";

  /** The key of the position in the steps in the data that stores write. */
  static final String STEP_KEY = "__espalier_step";

  /** The status of a task that was reset to run again: only its history remains. */
  public static TaskStatus unstarted(long nowMillis) {
    return of(Main.UNSTARTED, nowMillis, 0);
  }

  /** A status without wait and without data. */
  public static TaskStatus of(Main main, long sinceMillis, int attempts) {
    return new TaskStatus(
        main,
        false,
        false,
        false,
        false,
        sinceMillis,
        0,
        0,
        attempts,
        null,
        null,
        null,
        RetryCounts.NONE,
        null);
  }

  /** An error without data, which waits as long as the job's back-off requires. */
  public static TaskStatus waiting(long sinceMillis, int backoffSeconds, int attempts) {
    return of(Main.ERROR, sinceMillis, attempts)
        .with(s -> s.usesBackoff(true).backoffSeconds(backoffSeconds).position(backoffSeconds));
  }

  /** The main bits (docs/design/bistro.md#status-bits). */
  public enum Main {
    UNSTARTED(1),
    RUNNING(2),
    DONE(4),
    INCOMPLETE(8),
    FAILED(16),
    ERROR(32),
    /** An operator does not want it; beyond the bits of Bistro ({@link StatusBits#inBistro}). */
    CANCELLED(4096);

    private final int bit;

    Main(int bit) {
      this.bit = bit;
    }

    public int bit() {
      return bit;
    }
  }

  private static final Main[] MAINS = Main.values();

  /** The main bits of tasks that have been tried and have ended, or were cancelled. */
  public static final int TRIED =
      Main.DONE.bit()
          | Main.INCOMPLETE.bit()
          | Main.FAILED.bit()
          | Main.ERROR.bit()
          | Main.CANCELLED.bit();

  /** Flags (docs/design/bistro.md#status-bits). */
  public static final int USES_BACKOFF = 64;

  public static final int AVOIDED = 128;
  public static final int DISABLED = 256;
  public static final int DOES_NOT_ADVANCE_BACKOFF = 512;
  public static final int OVERWRITEABLE = 1024;
  public static final int HAS_SAVED_BACKOFF = 2048;

  /** All bits; includes {@code USES_BACKOFF} even after the wait is over. */
  public int bits() {
    return main.bit()
        | (usesBackoff ? USES_BACKOFF : 0)
        | (holdsPosition ? DOES_NOT_ADVANCE_BACKOFF : 0)
        | (overwriteable ? OVERWRITEABLE : 0)
        | (savedBackoff ? HAS_SAVED_BACKOFF : 0);
  }

  /** When the wait ends, epoch milliseconds; 0 when there is no wait. */
  public long readyAtMillis() {
    return main != Main.RUNNING && backoffSeconds > 0 ? sinceMillis + backoffSeconds * 1000L : 0;
  }

  /** Returns true when the task waits at that time. */
  public boolean isWaiting(long nowMillis) {
    return nowMillis < readyAtMillis();
  }

  /** Returns true when the task is never started again, unless forgiven. */
  public boolean isFinal() {
    return (main == Main.DONE && !isInVerification())
        || main == Main.FAILED
        || main == Main.CANCELLED;
  }

  /**
   * Returns true when the task is done and not verified yet: its dependants wait. In the stored
   * form it is done and {@code overwriteable}, so that the release before takes it for done.
   */
  public boolean awaitsVerification() {
    return main == Main.DONE && overwriteable;
  }

  /** Returns true when its verification may start, once a wait is over. */
  public boolean isInVerification() {
    return main == Main.DONE && overwriteable && savedBackoff;
  }

  /**
   * Returns true when an operator has cancelled the task. If it still runs, it ends as cancelled
   * unless it is done.
   */
  public boolean isCancelled() {
    return main == Main.CANCELLED || (main == Main.RUNNING && holdsPosition);
  }

  /**
   * Data, checkpoint, failure, retry counts and position in the steps as one object, for stores;
   * null when all are empty.
   */
  public Json.@Nullable Obj storedData() {
    Json.Obj all = data;
    if (checkpoint != null) {
      all = (all == null ? Json.Obj.EMPTY : all).with(CHECKPOINT_KEY, checkpoint);
    }
    if (failure != null) {
      all = (all == null ? Json.Obj.EMPTY : all).with(FAILURE_KEY, Json.of(failure.text()));
    }
    if (!retries.equals(RetryCounts.NONE)) {
      all = (all == null ? Json.Obj.EMPTY : all).with(RETRIES_KEY, retries.json());
    }
    if (step != null) {
      all = (all == null ? Json.Obj.EMPTY : all).with(STEP_KEY, step.json());
    }
    return all;
  }

  /**
   * The status with these {@link #bits}.
   *
   * @param storedData object from {@link #storedData}
   * @throws IllegalArgumentException when the bits are not those of a stored status
   */
  public static TaskStatus ofBits(
      int bits,
      long sinceMillis,
      int backoffSeconds,
      int position,
      int attempts,
      Json.@Nullable Obj storedData) {
    Json.Obj data =
        storedData == null
            ? null
            : storedData
                .without(CHECKPOINT_KEY)
                .without(FAILURE_KEY)
                .without(RETRIES_KEY)
                .without(STEP_KEY);
    Json kept = storedData == null ? null : storedData.get(CHECKPOINT_KEY);
    Json why = storedData == null ? null : storedData.get(FAILURE_KEY);
    Json counts = storedData == null ? null : storedData.get(RETRIES_KEY);
    Json at = storedData == null ? null : storedData.get(STEP_KEY);
    boolean hasOwnKeys = kept != null || why != null || counts != null || at != null;
    int flags = USES_BACKOFF | DOES_NOT_ADVANCE_BACKOFF | OVERWRITEABLE | HAS_SAVED_BACKOFF;
    for (Main main : MAINS) {
      if (main.bit() == (bits & ~flags) && (main != Main.UNSTARTED || (bits & flags) == 0)) {
        return new TaskStatus(
            main,
            (bits & USES_BACKOFF) != 0,
            (bits & DOES_NOT_ADVANCE_BACKOFF) != 0,
            (bits & OVERWRITEABLE) != 0,
            (bits & HAS_SAVED_BACKOFF) != 0,
            sinceMillis,
            backoffSeconds,
            position,
            attempts,
            data == null || (data.isEmpty() && hasOwnKeys) ? null : data,
            kept instanceof Json.Obj checkpoint ? checkpoint : null,
            why instanceof Json.Str text ? Failure.of(text.value()) : null,
            RetryCounts.of(counts),
            StepPosition.of(at));
      }
    }
    throw new IllegalArgumentException("not the bits of a stored status: " + bits);
  }

  /** The label of the status. */
  public StatusLabel label() {
    return StatusLabel.of(bits());
  }

  /**
   * Bistro's JSON form (docs/design/bistro.md#status-as-json), which the next invocation receives
   * as {@code prev_status}.
   */
  public Json.Obj toJson() {
    Json.Builder json =
        Json.object()
            .put("result_bits", bits())
            .put("time", Math.floorDiv(sinceMillis, 1000L))
            .putIfPresent("data", data);
    if (usesBackoff && backoffSeconds != 0) {
      json.put("backoff_duration", backoffSeconds);
    }
    return json.build();
  }
}
