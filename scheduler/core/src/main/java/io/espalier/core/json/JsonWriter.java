package io.espalier.core.json;

import java.math.BigDecimal;
import java.util.Iterator;
import java.util.Map;

/** Writes JSON values as text. Output is pure ASCII-safe JSON: control characters are escaped. */
public final class JsonWriter {
  private static final String HEX = "0123456789abcdef";

  /** How many digits fit into a {@code long} in any case. */
  private static final int DIGITS_OF_LONG = 18;

  private JsonWriter() {}

  /** Writes on one line, without blanks. */
  public static String compact(Json value) {
    StringBuilder out = new StringBuilder();
    compact(value, out);
    return out.toString();
  }

  /** Appends the value on one line, without blanks. */
  public static void compact(Json value, StringBuilder out) {
    write(value, out, -1, 0);
  }

  /** Writes with an indentation of two blanks per level, without a final newline. */
  public static String pretty(Json value) {
    StringBuilder out = new StringBuilder();
    write(value, out, 2, 0);
    return out.toString();
  }

  private static void write(Json value, StringBuilder out, int indent, int depth) {
    if (value instanceof Json.Obj object) {
      writeObject(object, out, indent, depth);
    } else if (value instanceof Json.Arr array) {
      writeArray(array, out, indent, depth);
    } else if (value instanceof Json.Str string) {
      quote(string.value(), out);
    } else if (value instanceof Json.Num number) {
      writeNumber(number.value(), out);
    } else {
      out.append(value);
    }
  }

  private static void writeObject(Json.Obj object, StringBuilder out, int indent, int depth) {
    out.append('{');
    if (object.members() instanceof Members members) {
      // Nearly always. An entry for each member would be garbage at once.
      for (int i = 0; i < members.size(); i++) {
        writeMember(i == 0, members.key(i), members.value(i), out, indent, depth + 1);
      }
    } else {
      boolean first = true;
      for (Map.Entry<String, Json> member : object.members().entrySet()) {
        writeMember(first, member.getKey(), member.getValue(), out, indent, depth + 1);
        first = false;
      }
    }
    if (!object.isEmpty()) {
      newLine(out, indent, depth);
    }
    out.append('}');
  }

  private static void writeMember(
      boolean first, String key, Json value, StringBuilder out, int indent, int depth) {
    if (!first) {
      out.append(',');
    }
    newLine(out, indent, depth);
    quote(key, out);
    out.append(indent < 0 ? ":" : ": ");
    write(value, out, indent, depth);
  }

  private static void writeNumber(BigDecimal value, StringBuilder out) {
    if (value.scale() == 0 && value.precision() <= DIGITS_OF_LONG) {
      out.append(value.longValue()); // Nearly always, and without a text of its own.
    } else {
      // The plain form of 1e1000000 would be a megabyte of zeros.
      boolean plain = Math.abs((long) value.scale()) <= 40;
      out.append(plain ? value.toPlainString() : value.toString());
    }
  }

  private static void writeArray(Json.Arr array, StringBuilder out, int indent, int depth) {
    out.append('[');
    Iterator<Json> items = array.items().iterator();
    while (items.hasNext()) {
      newLine(out, indent, depth + 1);
      write(items.next(), out, indent, depth + 1);
      if (items.hasNext()) {
        out.append(',');
      }
    }
    if (!array.items().isEmpty()) {
      newLine(out, indent, depth);
    }
    out.append(']');
  }

  private static void newLine(StringBuilder out, int indent, int depth) {
    if (indent >= 0) {
      out.append('\n').append(" ".repeat(indent * depth));
    }
  }

  /** Appends the string as a JSON literal, quotes included. */
  public static void quote(String text, StringBuilder out) {
    out.append('"');
    int length = text.length();
    int plain = 0;
    while (plain < length && isPlain(text.charAt(plain))) {
      plain++;
    }
    if (plain == length) {
      out.append(text); // Nearly always, and much faster than character by character.
    } else {
      out.append(text, 0, plain);
      for (int i = plain; i < length; i++) {
        append(text.charAt(i), out);
      }
    }
    out.append('"');
  }

  private static boolean isPlain(char c) {
    if (c < 0x7f) {
      return c >= 0x20 && c != '"' && c != '\\';
    }
    return c != 0x7f && !Character.isSurrogate(c) && c != '\u2028' && c != '\u2029';
  }

  private static void append(char c, StringBuilder out) {
    switch (c) {
      case '"' -> out.append("\\\"");
      case '\\' -> out.append("\\\\");
      case '\n' -> out.append("\\n");
      case '\r' -> out.append("\\r");
      case '\t' -> out.append("\\t");
      default -> {
        if (isPlain(c)) {
          out.append(c);
        } else {
          escape(c, out);
        }
      }
    }
  }

  private static void escape(char c, StringBuilder out) {
    out.append("\\u")
        .append(HEX.charAt(c >> 12))
        .append(HEX.charAt((c >> 8) & 0xf))
        .append(HEX.charAt((c >> 4) & 0xf))
        .append(HEX.charAt(c & 0xf));
  }
}
