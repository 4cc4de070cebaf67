package io.espalier.nodes;

import io.espalier.core.json.Json;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Result;
import io.espalier.json.JsonReader;
import java.math.BigDecimal;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Maps the columns of foreign rows to the properties of a node. Without configuration they are
 * {@code name}, {@code parent}, {@code tags}, {@code disabled}, {@code attributes}, {@code role}
 * and {@code alternatives}, and any other column is an error. A configuration that names columns
 * knows the rows, so other columns are ignored. Immutable.
 *
 * <p>The preference {@code distinct} tells that equal rows about a node count once: a list of
 * shards names each host many times.
 */
public final class ColumnMapping {
  private static final Pattern BETWEEN_TAGS = Pattern.compile("[,;\\s]+");
  private static final String ALL = "*";
  private static final String ROLE = "role";
  private static final String VALUE = "value";
  private static final List<String> KEYS =
      List.of("name", "parent", "tags", "disabled", "attributes", ROLE, ParentAlternatives.KEY);

  private final String name;
  private final String parent;
  private final String tags;
  private final String disabled;

  /**
   * The column that contains an object of attributes; empty if each attribute has a column of its
   * own.
   */
  private final String attributes;

  /** Columns that are attributes; {@link #ALL}: every column without another meaning. */
  private final List<String> listed;

  /** Columns of places; empty: none. A table may have a column "role" with another meaning. */
  private final String role;

  private final String alternatives;
  private final boolean strict;
  private final boolean distinct;

  private ColumnMapping(
      String name,
      String parent,
      String tags,
      String disabled,
      String attributes,
      List<String> listed,
      String role,
      String alternatives,
      boolean strict,
      boolean distinct) {
    this.name = name;
    this.parent = parent;
    this.tags = tags;
    this.disabled = disabled;
    this.attributes = attributes;
    this.listed = List.copyOf(listed);
    this.role = role;
    this.alternatives = alternatives;
    this.strict = strict;
    this.distinct = distinct;
  }

  /** Returns the default columns, for rows without a configuration. */
  static ColumnMapping usual() {
    return usual(false);
  }

  private static ColumnMapping usual(boolean distinct) {
    return new ColumnMapping(
        "name",
        "parent",
        "tags",
        "disabled",
        "attributes",
        List.of(),
        ROLE,
        ParentAlternatives.KEY,
        true,
        distinct);
  }

  /**
   * Reads the preferences {@code columns} and {@code distinct}.
   *
   * @param rest whether columns without another meaning are attributes, unless the preference lists
   *     the attributes
   */
  public static ColumnMapping read(Prefs prefs, boolean rest) {
    boolean distinct = prefs.bool("distinct", false);
    Json value = prefs.get("columns");
    if (value == null) {
      return rest
          ? new ColumnMapping(
              "name", "parent", "tags", "disabled", "", List.of(ALL), "", "", false, distinct)
          : usual(distinct);
    }
    if (!(value instanceof Json.Obj object)) {
      prefs.expected("columns", value, "an object");
      return usual();
    }
    Prefs in = prefs.inside(object, prefs.at("columns"));
    String what = "the name of a column";
    String named = in.string("name", what, "name");
    String parent = in.string("parent", what, "parent");
    String tags = in.string("tags", what, "tags");
    String disabled = in.string("disabled", what, "disabled");
    String role = in.string(ROLE, what, rest ? "" : ROLE);
    String alternatives =
        in.string(ParentAlternatives.KEY, what, rest ? "" : ParentAlternatives.KEY);
    String attributes = rest ? "" : "attributes";
    List<String> listed = rest ? List.of(ALL) : List.of();
    if (in.get("attributes") instanceof Json.Arr) {
      listed = in.strings("attributes");
      attributes = "";
    } else if (in.get("attributes") != null) {
      attributes = in.string("attributes", "a column, a list of them, or \"*\" for all", "");
      listed = attributes.equals(ALL) ? List.of(ALL) : List.of();
      attributes = attributes.equals(ALL) ? "" : attributes;
    }
    in.reportUnknownKeys();
    return new ColumnMapping(
        named, parent, tags, disabled, attributes, listed, role, alternatives, false, distinct);
  }

  /** Returns the name of the column that contains node names. */
  public String nameColumn() {
    return name;
  }

  /** Returns whether equal rows count once. */
  boolean distinct() {
    return distinct;
  }

  /** Returns the name of the column that contains the names of parents. */
  String parentColumn() {
    return parent;
  }

  /** Returns a row about a node: an object gets its name, and anything else is its value. */
  Json about(String node, Json value) {
    return value instanceof Json.Obj row
        ? row.with(name, Json.of(node))
        : Json.object()
            .put(name, node)
            .put(listed.isEmpty() || listed.contains(ALL) ? VALUE : listed.get(0), value)
            .build();
  }

  /** Returns the node that a value describes: a name, or an object. */
  NodeRow node(Json value) throws UnusableNodeException {
    if (value instanceof Json.Str text) {
      return NodeRow.named(text.value());
    }
    if (!(value instanceof Json.Obj row)) {
      throw new UnusableNodeException("is " + value.kind() + ", expected a name or an object");
    }
    checkKeys(row);
    String named = text(row, name);
    if (named == null) {
      throw new UnusableNodeException("has no \"" + name + "\"" + columnsOf(row));
    }
    return new NodeRow(
            named,
            text(row, parent),
            tags(row),
            !isDisabled(row),
            attributes(row),
            ParentAlternatives.role(row.get(role)),
            ParentAlternatives.read(nested(row.get(alternatives))))
        .checked();
  }

