package io.espalier.core.config.schema;

import io.espalier.core.json.Json;
import io.espalier.core.problem.Problem.Severity;
import io.espalier.core.problem.ProblemPath;
import io.espalier.core.problem.Problems;
import io.espalier.core.problem.Suggestions;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Reports the keys of an object that nobody reads (docs/design/design.md#unknown-keys). */
public final class UnknownKeys {
  // A key this close to a known one is a typo, which would silently change what happens.
  private static final int TYPO = 2;

  /**
   * The maximum number of unknown keys of one object that are checked individually: each costs a
   * search for a typo.
   */
  private static final int MOST_UNKNOWN = 20;

  private final Json.Obj object;
  private final ProblemPath path;
  private final Problems problems;

  private UnknownKeys(Json.Obj object, ProblemPath path, Problems problems) {
    this.object = object;
    this.path = path;
    this.problems = problems;
  }

  /** What is said of a key that is not read itself but has another meaning. */
  public record Advice(Severity severity, String message, @Nullable String hint) {}

  /**
   * Reports all keys of an object that are neither known nor comments.
   *
   * @param advice what to say of a key in place of looking for a typo; null: nothing
   */
  public static void report(
      Json.Obj object,
      ProblemPath path,
      Problems problems,
      Collection<String> known,
      Function<String, @Nullable Advice> advice) {
    UnknownKeys keys = new UnknownKeys(object, path, problems);
    List<Map.Entry<String, Json>> unknown =
        object.members().entrySet().stream()
            .filter(member -> !known.contains(member.getKey()))
            .filter(member -> !isComment(member.getKey()))
            .toList();
    unknown.stream()
        .limit(MOST_UNKNOWN)
        .forEach(member -> keys.report(member.getKey(), member.getValue(), known, advice));
    if (unknown.size() > MOST_UNKNOWN) {
      // An error, since there may be typos among them.
      String next = unknown.get(MOST_UNKNOWN).getKey();
      problems.add(
          Problems.at(
              Severity.ERROR,
              path,
              object.keyAt(next),
              null,
              "%d more unknown keys from \"%s\" on, which were not looked at"
                  .formatted(unknown.size() - MOST_UNKNOWN, next),
              "start comments with \"_\""));
    }
  }

  /** Returns true for keys that people use as comments. */
  public static boolean isComment(String key) {
    return key.startsWith("_") || key.startsWith("//");
  }

  private void report(
      String key, Json given, Collection<String> known, Function<String, @Nullable Advice> advice) {
    Advice special = advice.apply(key);
    if (special != null) {
      add(special.severity(), key, given, special.message(), special.hint());
      return;
    }
    String near = Suggestions.closest(key, known, TYPO);
    if (near != null) {
      add(Severity.ERROR, key, given, "unknown key", "did you mean \"" + near + "\"?");
    } else {
      add(
          Severity.WARNING,
          key,
          given,
          "unknown key, it does nothing",
          "start it with \"_\" if it is a comment");
    }
  }

  private void add(
      Severity severity, String key, Json given, String message, @Nullable String hint) {
    problems.add(Problems.at(severity, path.key(key), object.keyAt(key), given, message, hint));
  }
}
