package io.espalier.core.api;

import io.espalier.core.json.Json;
import org.jspecify.annotations.Nullable;

/**
 * One task as monitors see it.
 *
 * @param status label, such as {@code unstarted}, {@code running}, {@code error_backoff}
 * @param bits behaviour 6.1
 * @param attempts how often it was started
 * @param untilMillis end of its back-off; 0: none
 * @param sinceMillis when it got this status; 0: unknown
 * @param data what the task said with its status
 */
public record TaskView(
    String job,
    String node,
    String level,
    String status,
    int bits,
    int attempts,
    long untilMillis,
    long sinceMillis,
    Json.@Nullable Obj data) {}
