package io.espalier.core.problem;

import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import io.espalier.core.json.Position;
import io.espalier.core.json.Secrets;
import io.espalier.core.problem.Problem.Severity;
import io.espalier.core.text.ShortText;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Collects problems while input is parsed. Not thread-safe. */
public final class Problems {
  private static final int LONGEST_VALUE = 100;

  private final List<Problem> found = new ArrayList<>();

  public void add(Problem problem) {
    found.add(problem);
  }

  public void addAll(List<Problem> problems) {
    found.addAll(problems);
  }

  /** Adds an error at a value. */
  public void error(ProblemPath path, Json value, String message, @Nullable String hint) {
    add(at(Severity.ERROR, path, value.at(), value, message, hint));
  }

  /** Adds a warning at a value. */
  public void warning(ProblemPath path, Json value, String message, @Nullable String hint) {
    add(at(Severity.WARNING, path, value.at(), value, message, hint));
  }

  /** Creates a problem with its position and its shortened value, unless that may be a secret. */
  public static Problem at(
      Severity severity,
      ProblemPath path,
      Position at,
      @Nullable Json value,
      String message,
      @Nullable String hint) {
    return at(severity, path.toString(), at, value, message, hint);
  }

  /** The same at a path in text form. */
  public static Problem at(
      Severity severity,
      String path,
      Position at,
      @Nullable Json value,
      String message,
      @Nullable String hint) {
    return new Problem(severity, path, at, message, shown(path, value), hint);
  }

  /** The number of errors so far. */
  public int errors() {
    return (int) found.stream().filter(Problem::isError).count();
  }

  public int count() {
    return found.size();
  }

  /** The problems found, ordered by position. */
  public List<Problem> sorted() {
    return sorted(found);
  }

  /** The problems ordered by position; those without a position come first. */
  public static List<Problem> sorted(List<Problem> problems) {
    return problems.stream().sorted(Comparator.comparing(Problem::at)).toList();
  }

  /** Whoever may read problems need not be trusted with secrets. */
  private static @Nullable String shown(String path, @Nullable Json value) {
    return value == null || ProblemPath.isOfSecret(path) || Secrets.areIn(value)
        ? null
        : ShortText.shown(JsonWriter.compact(Secrets.hideTexts(value)), LONGEST_VALUE);
  }
}
