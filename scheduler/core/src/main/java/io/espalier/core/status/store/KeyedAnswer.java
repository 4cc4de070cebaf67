package io.espalier.core.status.store;

import io.espalier.core.json.Json;

/**
 * What is remembered of a request that its client has marked with a key, so that the same request
 * is not carried out a second time.
 *
 * @param key identifies the caller and its key; at most 64 ASCII characters
 * @param sinceMillis when the request came, epoch milliseconds
 * @param body the request and its answer, in the form of the API; a store does not look into it
 */
public record KeyedAnswer(String key, long sinceMillis, Json.Obj body) {}
