package io.espalier.core.event;

import io.espalier.core.json.Json;

/**
 * Something that happened, in order.
 *
 * @param sequence grows by one; what {@code Last-Event-ID} carries
 * @param kind such as {@code task_started}, {@code task_ended}, {@code config_loaded}
 */
public record Event(long sequence, long timeMillis, String kind, Json.Obj data) {}
