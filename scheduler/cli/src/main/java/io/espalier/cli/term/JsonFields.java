package io.espalier.cli.term;

import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads bodies of the contract leniently: fields missing from a newer or older server are empty.
 */
public final class JsonFields {
  private JsonFields() {}

  public static String text(Json.Obj object, String key) {
    Json value = object.get(key);
    return value == null ? "" : text(value);
  }

  /** Returns a string unchanged, any other value as JSON. */
  public static String text(Json value) {
    return value instanceof Json.Str string ? string.value() : JsonWriter.compact(value);
  }

  public static long number(Json.Obj object, String key) {
    return object.get(key) instanceof Json.Num number ? number.value().longValue() : 0;
  }

  public static boolean isTrue(Json.Obj object, String key) {
    return Json.Bool.TRUE.equals(object.get(key));
  }

  public static Json.Obj object(Json.Obj object, String key) {
    return object.get(key) instanceof Json.Obj inner ? inner : Json.Obj.EMPTY;
  }

  public static List<String> texts(Json.Obj object, String key) {
    List<String> texts = new ArrayList<>();
    if (object.get(key) instanceof Json.Arr array) {
      for (Json item : array.items()) {
        if (item instanceof Json.Str text) {
          texts.add(text.value());
        }
      }
    }
    return texts;
  }

  public static List<Json.Obj> objects(Json.Obj object, String key) {
    List<Json.Obj> objects = new ArrayList<>();
    if (object.get(key) instanceof Json.Arr array) {
      for (Json item : array.items()) {
        if (item instanceof Json.Obj inner) {
          objects.add(inner);
        }
      }
    }
    return objects;
  }
}
