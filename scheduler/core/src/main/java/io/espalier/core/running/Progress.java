package io.espalier.core.running;

import io.espalier.core.json.Json;
import org.jspecify.annotations.Nullable;

/**
 * How far a live task says it is: the inner object of a {@code {"progress": {...}}} line on its
 * status pipe, newest wins.
 *
 * @param done units done; null when it did not say
 * @param total units in all; null when it did not say
 * @param cursor where the next attempt may go on; null when it did not say
 * @param json the whole object as the task wrote it, at most {@link #MAX_BYTES} of text
 */
public record Progress(
    @Nullable Long done, @Nullable Long total, @Nullable String cursor, Json.Obj json) {
  /** A longer line is not progress: it is dropped and said. */
  public static final int MAX_BYTES = 64 * 1024;
}
