package io.espalier.webui.contract;

import io.espalier.core.json.Json;
import org.jspecify.annotations.Nullable;

/**
 * One violation of the contract in a request.
 *
 * @param in {@code path}, {@code query}, {@code header} or {@code body}
 * @param name of the parameter; for the body a JSON pointer, empty for the whole body
 * @param value the given value, shortened; null when it is missing
 * @param expected what the contract requires
 * @param message one sentence for people that says all of it
 * @param hint the value that was probably meant
 */
public record Violation(
    String in,
    String name,
    @Nullable String value,
    String expected,
    String message,
    @Nullable String hint) {

  /** Encodes the violation for the problem document. */
  public Json.Obj json() {
    Json.Builder json =
        Json.object().put("in", in).put(in.equals("body") ? "pointer" : "parameter", name);
    if (value != null) {
      json.put("value", value);
    }
    json.put("expected", expected).put("message", message);
    return hint == null ? json.build() : json.put("hint", hint).build();
  }

  @Override
  public String toString() {
    return hint == null ? message : message + "; " + hint;
  }
}
