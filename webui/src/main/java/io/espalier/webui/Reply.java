package io.espalier.webui;

import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import io.espalier.webui.v1.ApiFailure;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A whole answer, before it is bytes.
 *
 * @param type of the content
 * @param headers further ones
 */
record Reply(int status, String type, String text, Map<String, String> headers) {
  static final String JSON = "application/json";
  static final String PROBLEM = "application/problem+json";

  /** The same with one more header. */
  Reply with(String name, String value) {
    Map<String, String> more = new LinkedHashMap<>(headers);
    more.put(name, value);
    return new Reply(status, type, text, more);
  }

  static Reply json(int status, Json body) {
    return new Reply(status, JSON, JsonWriter.compact(body), Map.of());
  }

  static Reply problem(ApiFailure failure) {
    return new Reply(
        failure.status(),
        PROBLEM,
        JsonWriter.compact(failure.document()),
        failure.status() == 429 || failure.status() == 503 ? Map.of("Retry-After", "1") : Map.of());
  }
}
