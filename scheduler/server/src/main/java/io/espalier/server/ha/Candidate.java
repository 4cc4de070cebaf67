package io.espalier.server.ha;

import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import io.espalier.json.JsonReader;
import java.util.Optional;

/**
 * The description that a scheduler publishes in ZooKeeper: enough for workers, clients and people
 * to find it.
 *
 * @param http where clients reach it, as {@code HOST:PORT}, or {@code https://HOST:PORT} over TLS;
 *     empty: nowhere
 * @param thrift where workers reach it once it leads; empty: it has no remote workers
 * @param pid of its process
 * @param startedMillis when its process joined, by its wall clock
 */
public record Candidate(String http, String thrift, String host, long pid, long startedMillis) {

  static final String TLS = "https://";

  /** Returns the URL for clients. */
  String url() {
    return url(http);
  }

  /** Returns the URL of an address in the form that candidates publish. */
  static String url(String http) {
    return http.startsWith(TLS) ? http : "http://" + http;
  }

  String toJson() {
    return JsonWriter.compact(
        Json.object()
            .put("http", http)
            .put("thrift", thrift)
            .put("host", host)
            .put("pid", pid)
            .put("started_ms", startedMillis)
            .build());
  }

  /** Parses a candidate; empty when the text does not describe one. */
  static Optional<Candidate> parse(String text) {
    if (JsonReader.parse(text).value() instanceof Json.Obj object
        && object.get("http") instanceof Json.Str http
        && object.get("thrift") instanceof Json.Str thrift
        && object.get("host") instanceof Json.Str host) {
      return Optional.of(
          new Candidate(
              http.value(),
              thrift.value(),
              host.value(),
              number(object, "pid"),
              number(object, "started_ms")));
    }
    return Optional.empty();
  }

  private static long number(Json.Obj object, String key) {
    return object.get(key) instanceof Json.Num number ? number.value().longValue() : 0;
  }

  /** Returns a readable form. */
  @Override
  public String toString() {
    return (http.isEmpty() ? thrift : http) + " (" + host + ", process " + pid + ")";
  }
}
