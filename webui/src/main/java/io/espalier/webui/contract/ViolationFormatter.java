package io.espalier.webui.contract;

import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import io.espalier.core.problem.Suggestions;
import io.espalier.core.text.ShortText;
import io.vertx.json.schema.OutputUnit;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Converts the errors of the Vert.x validator to sentences. The validator reports the path to each
 * fault as well as the fault; this class uses only the faults.
 */
final class ViolationFormatter {
  /**
   * The maximum number of violations: further ones are repetition, and a small body must not cause
   * a large answer.
   */
  static final int MAX = 100;

  private static final int SHOWN = 60;

  private static final Set<String> FAULTS =
      Set.of(
          "type",
          "enum",
          "const",
          "not",
          "oneOf",
          "anyOf",
          "required",
          "dependentRequired",
          "minimum",
          "maximum",
          "exclusiveMinimum",
          "exclusiveMaximum",
          "multipleOf",
          "minLength",
          "maxLength",
          "pattern",
          "format",
          "minItems",
          "maxItems",
          "uniqueItems",
          "minProperties",
          "maxProperties",
          "propertyNames",
          "additionalProperties");

  private final SchemaTree tree;
  private final Map<String, Object> root;
  private final SchemaDescription expectation;
  private final RequestData asked;
  private final Map<String, Violation> found = new LinkedHashMap<>();

  /**
   * @param root the schema used for the validation
   */
  ViolationFormatter(SchemaTree tree, Map<String, Object> root, RequestData asked) {
    this.tree = tree;
    this.root = root;
    this.expectation = new SchemaDescription(tree);
    this.asked = asked;
  }

  List<Violation> of(@Nullable List<OutputUnit> errors) {
    for (OutputUnit error : errors == null ? List.<OutputUnit>of() : errors) {
      if (found.size() < MAX) {
        take(error);
      }
    }
    return List.copyOf(found.values());
  }

  private void take(OutputUnit error) {
    List<String> keyword = tokens(error.getKeywordLocation());
    // The tokens are the operation, then path, query, header or body, then the position in it.
    List<String> at = tokens(error.getInstanceLocation());
    String fault = keyword.isEmpty() ? "" : keyword.get(keyword.size() - 1);
    if (!FAULTS.contains(fault) || at.isEmpty() || isInsideOfChoice(keyword)) {
      return;
    }
    Map<String, Object> schema = tree.holder(root, keyword);
    if (schema == null || (fault.equals("additionalProperties") && !isUnknown(schema, at))) {
      return;
    }
    List<String> place = new ArrayList<>(at.subList(1, at.size()));
    boolean missing = fault.equals("required");
    if (missing || fault.equals("dependentRequired")) {
      place.add(quotedLast(String.valueOf(error.getError())));
    }
    if (!place.isEmpty()) {
      String in = place.get(0);
      List<String> inside = place.subList(1, place.size());
      Violation violation =
          fault.equals("additionalProperties")
              ? unknown(in, inside, schema)
              : missing || fault.equals("dependentRequired")
                  ? missing(in, inside, schema)
                  : wrong(in, inside, schema);
      found.putIfAbsent(in + " " + violation.name(), violation);
    }
  }

  /**
   * Returns true when the member is really unknown. Vert.x also reports known members with a bad
   * value as additional ones.
   */
  private static boolean isUnknown(Map<String, Object> schema, List<String> at) {
    return Boolean.FALSE.equals(schema.get("additionalProperties"))
        && !(schema.get("properties") instanceof Map<?, ?> known
            && known.containsKey(at.get(at.size() - 1)));
  }

  /**
   * Returns true for an error inside one of several alternatives: when none matches, the errors of
   * each would only confuse.
   */
  private static boolean isInsideOfChoice(List<String> keyword) {
    for (int i = 0; i < keyword.size() - 1; i++) {
      String token = keyword.get(i);
      if (token.equals("propertyNames")
          || ((token.equals("oneOf") || token.equals("anyOf"))
              && keyword.get(i + 1).matches("[0-9]+"))) {
        return true;
      }
    }
    return false;
  }

  private Violation unknown(String in, List<String> inside, Map<String, Object> schema) {
    Set<String> known =
        schema.get("properties") == null
            ? Set.of()
            : SchemaTree.map(schema.get("properties")).keySet();
    if (inside.isEmpty()) {
      return new Violation(
          in,
          "",
          value(in, inside),
          "nothing",
          in.equals("body") ? "this operation takes no body" : "unknown " + in,
          null);
    }
    String name = inside.get(inside.size() - 1);
    String list = known.isEmpty() ? "there are none" : "there are " + String.join(", ", known);
    String expected = known.isEmpty() ? "nothing" : "one of " + String.join(", ", known);
    String hint = Suggestions.didYouMean(name, known);
    String message =
        in.equals("body")
            ? "unknown member \"" + dotted(inside) + "\" in the body; " + list
            : "unknown parameter \"" + name + "\"; " + list;
    return new Violation(
        in, in.equals("body") ? pointer(inside) : name, value(in, inside), expected, message, hint);
  }

