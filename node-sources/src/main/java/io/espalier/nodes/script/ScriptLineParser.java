package io.espalier.nodes.script;

import io.espalier.core.config.RoleFilter;
import io.espalier.core.json.Json;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Result;
import io.espalier.core.problem.Suggestions;
import io.espalier.core.topology.NodeNames;
import io.espalier.json.JsonReader;
import io.espalier.nodes.ParentAlternatives;
import io.espalier.nodes.ParentAlternatives.Alternative;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One output line of a script: a plain name, or, when it begins with a brace, a JSON object with
 * {@code name} and any of {@code tags}, {@code disabled}, {@code attributes}, {@code parent}, and
 * {@code role} or {@code alternatives}.
 *
 * @param parent null: not named
 */
record ScriptLineParser(
    String name,
    @Nullable String parent,
    Set<String> tags,
    boolean enabled,
    Json.Obj attributes,
    String role,
    List<Alternative> alternatives) {
  private static final List<String> KEYS =
      List.of("attributes", "disabled", "name", "parent", "tags", "role", ParentAlternatives.KEY);

  /** The line does not describe a node; the message continues "line 7 …". */
  static final class Unusable extends Exception {
    private static final long serialVersionUID = 1L;

    Unusable(String message) {
      super(message, null, false, false);
    }
  }

  static ScriptLineParser parse(@Nullable String text) throws Unusable {
    if (text == null) {
      throw new Unusable(
          "is not UTF-8, or longer than " + (ScriptOutput.MAX_LINE_BYTES >> 10) + " KiB");
    }
    if (text.isEmpty()) {
      throw new Unusable("is empty");
    }
    ScriptLineParser line =
        text.charAt(0) == '{'
            ? parseObject(text)
            : new ScriptLineParser(
                text, null, Set.of(), true, Json.Obj.EMPTY, RoleFilter.NONE, List.of());
    String objection = NodeNames.objection(line.name);
    if (objection != null) {
      throw new Unusable("is not a node name: it " + objection);
    }
    return line;
  }

  private static ScriptLineParser parseObject(String text) throws Unusable {
    Result<Json> read = JsonReader.parse(text);
    if (!(read.value() instanceof Json.Obj object)) {
      String why = read.problems().stream().map(Problem::message).findFirst().orElse("");
      throw new Unusable("begins with { and is not a JSON object: " + why);
    }
    for (String key : object.members().keySet()) {
      if (!KEYS.contains(key) && !key.startsWith("_") && !key.startsWith("//")) {
        String near = Suggestions.closest(key, KEYS, 2);
        throw new Unusable(
            "has the unknown key \""
                + key
                + "\": "
                + (near == null
                    ? "what is free for you to choose goes into \"attributes\""
                    : "did you mean \"" + near + "\"?"));
      }
    }
    try {
      String role = ParentAlternatives.role(object.get("role"));
      List<Alternative> places = ParentAlternatives.read(object.get(ParentAlternatives.KEY));
      if (!role.isEmpty() && !places.isEmpty()) {
        throw new Unusable("has \"alternatives\" and, beside them, a role");
      }
      return new ScriptLineParser(
          name(object),
          parent(object),
          tags(object),
          !disabled(object),
          attributes(object),
          role,
          places);
    } catch (ParentAlternatives.Unusable e) {
      throw new Unusable(String.valueOf(e.getMessage()));
    }
  }

  private static String name(Json.Obj object) throws Unusable {
    Json name = object.get("name");
    if (name instanceof Json.Str string) {
      return string.value();
    }
    throw name == null
        ? new Unusable("has no \"name\"")
        : new Unusable("has a \"name\" that is " + name.kind() + ", expected a string");
  }

  private static @Nullable String parent(Json.Obj object) throws Unusable {
    Json parent = object.get("parent");
    if (parent == null || parent instanceof Json.Str) {
      return parent == null ? null : ((Json.Str) parent).value();
    }
    throw new Unusable("has a \"parent\" that is " + parent.kind() + ", expected a string");
  }

  private static Set<String> tags(Json.Obj object) throws Unusable {
    Json tags = object.get("tags");
    if (tags == null) {
      return Set.of();
    }
    if (!(tags instanceof Json.Arr list)) {
      throw new Unusable("has \"tags\" that are " + tags.kind() + ", expected a list of strings");
    }
    Set<String> strings = new LinkedHashSet<>();
    for (Json item : list.items()) {
      if (!(item instanceof Json.Str string) || string.value().isEmpty()) {
        throw new Unusable("has a tag that is not a string, or empty");
      }
      strings.add(string.value());
    }
    return strings;
  }

  private static boolean disabled(Json.Obj object) throws Unusable {
    Json disabled = object.get("disabled");
    if (disabled == null || disabled instanceof Json.Bool) {
      return disabled != null && ((Json.Bool) disabled).value();
    }
    throw new Unusable("has \"disabled\" that is " + disabled.kind() + ", expected true or false");
  }

  private static Json.Obj attributes(Json.Obj object) throws Unusable {
    Json attributes = object.get("attributes");
    if (attributes == null || attributes instanceof Json.Obj) {
      // A copy without positions: they would point into a line that no longer exists.
      return attributes == null ? Json.Obj.EMPTY : new Json.Obj(((Json.Obj) attributes).members());
    }
    throw new Unusable("has \"attributes\" that are " + attributes.kind() + ", expected an object");
  }
}
