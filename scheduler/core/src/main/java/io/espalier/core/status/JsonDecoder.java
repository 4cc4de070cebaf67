package io.espalier.core.status;

import io.espalier.core.json.Json;
import io.espalier.core.problem.Result;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The port to a JSON reader for text that tasks wrote. Pure; invalid text is returned as a problem,
 * never thrown.
 */
@FunctionalInterface
public interface JsonDecoder {
  /** Reads one JSON value, or returns why the text is not valid JSON. */
  Result<Json> read(String text);

  /** A copy without the positions in the source text, which long-lived values do not need. */
  static Json withoutPositions(Json value) {
    if (value instanceof Json.Obj object) {
      Map<String, Json> members = new LinkedHashMap<>();
      object.members().forEach((key, member) -> members.put(key, withoutPositions(member)));
      return new Json.Obj(members);
    }
    if (value instanceof Json.Arr array) {
      return new Json.Arr(array.items().stream().map(JsonDecoder::withoutPositions).toList());
    }
    if (value instanceof Json.Str string) {
      return Json.of(string.value());
    }
    if (value instanceof Json.Num number) {
      return new Json.Num(number.value());
    }
    return value instanceof Json.Bool bool ? Json.of(bool.value()) : Json.Null.NULL;
  }
}
