package io.espalier.webui.bistro;

import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import io.espalier.core.text.ShortText;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;

/**
 * The arguments of one sub-query. Like Bistro, it accepts a number instead of a name and vice
 * versa; any other wrong type is an error that names the expected one.
 */
record Arguments(Json.Obj json) {
  private static final int SHOWN = 60;

  boolean has(String key) {
    return json.get(key) != null;
  }

  /** Returns the names, or an empty list when the key is missing or an empty object. */
  List<String> names(String key) {
    Json value = json.get(key);
    if (value == null) {
      return List.of();
    }
    if (value instanceof Json.Obj object && object.isEmpty()) {
      return List.of(); // What PHP makes of an empty list.
    }
    if (!(value instanceof Json.Arr array)) {
      throw new BadArgumentsException(
          "\"" + key + "\" must be a list of names, not " + shown(value));
    }
    List<String> names = new ArrayList<>();
    for (Json item : array.items()) {
      names.add(asText(key, item));
    }
    return names;
  }

  String text(String key) {
    Json value = json.get(key);
    if (value == null) {
      throw new BadArgumentsException("\"" + key + "\" is missing");
    }
    return asText(key, value);
  }

  Json.Obj object(String key) {
    if (json.get(key) instanceof Json.Obj object) {
      return object;
    }
    throw new BadArgumentsException("\"" + key + "\" must be an object");
  }

  String text(String key, String otherwise) {
    return has(key) ? text(key) : otherwise;
  }

  /**
   * Returns a whole number.
   *
   * @throws BadArgumentsException when it is not one, or outside {@code min} to {@code max}
   */
  long integer(String key, long min, long max) {
    String text = text(key);
    try {
      long value = new BigDecimal(text).longValueExact();
      if (value >= min && value <= max) {
        return value;
      }
    } catch (ArithmeticException | NumberFormatException e) {
      // Reported below, together with the other cases.
    }
    throw new BadArgumentsException(
        "\""
            + key
            + "\" must be a whole number from "
            + min
            + " to "
            + max
            + ", not "
            + ShortText.shown(text, SHOWN));
  }

  private static String asText(String key, Json value) {
    if (value instanceof Json.Str string) {
      return string.value();
    }
    if (value instanceof Json.Num number) {
      return JsonWriter.compact(number);
    }
    throw new BadArgumentsException("\"" + key + "\" must be a string, not " + shown(value));
  }

  private static String shown(Json value) {
    return value.kind() + " (" + ShortText.shown(JsonWriter.compact(value), SHOWN) + ")";
  }
}
