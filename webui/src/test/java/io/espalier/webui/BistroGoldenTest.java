package io.espalier.webui;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import java.io.IOException;
import java.io.InputStream;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every handler of Bistro in its documented shapes (docs/design/bistro.md#queries-over-http). */
class BistroGoldenTest {
  static Stream<Named<Json.Obj>> cases() throws IOException {
    try (InputStream in =
        Objects.requireNonNull(BistroGoldenTest.class.getResourceAsStream("/golden/bistro.json"))) {
      Json all = Served.json(new String(in.readAllBytes(), StandardCharsets.UTF_8));
      return ((Json.Arr) all)
          .items().stream()
              .map(item -> (Json.Obj) item)
              .map(item -> Named.of(((Json.Str) get(item, "name")).value(), item));
    }
  }

  @ParameterizedTest
  @MethodSource("cases")
  void aRequestIsAnsweredAsWritten(Json.Obj golden) {
    try (Served served = Served.standard()) {
      HttpResponse<String> response = served.post("/", JsonWriter.compact(get(golden, "request")));

      assertThat(response.statusCode()).isEqualTo(200);
      assertThat(response.headers().firstValue("Content-Type")).contains("application/json");
      Json answer = Served.json(response.body());
      if (golden.get("pick") instanceof Json.Arr picks) {
        for (Json key : picks.items()) {
          answer = get((Json.Obj) answer, ((Json.Str) key).value());
        }
      }
      assertThat(answer).isEqualTo(get(golden, "response"));
      if (golden.get("calls") instanceof Json.Arr calls) {
        List<String> expected = calls.items().stream().map(c -> ((Json.Str) c).value()).toList();
        assertThat(served.scheduler.calls()).map(Object::toString).isEqualTo(expected);
      }
    }
  }

  private static Json get(Json.Obj object, String key) {
    return Objects.requireNonNull(object.get(key), key);
  }
}
