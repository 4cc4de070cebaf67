package io.espalier.server.config.yaml;

import io.espalier.core.config.schema.UnknownKeys;
import io.espalier.core.json.Json;
import io.espalier.core.problem.ProblemPath;
import io.espalier.core.problem.Problems;
import io.espalier.server.config.yaml.Translator.Members;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The preferences of sources of nodes in their short form, {@code KIND: {...}}. Sources define them
 * themselves, so only the names that most share are translated, and the times of schedules.
 */
final class Preferences {
  private static final Map<String, String> TO_JSON =
      Map.of("under", "parent_level", "timeout", "timeout_sec", "refresh", "refresh_sec");
  static final Map<String, String> TO_YAML =
      Map.of("parent_level", "under", "timeout_sec", "timeout", "refresh_sec", "refresh");

  /** Times of the entries of {@code schedule} of the source {@code add_time}. */
  private static final Set<String> TIMES = Set.of("lifetime", "enabled_lifetime");

  private Preferences() {}

  /** Whether the key of a source can be its kind. */
  static boolean canBeKind(String key) {
    return !key.isEmpty()
        && !UnknownKeys.isComment(key)
        && !TO_JSON.containsKey(key)
        && !TO_YAML.containsKey(key);
  }

  /** The keys of this source are names of nodes. */
  private static boolean hasNames(String kind) {
    return kind.equals("manual");
  }

  static Unit timeOf(String key) {
    return TO_YAML.containsKey(key) && key.endsWith("_sec") ? Unit.SECONDS : Unit.NONE;
  }

  /** Returns the preferences in Bistro's notation; null when they are broken. */
  static @Nullable Json read(Json in, String kind, ProblemPath path, Problems problems) {
    if (in instanceof Json.Null) {
      return new Json.Obj(Map.of(), Map.of(), in.at());
    }
    if (!(in instanceof Json.Obj object) || hasNames(kind)) {
      return in;
    }
    UnknownKeys.report(
        object,
        path,
        problems,
        object.members().keySet().stream().filter(key -> !TO_YAML.containsKey(key)).toList(),
        key -> Notation.misplaced("did you mean \"" + TO_YAML.get(key) + "\"?"));
    Members out = new Members(object);
    object
        .members()
        .forEach(
            (key, value) -> {
              ProblemPath inside = path.key(key);
              if (!TO_YAML.containsKey(key)) {
                String json = TO_JSON.getOrDefault(key, key);
                Unit unit = timeOf(json);
                boolean isSchedule = kind.equals("add_time") && key.equals("schedule");
                out.put(
                    json,
                    isSchedule
                        ? schedule(value, inside, problems)
                        : unit.read(value, inside, problems),
                    object.keyAt(key));
              }
            });
    return out.build();
  }

  private static Json schedule(Json in, ProblemPath path, Problems problems) {
    if (!(in instanceof Json.Arr list)) {
      return in;
    }
    List<Json> out = new ArrayList<>();
    for (int i = 0; i < list.items().size(); i++) {
      if (!(list.items().get(i) instanceof Json.Obj entry)) {
        out.add(list.items().get(i));
        continue;
      }
      ProblemPath inside = path.index(i);
      Members members = new Members(entry);
      entry
          .members()
          .forEach(
              (key, value) ->
                  members.put(
                      key,
                      TIMES.contains(key)
                          ? Unit.SECONDS.read(value, inside.key(key), problems)
                          : value,
                      entry.keyAt(key)));
      out.add(members.build());
    }
    return new Json.Arr(out, list.at());
  }

  /** Returns the short form of preferences; null when only the long form can express them. */
  static Json.@Nullable Obj write(Json.Obj prefs, String kind) {
    if (hasNames(kind)) {
      return prefs;
    }
    if (prefs.members().keySet().stream().anyMatch(TO_JSON::containsKey)) {
      return null;
    }
    Json.Builder out = Json.object();
    prefs
        .members()
        .forEach(
            (key, value) -> {
              boolean isSchedule = kind.equals("add_time") && key.equals("schedule");
              Unit unit = timeOf(key);
              out.put(
                  TO_YAML.getOrDefault(key, key),
                  isSchedule && value instanceof Json.Arr list ? written(list) : unit.write(value));
            });
    return out.build();
  }

  private static Json written(Json.Arr schedule) {
    List<Json> out = new ArrayList<>();
    for (Json item : schedule.items()) {
      Json.Builder members = Json.object();
      if (item instanceof Json.Obj entry) {
        entry
            .members()
            .forEach(
                (key, value) ->
                    members.put(key, TIMES.contains(key) ? Unit.SECONDS.write(value) : value));
      }
      out.add(item instanceof Json.Obj ? members.build() : item);
    }
    return new Json.Arr(out);
  }

  /** The name of a preference in YAML. */
  static String yamlName(String key, String kind) {
    return hasNames(kind) ? key : TO_YAML.getOrDefault(key, key);
  }
}
