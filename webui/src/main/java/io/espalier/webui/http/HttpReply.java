package io.espalier.webui.http;

import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import io.espalier.webui.v1.ApiException;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A complete answer before it is encoded.
 *
 * @param type content type
 * @param headers additional headers
 */
public record HttpReply(int status, String type, String text, Map<String, String> headers) {
  public static final String JSON = "application/json";
  static final String PROBLEM = "application/problem+json";

  /** Returns the same reply with one more header. */
  public HttpReply with(String name, String value) {
    Map<String, String> more = new LinkedHashMap<>(headers);
    more.put(name, value);
    return new HttpReply(status, type, text, more);
  }

  public static HttpReply json(int status, Json body) {
    return new HttpReply(status, JSON, JsonWriter.compact(body), Map.of());
  }

  /**
   * Returns a temporary redirect.
   *
   * @param more more members of the document
   */
  public static HttpReply redirect(String location, String detail, Json.Obj more) {
    Json.Builder document =
        Json.object()
            .put("type", "about:blank")
            .put("title", "Temporary Redirect")
            .put("status", 307)
            .put("detail", detail);
    more.members().forEach(document::put);
    return json(307, document.build()).with("Location", location);
  }

  public static HttpReply problem(ApiException failure) {
    return new HttpReply(
        failure.status(),
        PROBLEM,
        JsonWriter.compact(failure.document()),
        failure.status() == 429 || failure.status() == 503 ? Map.of("Retry-After", "1") : Map.of());
  }
}
