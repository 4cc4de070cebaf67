package io.espalier.nodes;

import io.espalier.core.config.Levels;
import io.espalier.core.config.NodeSourceSpec;
import io.espalier.core.json.Json;
import io.espalier.core.json.Position;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Problem.Severity;
import io.espalier.core.problem.ProblemPath;
import io.espalier.core.problem.Problems;
import io.espalier.core.problem.Result;
import io.espalier.core.problem.Suggestions;
import io.espalier.core.topology.NodeSource;
import io.espalier.core.topology.PushDown;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Reads the preferences of one node source. A getter reports a problem and then returns its
 * default, so that one pass finds every problem; {@link #finish} reports keys that no getter has
 * read. Not thread-safe.
 */
public final class Prefs {
  private static final int MAX_PROBLEMS = 50;
  private static final double LONGEST_SECONDS = 86_400;
  private static final Pattern INTEGER = Pattern.compile("[+-]?[0-9]{1,19}");

  private final Json.Obj object;
  private final String path;
  private final List<Problem> problems;
  private final Set<String> known = new TreeSet<>();

  public Prefs(NodeSourceSpec spec) {
    this(spec.prefs(), spec.path() + ".prefs", new ArrayList<>());
  }

  private Prefs(Json.Obj object, String path, List<Problem> problems) {
    this.object = object;
    this.path = path;
    this.problems = problems;
  }

  /** Returns a reader of a nested object; its problems join these. */
  Prefs inside(Json.Obj inner, String innerPath) {
    return new Prefs(inner, innerPath, problems);
  }

  public Json.Obj object() {
    return object;
  }

  /** Returns the path of a key. */
  public String at(String key) {
    String segment = ProblemPath.ROOT.key(key).toString();
    return segment.startsWith("[") ? path + segment : path + "." + segment;
  }

  /** Returns whether there is an error at a key, or inside its value. */
  boolean hasErrorAt(String key) {
    return problems.stream().anyMatch(p -> p.isError() && p.path().startsWith(at(key)));
  }

  boolean hasErrors() {
    return problems.stream().anyMatch(Problem::isError);
  }

  void add(Problem problem) {
    problems.add(problem);
  }

  public void error(String where, Position at, @Nullable Json value, String message) {
    error(where, at, value, message, null);
  }

  public void error(
      String where, Position at, @Nullable Json value, String message, @Nullable String hint) {
    problems.add(Problems.at(Severity.ERROR, where, at, value, message, hint));
  }

  void warning(String where, Position at, String message, @Nullable String hint) {
    problems.add(new Problem(Severity.WARNING, where, at, message, null, hint));
  }

  /** Returns the value of an optional key. */
  @Nullable
  public Json get(String key) {
    known.add(key);
    return object.get(key);
  }

  /** Returns the value of a required key. */
  @Nullable Json require(String key, String what) {
    Json value = get(key);
    if (value == null) {
      error(at(key), object.at(), null, "\"" + key + "\" is missing: expected " + what);
    }
    return value;
  }

  @Nullable
  public String requireString(String key, String what) {
    Json value = require(key, what);
    return value == null ? null : string(key, value, what);
  }

  public String string(String key, String what, String otherwise) {
    Json value = get(key);
    String string = value == null ? null : string(key, value, what);
    return string == null ? otherwise : string;
  }

  private @Nullable String string(String key, Json value, String what) {
    if (value instanceof Json.Str string) {
      return string.value();
    }
    expected(key, value, what);
    return null;
  }

  /** Returns a number without fraction, or a string that contains one, as Bistro reads it. */
  @Nullable Long requireInteger(String key) {
    Json value = require(key, "a whole number");
    return value == null ? null : integer(key, value);
  }

  public long integer(String key, long otherwise, long least, long most) {
    Json value = get(key);
    Long number = value == null ? null : integer(key, value);
    if (value == null || number == null) {
      return otherwise;
    }
    if (number < least || number > most) {
      expected(key, value, "a whole number from " + least + " to " + most);
      return otherwise;
    }
    return number;
  }

  private @Nullable Long integer(String key, Json value) {
    try {
      if (value instanceof Json.Num number) {
        return number.value().longValueExact();
      }
      if (value instanceof Json.Str string && INTEGER.matcher(string.value()).matches()) {
        return Long.parseLong(string.value());
      }
    } catch (ArithmeticException | NumberFormatException e) {
      // It has a fraction, or needs more than 64 bits: reported below.
    }
    boolean isWhole =
        value instanceof Json.Num number
            ? isWhole(number.value())
            : value instanceof Json.Str text && INTEGER.matcher(text.value()).matches();
    expected(
        key,
        value,
        isWhole
            ? "a whole number from " + Long.MIN_VALUE + " to " + Long.MAX_VALUE
            : "a whole number");
    return null;
  }

  private static boolean isWhole(BigDecimal number) {
    return number.signum() == 0 || number.stripTrailingZeros().scale() <= 0;
  }

  /** Returns a number above 0 and at most {@code most}. */
  double positive(String key, double otherwise, double most) {
    Json value = get(key);
    if (value == null) {
      return otherwise;
    }
    if (value instanceof Json.Num number
        && number.value().signum() > 0
        && number.value().compareTo(BigDecimal.valueOf(most)) <= 0) {
      return number.value().doubleValue();
    }
    expected(key, value, "a number above 0, at most " + BigDecimal.valueOf(most).toBigInteger());
    return otherwise;
  }

  /** Returns a time in seconds, fractions allowed; at least a millisecond. */
  Duration seconds(String key, double otherwise, double most) {
    return Duration.ofMillis(Math.max(1, Math.round(positive(key, otherwise, most) * 1000)));
  }

  /** Returns {@code refresh_sec}, the interval between fetches; empty when it is not set. */
  public Optional<Duration> refresh() {
    return get("refresh_sec") == null
        ? Optional.empty()
        : Optional.of(seconds("refresh_sec", 1, LONGEST_SECONDS));
  }

  /** Returns {@code timeout_sec}, the time limit of one answer. */
  public Duration timeout() {
    return timeout(false);
  }

  /**
   * The same, and shorter by default for a source that asks about single nodes: a node that is down
   * must not hold up the others.
   */
  public Duration timeout(boolean isPerNode) {
    return seconds("timeout_sec", isPerNode ? 5 : 60, LONGEST_SECONDS);
  }

  /** Returns a boolean, also given as the strings "true" and "false". */
  boolean bool(String key, boolean otherwise) {
    Json value = get(key);
    if (value == null) {
      return otherwise;
    }
    if (value instanceof Json.Bool bool) {
      return bool.value();
    }
    if (value instanceof Json.Str string && string.value().matches("true|false")) {
      return Boolean.parseBoolean(string.value());
    }
    expected(key, value, "true or false");
    return otherwise;
  }

  /** Returns a list of strings; empty when absent. */
  public List<String> strings(String key) {
    Json value = get(key);
    if (value == null) {
      return List.of();
    }
    if (!(value instanceof Json.Arr list)) {
      expected(key, value, "a list of strings");
      return List.of();
    }
    List<String> strings = new ArrayList<>();
    for (int i = 0; i < list.items().size(); i++) {
      Json item = list.items().get(i);
      if (item instanceof Json.Str string) {
        strings.add(string.value());
      } else {
        error(at(key) + "[" + i + "]", item.at(), item, "expected a string, not " + item.kind());
      }
    }
    return strings;
  }

  /** Returns a set of non-empty strings. */
  Set<String> tags(String key) {
    Set<String> tags = new LinkedHashSet<>(strings(key));
    if (tags.contains("")) {
      error(at(key), object.keyAt(key), object.get(key), "a tag is empty");
    }
    return tags;
  }

  public Json.Obj object(String key) {
    Json value = get(key);
    if (value == null || value instanceof Json.Obj) {
      return value == null ? Json.Obj.EMPTY : (Json.Obj) value;
    }
    expected(key, value, "an object");
    return Json.Obj.EMPTY;
  }

  /** Returns the index of the level whose nodes become parents; -1 after a problem. */
  public int parentLevel(Levels levels) {
    String key = "parent_level";
    List<String> possible = levels.names().subList(0, levels.bottom());
    String name = requireString(key, "the name of the level whose nodes become parents");
    if (name == null) {
      return -1;
    }
    Json value = object.get(key);
    int level = levels.find(name);
    if (level < 0) {
      error(
          at(key),
          position(value),
          value,
          "there is no level \"" + name + "\"",
          Suggestions.hint(name, possible));
      return -1;
    }
    if (level >= levels.bottom()) {
      error(
          at(key),
          position(value),
          value,
          "no configured level is below \"" + name + "\", so its nodes cannot have children");
      return -1;
    }
    return level;
  }

  /**
   * Returns {@code push_down}.
   *
   * @param byParents whether the source asks for the children of certain parents
   * @param parentLevel the level of these parents
   */
  public PushDown pushDown(boolean byParents, int parentLevel) {
    String key = "push_down";
    Json value = get(key);
    if (value == null) {
      return PushDown.NONE;
    }
    List<String> words = List.of("one_parent", "all_parents");
    String word = string(key, "one_parent or all_parents", "");
    if (!words.contains(word)) {
      if (!hasErrorAt(key)) {
        error(
            at(key),
            value.at(),
            value,
            "expected one_parent or all_parents",
            Suggestions.hint(word, words));
      }
      return PushDown.NONE;
    }
    if (parentLevel == 0) {
      error(
          at(key),
          value.at(),
          value,
          "has no effect directly under the instance: every scheduler reads these nodes",
          "leave it out");
    } else if (!byParents) {
      error(
          at(key),
          value.at(),
          value,
          "has no effect on a source that is not asked for certain parents",
          "write {parent} or {parents} where the source is to get their names");
    }
    return word.equals("one_parent") ? PushDown.ONE_PARENT : PushDown.ALL_PARENTS;
  }

  public void expected(String key, Json value, String what) {
    // A number of the wrong kind is shown itself, and its type needs no name.
    boolean wrongKind = !(value instanceof Json.Num) || !what.contains("number");
    String found = wrongKind ? ", not " + value.kind() : "";
    error(at(key), value.at(), value, "expected " + what + found);
  }

  /**
   * Reports keys that no getter has read: as an error when a known key is similar, because then a
   * typing mistake changes what the source does; else as a warning. Keys that begin with {@code _}
   * or {@code //} are comments.
   */
  void reportUnknownKeys() {
    for (String key : object.members().keySet()) {
      if (known.contains(key) || key.startsWith("_") || key.startsWith("//")) {
        continue;
      }
      String near = Suggestions.closest(key, known, 2);
      String message = "unknown key \"" + key + "\"";
      if (near != null) {
        error(at(key), object.keyAt(key), null, message, "did you mean \"" + near + "\"?");
      } else {
        String all = known.isEmpty() ? "there are none" : "known: " + String.join(", ", known);
        warning(at(key), object.keyAt(key), message + " is ignored", all);
      }
    }
  }

  /** Returns the source if there are no errors, and all problems in any case. */
  public Result<NodeSource> finish(Supplier<NodeSource> source) {
    reportUnknownKeys();
    return finishWithoutKeys(source);
  }

  /** Returns the same where every key is data. */
  Result<NodeSource> finishWithoutKeys(Supplier<NodeSource> source) {
    boolean bad = hasErrors();
    List<Problem> shown = problems;
    if (problems.size() > MAX_PROBLEMS) {
      shown = new ArrayList<>(problems.subList(0, MAX_PROBLEMS));
      String more = (problems.size() - MAX_PROBLEMS) + " more problems like these";
      shown.add(bad ? Problem.error(path, more) : Problem.warning(path, more));
    }
    return new Result<>(bad ? null : source.get(), shown);
  }

  private static Position position(@Nullable Json value) {
    return value == null ? Position.NONE : value.at();
  }
}
