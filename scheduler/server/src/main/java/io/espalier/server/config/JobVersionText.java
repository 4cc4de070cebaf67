package io.espalier.server.config;

import io.espalier.core.config.source.JobVersion;
import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import io.espalier.json.JsonReader;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/** Converts an entry of a job's history to and from JSON. */
final class JobVersionText {
  private JobVersionText() {}

  /** Encodes a version in UTF-8. */
  static byte[] write(JobVersion version) {
    return JsonWriter.compact(
            Json.object()
                .put("job", version.name())
                .put("version", version.version())
                .put("at_ms", version.atMillis())
                .put("author", version.author())
                .put("reason", version.reason())
                .putIfPresent("config", version.job())
                .build())
        .getBytes(StandardCharsets.UTF_8);
  }

  /** Decodes a version; empty for other text, because other programs may write there too. */
  static Optional<JobVersion> read(byte[] bytes) {
    if (JsonReader.config().read(bytes).value() instanceof Json.Obj object
        && object.get("job") instanceof Json.Str job) {
      return Optional.of(
          new JobVersion(
              job.value(),
              number(object, "version"),
              number(object, "at_ms"),
              text(object, "author"),
              text(object, "reason"),
              object.get("config") instanceof Json.Obj config ? config : null));
    }
    return Optional.empty();
  }

  private static String text(Json.Obj object, String key) {
    return object.get(key) instanceof Json.Str string ? string.value() : "";
  }

  private static long number(Json.Obj object, String key) {
    return object.get(key) instanceof Json.Num number ? number.value().longValue() : 0;
  }
}
