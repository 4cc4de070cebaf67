package io.espalier.core.config.source;

import io.espalier.core.json.Json;
import org.jspecify.annotations.Nullable;

/**
 * One saved version of a job.
 *
 * @param version its {@code version_id}, 0 without one; that of a deletion is one more than the job
 *     had
 * @param atMillis when it was saved, epoch milliseconds
 * @param author who saved it; empty when not given
 * @param reason reason; empty when not given
 * @param job saved job; null for a deletion
 */
public record JobVersion(
    String name,
    long version,
    long atMillis,
    String author,
    String reason,
    Json.@Nullable Obj job) {}
