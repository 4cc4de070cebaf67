package io.espalier.webui.contract;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Describes the requirements of a schema in words. */
final class SchemaDescription {
  private final SchemaTree tree;

  SchemaDescription(SchemaTree tree) {
    this.tree = tree;
  }

  /** Returns a phrase that fits after "must be", such as "a whole number from 1 to 1000". */
  String of(Map<String, Object> schema) {
    Map<String, Object> resolved = tree.resolved(schema);
    if (resolved.get("enum") instanceof Collection<?> words) {
      return words.size() == 1
          ? String.valueOf(words.iterator().next())
          : "one of " + joined(words, ", ");
    }
    if (resolved.containsKey("const")) {
      return String.valueOf(resolved.get("const"));
    }
    for (String several : List.of("oneOf", "anyOf")) {
      if (resolved.get(several) instanceof Collection<?> schemas) {
        return joined(schemas.stream().map(one -> of(SchemaTree.map(one))).toList(), " or ");
      }
    }
    Object type = resolved.get("type");
    if (type instanceof Collection<?> types) {
      return joined(types.stream().map(one -> ofType(one, resolved)).toList(), " or ");
    }
    return ofType(type, resolved);
  }

  private String ofType(@Nullable Object type, Map<String, Object> schema) {
    return switch (String.valueOf(type)) {
      case "integer" -> "a whole number" + range(schema);
      case "number" -> "a number" + range(schema);
      case "boolean" -> "true or false";
      case "string" -> text(schema);
      case "array" -> list(schema);
      case "object" -> object(schema);
      default -> String.valueOf(type);
    };
  }

  private static String range(Map<String, Object> schema) {
    Object least = schema.get("minimum");
    Object most = schema.get("maximum");
    Object above = schema.get("exclusiveMinimum");
    if (least != null && most != null) {
      return " from " + least + " to " + most;
    }
    String range = least == null ? "" : " of at least " + least;
    range += above == null ? "" : " above " + above;
    return most == null ? range : range + " of at most " + most;
  }

  private static String text(Map<String, Object> schema) {
    Object least = schema.get("minLength");
    Object most = schema.get("maxLength");
    String text = "a string";
    if (least != null && most != null) {
      text += " of " + least + " to " + most + " characters";
    } else if (least != null) {
      text += least.equals(1) ? " that is not empty" : " of at least " + least + " characters";
    } else if (most != null) {
      text += " of at most " + most + " characters";
    }
    if (schema.get("pattern") instanceof String pattern) {
      text += " that matches " + pattern;
    }
    return text;
  }

  private String list(Map<String, Object> schema) {
    List<String> bounds = new ArrayList<>();
    if (schema.get("minItems") != null) {
      bounds.add("at least " + schema.get("minItems"));
    }
    if (schema.get("maxItems") != null) {
      bounds.add("at most " + schema.get("maxItems"));
    }
    String size = bounds.isEmpty() ? "" : " with " + joined(bounds, " and ") + " items";
    String items =
        schema.get("items") instanceof Map<?, ?> each ? ", each " + of(SchemaTree.map(each)) : "";
    return "a list" + size + items;
  }

  private static String object(Map<String, Object> schema) {
    return Objects.equals(schema.get("minProperties"), 1)
        ? "an object that is not empty"
        : "an object";
  }

  private static String joined(Collection<?> words, String with) {
    return String.join(with, words.stream().map(String::valueOf).toList());
  }
}
