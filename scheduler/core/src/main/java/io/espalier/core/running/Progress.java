package io.espalier.core.running;

import io.espalier.core.json.Json;
import org.jspecify.annotations.Nullable;

/**
 * The progress of a live task: the inner object of a {@code {"progress": {...}}} line on its status
 * pipe, and what its {@code {"count": {...}}} lines add up to. The newest replaces older ones.
 *
 * @param done units done; null when not given
 * @param total total units; null when not given
 * @param cursor where the next attempt may continue; null when not given
 * @param json the whole object as the task wrote it, at most {@link #MAX_BYTES} of text; empty: it
 *     has only counted
 * @param counters what this invocation has counted since its start
 * @param poll how its call was last asked about; null: it is no call, or this says nothing of that
 */
public record Progress(
    @Nullable Long done,
    @Nullable Long total,
    @Nullable String cursor,
    Json.Obj json,
    Counters counters,
    @Nullable CallPoll poll) {
  /** A longer line is not progress: it is dropped and reported. */
  public static final int MAX_BYTES = 64 * 1024;

  /** The progress of a task that has not said anything. */
  public static final Progress NONE =
      new Progress(null, null, null, Json.Obj.EMPTY, Counters.NONE, null);

  /** Returns whether the task has only counted. */
  public boolean isEmpty() {
    return json.isEmpty();
  }

  /** A copy with other counters. */
  public Progress withCounters(Counters newest) {
    return new Progress(done, total, cursor, json, newest, poll);
  }

  /** A copy that says how the call was asked about. */
  public Progress withPoll(CallPoll newest) {
    return new Progress(done, total, cursor, json, counters, newest);
  }

  /**
   * Returns what is known after this: a poll alone leaves the progress before it as it was, and a
   * progress alone the poll before it.
   */
  public Progress after(@Nullable Progress earlier) {
    if (earlier == null) {
      return this;
    }
    if (poll == null) {
      return earlier.poll == null ? this : withPoll(earlier.poll);
    }
    return isEmpty() ? earlier.withPoll(poll) : this;
  }
}
