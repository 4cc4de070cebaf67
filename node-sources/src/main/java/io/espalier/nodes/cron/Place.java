package io.espalier.nodes.cron;

import io.espalier.core.json.Json;
import io.espalier.core.json.Position;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Problem.Severity;
import io.espalier.core.problem.ProblemPath;
import io.espalier.core.problem.Problems;
import io.espalier.core.problem.Suggestions;
import java.util.Collection;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The path of a value in a document, with the receiver of its problems. */
record Place(String path, Consumer<Problem> problems) {
  private static final int TYPO = 2;

  Place key(String key) {
    String segment = ProblemPath.ROOT.key(key).toString();
    return new Place(segment.startsWith("[") ? path + segment : path + "." + segment, problems);
  }

  Place index(int item) {
    return new Place(path + "[" + item + "]", problems);
  }

  void error(Json value, String message, @Nullable String hint) {
    problems.accept(Problems.at(Severity.ERROR, path, value.at(), value, message, hint));
  }

  /** Reports a missing key; the place is that of the key. */
  void missing(Json.Obj in, String message, @Nullable String hint) {
    problems.accept(new Problem(Severity.ERROR, path, in.at(), message, null, hint));
  }

  /** Reports all other keys, except comments, as errors (docs/design/bistro.md#crontab-items). */
  void unknownKeys(Json.Obj object, Collection<String> known) {
    for (String key : object.members().keySet()) {
      if (known.contains(key) || key.startsWith("_") || key.startsWith("//")) {
        continue;
      }
      String near = Suggestions.closest(key, known, TYPO);
      String hint =
          near == null ? "known: " + String.join(", ", known) : "did you mean \"" + near + "\"?";
      Position at = object.keyAt(key);
      problems.accept(
          new Problem(
              Severity.ERROR, key(key).path, at, "unknown key \"" + key + "\"", null, hint));
    }
  }
}
