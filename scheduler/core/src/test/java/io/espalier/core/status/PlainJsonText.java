package io.espalier.core.status;

import io.espalier.core.json.Json;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Result;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Enough of a JSON reader for the tests of core, which cannot see the real one. */
final class PlainJsonText implements JsonDecoder {
  @Override
  public Result<Json> read(String text) {
    try {
      Cursor cursor = new Cursor(text);
      Json value = cursor.value();
      cursor.blanks();
      if (cursor.at != text.length()) {
        throw new IllegalArgumentException("text after the value");
      }
      return new Result<>(value, List.of());
    } catch (IllegalArgumentException | StringIndexOutOfBoundsException e) {
      return new Result<>(null, List.of(Problem.error("", "not JSON: " + e.getMessage())));
    }
  }

  private static final class Cursor {
    private final String text;
    private int at;

    Cursor(String text) {
      this.text = text;
    }

    void blanks() {
      while (at < text.length() && Character.isWhitespace(text.charAt(at))) {
        at++;
      }
    }

    Json value() {
      blanks();
      char c = text.charAt(at);
      if (c == '{') {
        return object();
      }
      if (c == '[') {
        return array();
      }
      return c == '"' ? Json.of(string()) : word();
    }

    private Json object() {
      Map<String, Json> members = new LinkedHashMap<>();
      at++;
      blanks();
      while (text.charAt(at) != '}') {
        blanks();
        String key = string();
        blanks();
        expect(':');
        members.put(key, value());
        blanks();
        if (text.charAt(at) != '}') {
          expect(',');
        }
      }
      at++;
      return new Json.Obj(members);
    }

    private Json array() {
      List<Json> items = new ArrayList<>();
      at++;
      blanks();
      while (text.charAt(at) != ']') {
        items.add(value());
        blanks();
        if (text.charAt(at) != ']') {
          expect(',');
        }
      }
      at++;
      return new Json.Arr(items);
    }

    private String string() {
      expect('"');
      int end = text.indexOf('"', at);
      String value = text.substring(at, end);
      at = end + 1;
      return value;
    }

    private Json word() {
      int begin = at;
      while (at < text.length() && ",]} ".indexOf(text.charAt(at)) < 0) {
        at++;
      }
      String word = text.substring(begin, at);
      return switch (word) {
        case "true" -> Json.Bool.TRUE;
        case "false" -> Json.Bool.FALSE;
        case "null" -> Json.Null.NULL;
        default -> new Json.Num(new BigDecimal(word));
      };
    }

    private void expect(char c) {
      if (text.charAt(at) != c) {
        throw new IllegalArgumentException("expected " + c);
      }
      at++;
    }
  }
}
