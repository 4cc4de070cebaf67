package io.espalier.core.status;

import io.espalier.core.json.Json;
import org.jspecify.annotations.Nullable;

/**
 * The last known status of a task that was tried at least once (docs/design/bistro.md#statuses).
 * Immutable.
 *
 * @param main exactly one; {@code UNSTARTED} only in what is stored of a task that was made to run
 *     again
 * @param usesBackoff waits by its job's rules; without, only for the pause between two starts
 * @param holdsPosition does not advance the back-off position (killed, preempted)
 * @param overwriteable synthetic: the next real, non-running status replaces it
 * @param savedBackoff the effective wait differs from the job's own interval, which is {@code
 *     position} (worker lost)
 * @param sinceMillis when the scheduler gave it this status, epoch milliseconds
 * @param backoffSeconds effective wait after {@code sinceMillis}; 0: none. While {@code RUNNING},
 *     the wait that a start which came to nothing had before, from which the next such wait grows;
 *     it is not waited for
 * @param position the job's interval used last, where {@code Backoff.next} goes on; 0: at the
 *     start. Kept over {@code RUNNING}, never-started and killed
 * @param attempts invocations since it was last forgiven, or ever, this one included
 * @param data what the task said; kept over synthetic statuses
 * @param checkpoint the newest progress it wrote, for the next attempt; kept until it is done
 * @param failure why the latest attempt failed; null: it did not, or is forgiven, or is under way
 * @param retries its failures as rules that look at progress count them
 */
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
    RetryCounts retries) {

  /** The key under which stores keep the checkpoint within the data. */
  static final String CHECKPOINT_KEY = "__espalier_checkpoint";

  /** The key under which stores keep the failure within the data. */
  static final String FAILURE_KEY = "__espalier_failure";

  /** The key under which stores keep the counts of retries within the data. */
  static final String RETRIES_KEY = "__espalier_retries";

  /** What is stored of a task that was made to run again: nothing but its history remains. */
  public static TaskStatus unstarted(long nowMillis) {
    return of(Main.UNSTARTED, nowMillis, 0);
  }

  /** One that is not waited after, of a task that has said nothing. */
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
        RetryCounts.NONE);
  }

  /** An error that is waited after as long as the job's back-off says, and that says nothing. */
  public static TaskStatus waiting(long sinceMillis, int backoffSeconds, int attempts) {
    return new TaskStatus(
        Main.ERROR,
        true,
        false,
        false,
        false,
        sinceMillis,
        backoffSeconds,
        backoffSeconds,
        attempts,
        null,
        null,
        null,
        RetryCounts.NONE);
  }

  /** The main bits (docs/design/bistro.md#status-bits). */
  public enum Main {
    UNSTARTED(1),
    RUNNING(2),
    DONE(4),
    INCOMPLETE(8),
    FAILED(16),
    ERROR(32);

    private final int bit;

    Main(int bit) {
      this.bit = bit;
    }

    public int bit() {
      return bit;
    }
  }

  /** Flags (docs/design/bistro.md#status-bits). */
  public static final int USES_BACKOFF = 64;

  public static final int AVOIDED = 128;
  public static final int DISABLED = 256;
  public static final int DOES_NOT_ADVANCE_BACKOFF = 512;
  public static final int OVERWRITEABLE = 1024;
  public static final int HAS_SAVED_BACKOFF = 2048;

  /** All bits, {@code USES_BACKOFF} also after the wait is over. */
  public int bits() {
    return main.bit()
        | (usesBackoff ? USES_BACKOFF : 0)
        | (holdsPosition ? DOES_NOT_ADVANCE_BACKOFF : 0)
        | (overwriteable ? OVERWRITEABLE : 0)
        | (savedBackoff ? HAS_SAVED_BACKOFF : 0);
  }

  /** When the wait ends, epoch milliseconds; 0 when there is none. */
  public long readyAtMillis() {
    return main != Main.RUNNING && backoffSeconds > 0 ? sinceMillis + backoffSeconds * 1000L : 0;
  }

  /** Whether it waits at that instant. */
  public boolean isWaiting(long nowMillis) {
    return nowMillis < readyAtMillis();
  }

  /** Never to be started again, unless forgiven. */
  public boolean isFinal() {
    return main == Main.DONE || main == Main.FAILED;
  }

  /** The same with another wait. */
  TaskStatus withBackoffSeconds(int newBackoffSeconds) {
    return new TaskStatus(
        main,
        usesBackoff,
        holdsPosition,
        overwriteable,
        savedBackoff,
        sinceMillis,
        newBackoffSeconds,
        position,
        attempts,
        data,
        checkpoint,
        failure,
        retries);
  }

  /** The same with what the task said. */
  public TaskStatus withData(Json.@Nullable Obj newData) {
    return new TaskStatus(
        main,
        usesBackoff,
        holdsPosition,
        overwriteable,
        savedBackoff,
        sinceMillis,
        backoffSeconds,
        position,
        attempts,
        newData,
        checkpoint,
        failure,
        retries);
  }

  /** The same with another checkpoint. */
  public TaskStatus withCheckpoint(Json.@Nullable Obj newCheckpoint) {
    return new TaskStatus(
        main,
        usesBackoff,
        holdsPosition,
        overwriteable,
        savedBackoff,
        sinceMillis,
        backoffSeconds,
        position,
        attempts,
        data,
        newCheckpoint,
        failure,
        retries);
  }

  /** The same with why its latest attempt failed. */
  public TaskStatus withFailure(@Nullable Failure newFailure) {
    return new TaskStatus(
        main,
        usesBackoff,
        holdsPosition,
        overwriteable,
        savedBackoff,
        sinceMillis,
        backoffSeconds,
        position,
        attempts,
        data,
        checkpoint,
        newFailure,
        retries);
  }

  /** The same with other counts of retries. */
  public TaskStatus withRetries(RetryCounts newRetries) {
    return new TaskStatus(
        main,
        usesBackoff,
        holdsPosition,
        overwriteable,
        savedBackoff,
        sinceMillis,
        backoffSeconds,
        position,
        attempts,
        data,
        checkpoint,
        failure,
        newRetries);
  }

  /** Data, checkpoint, failure and retries as one object, for stores; null: there is none. */
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
    return all;
  }

  /**
   * The status with these {@link #bits}.
   *
   * @param storedData as {@link #storedData} gave it
   * @throws IllegalArgumentException when they are not those of a stored status
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
            : storedData.without(CHECKPOINT_KEY).without(FAILURE_KEY).without(RETRIES_KEY);
    Json kept = storedData == null ? null : storedData.get(CHECKPOINT_KEY);
    Json why = storedData == null ? null : storedData.get(FAILURE_KEY);
    Json counts = storedData == null ? null : storedData.get(RETRIES_KEY);
    boolean hasOwnKeys = kept != null || why != null || counts != null;
    int flags = USES_BACKOFF | DOES_NOT_ADVANCE_BACKOFF | OVERWRITEABLE | HAS_SAVED_BACKOFF;
    for (Main main : Main.values()) {
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
            RetryCounts.of(counts));
      }
    }
    throw new IllegalArgumentException("not the bits of a stored status: " + bits);
  }

  /** The word for it. */
  public StatusLabel label() {
    return StatusLabel.of(bits());
  }

  /**
   * Bistro's JSON form (docs/design/bistro.md#status-as-json), which the next invocation gets as
   * {@code prev_status}.
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