  private Violation missing(String in, List<String> inside, Map<String, Object> schema) {
    String name = inside.isEmpty() ? "" : inside.get(inside.size() - 1);
    Object properties = schema.get("properties");
    Object member = properties == null ? null : SchemaTree.map(properties).get(name);
    String expected = member == null ? "a value" : expectation.of(SchemaTree.map(member));
    if (!in.equals("body")) {
      return new Violation(
          in, name, null, expected, called(in, name) + " is missing; it must be " + expected, null);
    }
    if (inside.isEmpty()) {
      return new Violation(in, "", null, "a body", "the body is missing", null);
    }
    return new Violation(
        in,
        pointer(inside),
        null,
        expected,
        "\"" + dotted(inside) + "\" is missing in the body; it must be " + expected,
        null);
  }

  private Violation wrong(String in, List<String> inside, Map<String, Object> schema) {
    String expected = expectation.of(schema);
    String value = value(in, inside);
    if (!in.equals("body")) {
      String name = inside.isEmpty() ? "" : inside.get(0);
      return new Violation(
          in,
          name,
          value,
          expected,
          called(in, name) + " must be " + expected + ", not \"" + value + "\"",
          "".equals(value) ? "leave it out when there is no value" : hint(value, schema));
    }
    Json given = given(inside);
    // For a wrong type, the type is enough; otherwise the value is quoted.
    boolean plain =
        given instanceof Json.Str || given instanceof Json.Num || given instanceof Json.Bool;
    boolean kindIsWrong =
        given != null
            && schema.get("type") instanceof String type
            && !schema.containsKey("enum")
            && !given.kind().endsWith(word(type));
    String actual = given == null ? "nothing" : plain && !kindIsWrong ? value : given.kind();
    String subject = inside.isEmpty() ? "the body" : "\"" + dotted(inside) + "\"";
    return new Violation(
        in,
        pointer(inside),
        value,
        expected,
        subject + " must be " + expected + ", not " + actual,
        given instanceof Json.Str text ? hint(text.value(), schema) : null);
  }

  private static String word(String type) {
    return switch (type) {
      case "integer" -> "number";
      case "array" -> "list";
      default -> type;
    };
  }

  private @Nullable String hint(@Nullable String value, Map<String, Object> schema) {
    if (value == null || !(tree.resolved(schema).get("enum") instanceof List<?> words)) {
      return null;
    }
    return Suggestions.didYouMean(value, words.stream().map(String::valueOf).toList());
  }

  private static String called(String in, String name) {
    return (in.equals("header") ? "header" : "parameter") + " \"" + name + "\"";
  }

  /** Returns the given value, shortened. */
  private @Nullable String value(String in, List<String> inside) {
    if (in.equals("body")) {
      Json given = given(inside);
      return given == null ? null : shown(JsonWriter.compact(given));
    }
    if (inside.isEmpty()) {
      return null;
    }
    String name = inside.get(0);
    if (!in.equals("query")) {
      return shown((in.equals("path") ? asked.path() : asked.headers()).get(name));
    }
    List<String> values = asked.query().getOrDefault(name, List.of());
    if (inside.size() == 1) {
      return values.isEmpty() ? null : shown(String.join(",", values));
    }
    int index = Integer.parseInt(inside.get(1));
    return index < values.size() ? shown(values.get(index)) : null;
  }

  private @Nullable Json given(List<String> inside) {
    Json at = asked.body();
    for (String token : inside) {
      if (at instanceof Json.Obj object) {
        at = object.get(token);
      } else if (at instanceof Json.Arr array && token.matches("[0-9]{1,9}")) {
        int index = Integer.parseInt(token);
        at = index < array.items().size() ? array.items().get(index) : null;
      } else {
        return null;
      }
    }
    return at;
  }

  static @Nullable String shown(@Nullable String text) {
    return text == null ? null : ShortText.shown(text, SHOWN);
  }

  private static String dotted(List<String> inside) {
    StringBuilder path = new StringBuilder();
    for (String token : inside) {
      if (token.matches("[0-9]+")) {
        path.append('[').append(token).append(']');
      } else {
        path.append(path.isEmpty() ? "" : ".").append(token);
      }
    }
    return String.valueOf(shown(path.toString()));
  }

  private static String pointer(List<String> inside) {
    StringBuilder pointer = new StringBuilder();
    for (String token : inside) {
      pointer.append('/').append(token.replace("~", "~0").replace("/", "~1"));
    }
    return pointer.toString();
  }

  private static String quotedLast(String message) {
    int end = message.lastIndexOf('"');
    int begin = end < 0 ? -1 : message.lastIndexOf('"', end - 1);
    return begin < 0 ? "" : message.substring(begin + 1, end);
  }

  /** Returns the tokens of {@code #/a/b%20c}. */
  private static List<String> tokens(@Nullable String location) {
    List<String> tokens = new ArrayList<>();
    String[] parts = String.valueOf(location).split("/", -1);
    for (int i = 1; i < parts.length; i++) {
      tokens.add(decoded(parts[i]).replace("~1", "/").replace("~0", "~"));
    }
    return tokens;
  }

  private static String decoded(String part) {
    try {
      return URLDecoder.decode(part.replace("+", "%2B"), StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      // The validator writes small bytes with one digit; the name is only for display.
      return part;
    }
  }
}
