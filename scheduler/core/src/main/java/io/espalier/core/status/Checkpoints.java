package io.espalier.core.status;

import io.espalier.core.json.Json;
import io.espalier.core.running.Progress;
import org.jspecify.annotations.Nullable;

/**
 * Derives a task's checkpoint, which it retains from attempt to attempt, from its progress
 * (docs/design/features.md#progress-and-checkpoints).
 */
public final class Checkpoints {
  private static final String CURSOR = "cursor";

  private Checkpoints() {}

  /**
   * The checkpoint updated with the newest progress; the old cursor is retained unless there is a
   * new one.
   */
  public static Json.Obj updated(Json.@Nullable Obj before, Progress newest) {
    Json old = before == null ? null : before.get(CURSOR);
    return newest.cursor() != null || old == null ? newest.json() : newest.json().with(CURSOR, old);
  }

  /** Returns true when an attempt made progress: the cursor has changed, or more is done. */
  public static boolean gotOn(Json.@Nullable Obj before, Json.@Nullable Obj after) {
    if (after == null) {
      return false;
    }
    Progress was = ProgressParser.of(before == null ? Json.Obj.EMPTY : before);
    Progress is = ProgressParser.of(after);
    long done = was.done() == null ? 0 : was.done();
    return (is.cursor() != null && !is.cursor().equals(was.cursor()))
        || (is.done() != null && is.done() > done);
  }
}