  /** Parses a nested value, because tables contain lists as text. */
  private static @Nullable Json nested(@Nullable Json value) throws UnusableNodeException {
    if (!(value instanceof Json.Str text)) {
      return value;
    }
    if (text.value().isBlank()) {
      return null;
    }
    Json read = JsonReader.parse(text.value()).value();
    if (read == null) {
      throw new UnusableNodeException("has \"alternatives\" that are not JSON");
    }
    return read;
  }

  /** Says which columns a row has, to somebody whose configuration names another one. */
  private String columnsOf(Json.Obj row) {
    return name.equals("name") || row.members().isEmpty()
        ? ""
        : "; there are "
            + shortened(
                row.members().keySet().stream()
                    .map(column -> "\"" + column + "\"")
                    .collect(Collectors.joining(", ")));
  }

  private void checkKeys(Json.Obj row) throws UnusableNodeException {
    if (!strict) {
      return;
    }
    NodeRow.checkKeys(
        row,
        KEYS,
        key ->
            "say in the preference \"columns\" what is what, such as {\"name\": \""
                + key
                + "\"}; ");
  }

  /** Returns a value as text, because names may be numbers in foreign data. */
  private static @Nullable String text(Json.Obj row, String column) throws UnusableNodeException {
    Json value = row.get(column);
    if (value == null || value instanceof Json.Null) {
      return null;
    }
    if (value instanceof Json.Str text) {
      return text.value();
    }
    if (value instanceof Json.Num number && isWhole(number.value())) {
      return number.value().toBigInteger().toString();
    }
    throw new UnusableNodeException(
        "has a \"" + column + "\" that is " + value.kind() + ", expected a string");
  }

  private static boolean isWhole(BigDecimal number) {
    return number.stripTrailingZeros().scale() <= 0 && number.precision() - number.scale() < 40;
  }

  private Set<String> tags(Json.Obj row) throws UnusableNodeException {
    Json value = row.get(tags);
    if (value == null || value instanceof Json.Null) {
      return Set.of();
    }
    Set<String> found = new LinkedHashSet<>();
    if (value instanceof Json.Str text) {
      for (String tag : BETWEEN_TAGS.split(text.value(), -1)) {
        if (!tag.isEmpty()) {
          found.add(tag);
        }
      }
      return found;
    }
    if (!(value instanceof Json.Arr list)) {
      throw new UnusableNodeException(
          "has \"" + tags + "\" that are " + value.kind() + ", expected a list of strings");
    }
    for (Json item : list.items()) {
      if (!(item instanceof Json.Str tag) || tag.value().isEmpty()) {
        throw new UnusableNodeException("has a tag that is not a string, or empty");
      }
      found.add(tag.value());
    }
    return found;
  }

  private boolean isDisabled(Json.Obj row) throws UnusableNodeException {
    Json value = row.get(disabled);
    if (value == null || value instanceof Json.Null) {
      return false;
    }
    if (value instanceof Json.Bool bool) {
      return bool.value();
    }
    String text = value instanceof Json.Str string ? string.value() : value.toString();
    return switch (text.toLowerCase(Locale.ROOT)) {
      case "", "0", "false" -> false;
      case "1", "true" -> true;
      default ->
          throw new UnusableNodeException(
              "has \"" + disabled + "\" that is neither true nor false: " + shortened(value));
    };
  }

  private static String shortened(Json value) {
    return shortened(value.toString());
  }

  private static String shortened(String text) {
    return text.length() > 60 ? text.substring(0, 60) + "…" : text;
  }

  private Json.Obj attributes(Json.Obj row) throws UnusableNodeException {
    if (!attributes.isEmpty()) {
      return attributesObject(row.get(attributes));
    }
    Map<String, Json> found = new LinkedHashMap<>();
    if (listed.contains(ALL)) {
      row.members()
          .forEach(
              (key, value) -> {
                boolean other =
                    List.of(name, parent, tags, disabled, role, alternatives).contains(key);
                if (!other && !(value instanceof Json.Null)) {
                  found.put(key, value);
                }
              });
    } else {
      for (String column : listed) {
        Json value = row.get(column);
        if (value != null && !(value instanceof Json.Null)) {
          found.put(column, value);
        }
      }
    }
    return found.isEmpty() ? Json.Obj.EMPTY : new Json.Obj(found);
  }

  private Json.Obj attributesObject(@Nullable Json value) throws UnusableNodeException {
    if (value == null || value instanceof Json.Null) {
      return Json.Obj.EMPTY;
    }
    if (value instanceof Json.Obj object) {
      // A copy without positions: they would point into a text that no longer exists.
      return new Json.Obj(object.members());
    }
    if (value instanceof Json.Str text) {
      if (text.value().isBlank()) {
        return Json.Obj.EMPTY;
      }
      Result<Json> read = JsonReader.parse(text.value());
      if (read.value() instanceof Json.Obj object) {
        return new Json.Obj(object.members());
      }
      String why = read.problems().stream().map(Problem::message).findFirst().orElse("");
      throw new UnusableNodeException(
          "has \""
              + attributes
              + "\" that are not a JSON object"
              + (why.isEmpty() ? "" : ": " + why));
    }
    throw new UnusableNodeException(
        "has \"" + attributes + "\" that are " + value.kind() + ", expected an object");
  }
}
