package io.espalier.nodes.script;

import io.espalier.core.config.RoleFilter;
import io.espalier.core.json.Json;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Result;
import io.espalier.core.topology.NodeNames;
import io.espalier.json.JsonReader;
import io.espalier.nodes.NodeRow;
import io.espalier.nodes.ParentAlternatives;
import io.espalier.nodes.ParentAlternatives.Alternative;
import io.espalier.nodes.UnusableNodeException;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Reads an output line of a script: a plain name, or, when it begins with a brace, a JSON object
 * with {@code name} and any of {@code tags}, {@code disabled}, {@code attributes}, {@code parent},
 * and {@code role} or {@code alternatives}.
 */
final class ScriptLineParser {
  private static final List<String> KEYS =
      List.of("attributes", "disabled", "name", "parent", "tags", "role", ParentAlternatives.KEY);

  private ScriptLineParser() {}

  static NodeRow parse(@Nullable String text) throws UnusableNodeException {
    if (text == null) {
      throw new UnusableNodeException(
          "is not UTF-8, or longer than " + (ScriptOutput.MAX_LINE_BYTES >> 10) + " KiB");
    }
    if (text.isEmpty()) {
      throw new UnusableNodeException("is empty");
    }
    NodeRow line =
        text.charAt(0) == '{'
            ? parseObject(text)
            : new NodeRow(text, null, Set.of(), true, Json.Obj.EMPTY, RoleFilter.NONE, List.of());
    String objection = NodeNames.objection(line.name());
    if (objection != null) {
      throw new UnusableNodeException("is not a node name: it " + objection);
    }
    return line;
  }

  private static NodeRow parseObject(String text) throws UnusableNodeException {
    Result<Json> read = JsonReader.parse(text);
    if (!(read.value() instanceof Json.Obj object)) {
      String why = read.problems().stream().map(Problem::message).findFirst().orElse("");
      throw new UnusableNodeException("begins with { and is not a JSON object: " + why);
    }
    NodeRow.checkKeys(object, KEYS, key -> "");
    String role = ParentAlternatives.role(object.get("role"));
    List<Alternative> places = ParentAlternatives.read(object.get(ParentAlternatives.KEY));
    if (!role.isEmpty() && !places.isEmpty()) {
      throw new UnusableNodeException("has \"alternatives\" and, beside them, a role");
    }
    return new NodeRow(
        name(object),
        parent(object),
        tags(object),
        !disabled(object),
        attributes(object),
        role,
        places);
  }

  private static String name(Json.Obj object) throws UnusableNodeException {
    Json name = object.get("name");
    if (name instanceof Json.Str string) {
      return string.value();
    }
    throw name == null
        ? new UnusableNodeException("has no \"name\"")
        : new UnusableNodeException(
            "has a \"name\" that is " + name.kind() + ", expected a string");
  }

  private static @Nullable String parent(Json.Obj object) throws UnusableNodeException {
    Json parent = object.get("parent");
    if (parent == null || parent instanceof Json.Str) {
      return parent == null ? null : ((Json.Str) parent).value();
    }
    throw new UnusableNodeException(
        "has a \"parent\" that is " + parent.kind() + ", expected a string");
  }

  private static Set<String> tags(Json.Obj object) throws UnusableNodeException {
    Json tags = object.get("tags");
    if (tags == null) {
      return Set.of();
    }
    if (!(tags instanceof Json.Arr list)) {
      throw new UnusableNodeException(
          "has \"tags\" that are " + tags.kind() + ", expected a list of strings");
    }
    Set<String> strings = new LinkedHashSet<>();
    for (Json item : list.items()) {
      if (!(item instanceof Json.Str string) || string.value().isEmpty()) {
        throw new UnusableNodeException("has a tag that is not a string, or empty");
      }
      strings.add(string.value());
    }
    return strings;
  }

  private static boolean disabled(Json.Obj object) throws UnusableNodeException {
    Json disabled = object.get("disabled");
    if (disabled == null || disabled instanceof Json.Bool) {
      return disabled != null && ((Json.Bool) disabled).value();
    }
    throw new UnusableNodeException(
        "has \"disabled\" that is " + disabled.kind() + ", expected true or false");
  }

  private static Json.Obj attributes(Json.Obj object) throws UnusableNodeException {
    Json attributes = object.get("attributes");
    if (attributes == null || attributes instanceof Json.Obj) {
      // A copy without positions: they would point into a line that no longer exists.
      return attributes == null ? Json.Obj.EMPTY : new Json.Obj(((Json.Obj) attributes).members());
    }
    throw new UnusableNodeException(
        "has \"attributes\" that are " + attributes.kind() + ", expected an object");
  }
}
