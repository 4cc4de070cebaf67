package io.espalier.server.config.yaml;

import io.espalier.core.json.Json;
import io.espalier.core.json.Position;
import io.espalier.core.problem.Problem.Severity;
import io.espalier.core.problem.ProblemPath;
import io.espalier.core.problem.Problems;
import io.espalier.core.problem.Suggestions;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** What jobs take over with {@code extends}. */
final class Templates {
  private static final String EXTENDS = "extends";
  private static final ProblemPath PATH = ProblemPath.ROOT.key("templates");

  /** Each takes some of the stack. */
  private static final int MOST_DEEP = 100;

  private final Json.Obj templates;
  private final Set<String> used = new TreeSet<>();

  /** Templates with what they extend, so that each is put together once. */
  private final Map<String, Json.Obj> wholes = new HashMap<>();

  Templates(Json.Obj templates) {
    this.templates = templates;
  }

  /**
   * Returns an object with the members of the templates that it extends. Its own win; of several
   * templates the later one. Objects in it are merged member by member, lists are replaced.
   */
  Json.Obj extended(Json.Obj object, ProblemPath path, Problems problems) {
    return extended(object, path, new ArrayDeque<>(), problems);
  }

  private Json.Obj extended(
      Json.Obj object, ProblemPath path, Deque<String> open, Problems problems) {
    Json given = object.get(EXTENDS);
    if (given == null) {
      return object;
    }
    ProblemPath at = path.key(EXTENDS);
    Json.Obj result = new Json.Obj(Map.of(), Map.of(), object.at());
    for (Json each : given instanceof Json.Arr list ? list.items() : List.of(given)) {
      Json.Obj template = template(each, at, open, problems);
      if (template != null) {
        String name = ((Json.Str) each).value();
        Json.Obj whole = wholes.get(name);
        if (whole == null) {
          open.push(name);
          whole = extended(template, PATH.key(name), open, problems);
          open.pop();
          wholes.put(name, whole);
        }
        result = merged(result, whole);
      }
    }
    return merged(result, object.without(EXTENDS));
  }

  private Json.@Nullable Obj template(
      Json named, ProblemPath at, Deque<String> open, Problems problems) {
    if (!(named instanceof Json.Str name)) {
      problems.error(at, named, "expected the name of a template, found " + named.kind(), null);
      return null;
    }
    if (open.contains(name.value())) {
      problems.error(at, named, "this template extends itself", "remove one \"extends\"");
      return null;
    }
    if (open.size() >= MOST_DEEP) {
      String message = "templates extend each other more than " + MOST_DEEP + " deep";
      problems.error(at, named, message, "let one template extend several in a list");
      return null;
    }
    used.add(name.value());
    Json found = templates.get(name.value());
    if (found instanceof Json.Obj template) {
      return template;
    }
    if (found == null) {
      problems.error(
          at,
          named,
          "unknown template",
          templates.isEmpty()
              ? "there are none; write them under \"templates\""
              : Suggestions.hint(name.value(), templates.members().keySet()));
    } else {
      problems.error(
          PATH.key(name.value()), found, "expected an object, found " + found.kind(), null);
    }
    return null;
  }

  private static Json.Obj merged(Json.Obj base, Json.Obj over) {
    Map<String, Json> members = new LinkedHashMap<>(base.members());
    Map<String, Position> keys = new HashMap<>(base.keyPositions());
    over.members()
        .forEach(
            (key, value) -> {
              Json inherited = members.get(key);
              members.put(
                  key,
                  inherited instanceof Json.Obj below && value instanceof Json.Obj above
                      ? merged(below, above)
                      : value);
              keys.put(key, over.keyAt(key));
            });
    return new Json.Obj(members, keys, over.at());
  }

  /** Warns of templates that no job extends: nobody looked at what is in them. */
  void warnOfUnused(Problems problems) {
    for (String name : templates.members().keySet()) {
      if (!used.contains(name)) {
        problems.add(
            Problems.at(
                Severity.WARNING,
                PATH.key(name),
                templates.keyAt(name),
                null,
                "no job extends this template, so nothing checks it",
                null));
      }
    }
  }
}
