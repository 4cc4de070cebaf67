package io.espalier.core.status;

import io.espalier.core.json.Json;
import io.espalier.core.json.Json.Obj;
import io.espalier.core.status.TaskStatus.Main;
import org.jspecify.annotations.Nullable;

/**
 * The result of an ended invocation, before its back-off is computed.
 *
 * @param main {@code DONE}, {@code INCOMPLETE}, {@code FAILED} or {@code ERROR}
 * @param usesBackoff whether the task must wait before the next start
 * @param holdsPosition whether that wait repeats the last interval instead of taking the next
 * @param keepsData true when the task itself wrote no status: {@code data} is added to the earlier
 *     data, so that its last checkpoint survives; otherwise {@code data} replaces the earlier data
 */
public record ParsedStatus(
    Main main, boolean usesBackoff, boolean holdsPosition, @Nullable Obj data, boolean keepsData) {

  public static final ParsedStatus DONE = new ParsedStatus(Main.DONE, false, false, null, false);
  public static final ParsedStatus INCOMPLETE =
      new ParsedStatus(Main.INCOMPLETE, false, false, null, false);
  public static final ParsedStatus INCOMPLETE_BACKOFF =
      new ParsedStatus(Main.INCOMPLETE, true, true, null, false);
  public static final ParsedStatus ERROR_BACKOFF =
      new ParsedStatus(Main.ERROR, true, false, null, false);
  public static final ParsedStatus FAILED =
      new ParsedStatus(Main.FAILED, false, false, null, false);

  /** The key of explanations in a task's data. */
  public static final String EXCEPTION = "exception";

  public ParsedStatus {
    if (main == Main.UNSTARTED || main == Main.RUNNING) {
      throw new IllegalArgumentException("no task ends as " + main);
    }
    if (main == Main.INCOMPLETE && usesBackoff && !holdsPosition) {
      throw new IllegalArgumentException("an incomplete task must not use up its back-off");
    }
  }

  /** Its form without time, as workers send it (docs/design/bistro.md#status-as-json). */
  public Json.Obj toJson() {
    int bits =
        main.bit()
            | (usesBackoff ? TaskStatus.USES_BACKOFF : 0)
            | (holdsPosition ? TaskStatus.DOES_NOT_ADVANCE_BACKOFF : 0);
    return Json.object().put("result_bits", bits).putIfPresent("data", data).build();
  }

  /**
   * An error found by the scheduler instead of the task: explained, with back-off, and preserving
   * earlier data.
   */
  public static ParsedStatus error(String exception) {
    return error(Json.object().put(EXCEPTION, exception).build());
  }

  /** The same with a detailed explanation. */
  static ParsedStatus error(Obj explanation) {
    return ERROR_BACKOFF.addingToData(explanation);
  }

  /**
   * The result of a task that was stopped and wrote no status: it waits, but its back-off does not
   * advance.
   */
  public static ParsedStatus killed(String exception) {
    return INCOMPLETE_BACKOFF.addingToData(Json.object().put(EXCEPTION, exception).build());
  }

  /** A copy with the task's data, replacing all earlier data. */
  public ParsedStatus withData(Json.@Nullable Obj newData) {
    return new ParsedStatus(main, usesBackoff, holdsPosition, newData, false);
  }

  private ParsedStatus addingToData(Json.Obj more) {
    return new ParsedStatus(main, usesBackoff, holdsPosition, more, true);
  }
}
