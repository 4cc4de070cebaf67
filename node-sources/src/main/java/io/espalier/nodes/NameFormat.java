package io.espalier.nodes;

import io.espalier.core.json.Json;
import io.espalier.core.problem.Suggestions;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** A text with placeholders in braces; a literal brace is written twice. Immutable. */
public final class NameFormat {
  /** The name of a placeholder, or literal text. */
  private record Part(boolean placeholder, String text) {}

  private final List<Part> parts;

  private NameFormat(List<Part> parts) {
    this.parts = List.copyOf(parts);
  }

  boolean uses(String placeholder) {
    return parts.contains(new Part(true, placeholder));
  }

  /** Returns the text with its placeholders filled in. */
  String name(UnaryOperator<String> values) {
    StringBuilder name = new StringBuilder();
    for (Part part : parts) {
      name.append(part.placeholder ? values.apply(part.text) : part.text);
    }
    return name.toString();
  }

  /**
   * Reads the value of a key.
   *
   * @param known allowed placeholders
   */
  static NameFormat read(String key, String format, List<String> known, Prefs prefs) {
    List<Part> parts = new ArrayList<>();
    StringBuilder text = new StringBuilder();
    for (int at = 0; at < format.length(); at++) {
      char c = format.charAt(at);
      boolean brace = c == '{' || c == '}';
      if (brace && at + 1 < format.length() && format.charAt(at + 1) == c) {
        text.append(c);
        at++;
      } else if (c == '{' && format.indexOf('}', at) >= 0) {
        int close = format.indexOf('}', at);
        flush(text, parts);
        placeholder(key, format.substring(at + 1, close), known, parts, prefs);
        at = close;
      } else if (brace) {
        problem(
            prefs,
            key,
            "the brace \"" + c + "\" at position " + (at + 1) + " has no partner",
            "write it twice to have it in the name");
      } else {
        text.append(c);
      }
    }
    flush(text, parts);
    if (format.isEmpty()) {
      problem(prefs, key, "the format is empty", null);
    }
    return new NameFormat(parts);
  }

  private static void flush(StringBuilder text, List<Part> parts) {
    if (text.length() > 0) {
      parts.add(new Part(false, text.toString()));
      text.setLength(0);
    }
  }

  private static void placeholder(
      String key, String name, List<String> known, List<Part> parts, Prefs prefs) {
    if (known.contains(name)) {
      parts.add(new Part(true, name));
    } else {
      problem(prefs, key, "unknown placeholder {" + name + "}", Suggestions.hint(name, known));
    }
  }

  public static void problem(Prefs prefs, String key, String message, @Nullable String hint) {
    Json value = prefs.object().get(key);
    prefs.error(
        prefs.at(key), value == null ? prefs.object().at() : value.at(), value, message, hint);
  }
}
