package io.espalier.core.config.write;

import io.espalier.core.config.Job;
import io.espalier.core.config.keys.JobKeys;
import io.espalier.core.json.Json;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.ProblemPath;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Builds Bistro's report of errors (docs/design/bistro.md#errors-of-jobs): for an invalid value
 * {@code {"error", "value"}}, for a missing key {@code {"key_errors": {key: message}, "value"}} at
 * the object that lacks it; deeper errors are under {@code nested}.
 */
final class BistroErrorReport {
  private final @Nullable Json value;
  private final Map<String, BistroErrorReport> nested = new LinkedHashMap<>();
  private final Map<String, String> keyErrors = new LinkedHashMap<>();
  private @Nullable String error;

  private BistroErrorReport(@Nullable Json value) {
    this.value = value;
  }

  static Json.Obj of(Job job) {
    List<Problem> errors = job.problems().stream().filter(Problem::isError).toList();
    if (errors.size() == 1
        && errors.get(0).message().equals(JobKeys.PRE_EXISTING)
        && job.original().get("errors") instanceof Json.Obj old) {
      // There are no new errors: saving and loading again must not wrap the report once more.
      return old;
    }
    BistroErrorReport root = new BistroErrorReport(job.original());
    for (Problem problem : errors) {
      List<String> segments = ProblemPath.segments(problem.path());
      root.add(segments.isEmpty() ? segments : segments.subList(1, segments.size()), problem);
    }
    return root.toJson();
  }

  private void add(List<String> segments, Problem problem) {
    if (segments.isEmpty()) {
      error = error == null ? text(problem) : error + "; " + text(problem);
      return;
    }
    String first = segments.get(0);
    Json child = value == null ? null : child(value, first);
    if (child == null) {
      keyErrors.merge(first, text(problem), (a, b) -> a + "; " + b);
      return;
    }
    nested
        .computeIfAbsent(first, key -> new BistroErrorReport(child))
        .add(segments.subList(1, segments.size()), problem);
  }

  private static String text(Problem problem) {
    return problem.hint() == null ? problem.message() : problem.message() + "; " + problem.hint();
  }

  private static @Nullable Json child(Json parent, String segment) {
    if (parent instanceof Json.Obj object) {
      return object.get(segment);
    }
    if (parent instanceof Json.Arr array && segment.chars().allMatch(Character::isDigit)) {
      int index = Integer.parseInt(segment);
      return index < array.items().size() ? array.items().get(index) : null;
    }
    return null;
  }

  private Json.Obj toJson() {
    Json.Builder out = Json.object();
    if (error != null) {
      out.put("error", error);
    }
    if (!keyErrors.isEmpty()) {
      Json.Builder keys = Json.object();
      keyErrors.forEach(keys::put);
      out.put("key_errors", keys.build());
    }
    if ((error != null || !keyErrors.isEmpty()) && value != null) {
      out.put("value", value);
    }
    if (!nested.isEmpty()) {
      Json.Builder children = Json.object();
      nested.forEach((key, report) -> children.put(key, report.toJson()));
      out.put("nested", children.build());
    }
    return out.build();
  }
}
