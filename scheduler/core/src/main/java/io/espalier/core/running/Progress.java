package io.espalier.core.running;

import io.espalier.core.json.Json;
import org.jspecify.annotations.Nullable;

/**
 * The progress of a live task: the inner object of a {@code {"progress": {...}}} line on its status
 * pipe. The newest replaces older ones.
 *
 * @param done units done; null when not given
 * @param total total units; null when not given
 * @param cursor where the next attempt may continue; null when not given
 * @param json the whole object as the task wrote it, at most {@link #MAX_BYTES} of text
 */
public record Progress(
    @Nullable Long done, @Nullable Long total, @Nullable String cursor, Json.Obj json) {
  /** A longer line is not progress: it is dropped and reported. */
  public static final int MAX_BYTES = 64 * 1024;
}
