package io.espalier.core.event;

import io.espalier.core.json.Json;

/**
 * An event with its position in the sequence of all events.
 *
 * @param sequence grows by one; the value of {@code Last-Event-ID}
 * @param kind such as {@code task_started}, {@code task_ended}, {@code config_loaded}
 */
public record Event(long sequence, long timeMillis, String kind, Json.Obj data) {}
