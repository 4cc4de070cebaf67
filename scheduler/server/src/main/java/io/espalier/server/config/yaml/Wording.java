package io.espalier.server.config.yaml;

import static java.util.stream.Collectors.joining;

import io.espalier.core.config.Config;
import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.ProblemPath;
import io.espalier.json.JsonReader;
import io.espalier.server.config.yaml.Notation.Name;
import io.espalier.server.config.yaml.Notation.Part;
import java.util.List;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Tells problems of a translated document with the paths and keys of its YAML. */
final class Wording {
  private static final Pattern QUOTED = Pattern.compile("\"([A-Za-z_]+)\"");
  private static final Pattern EXPECTED_NUMBER =
      Pattern.compile("expected a (whole )?number( from | of at least | of at most )?(.*)");
  private static final Set<String> BOOLEANS_OF_YAML_1_1 =
      Set.of("\"yes\"", "\"no\"", "\"on\"", "\"off\"");

  private final Json.Obj document;
  private final Set<String> files;

  /**
   * @param document in Bistro's notation
   * @param files the names of the YAML documents
   */
  Wording(Json.Obj document, Set<String> files) {
    this.document = document;
    this.files = files;
  }

  Problem told(Problem problem) {
    List<String> segments = ProblemPath.segments(problem.path());
    String file = problem.at().file();
    boolean isOfYaml =
        file.isEmpty()
            ? !segments.isEmpty() && document.get(segments.get(0)) != null
            : files.contains(file);
    if (!isOfYaml || segments.isEmpty()) {
      return problem;
    }
    Walk walk = new Walk(segments.get(0), document.get(segments.get(0)));
    segments.stream().skip(1).forEach(walk::step);
    String hint = problem.hint() == null ? null : walk.told(problem.hint());
    if (problem.message().startsWith("expected true or false")
        && problem.value() != null
        && BOOLEANS_OF_YAML_1_1.contains(problem.value())) {
      hint = "in YAML 1.2 this is a text; write true or false";
    }
    return new Problem(
        problem.severity(),
        walk.path.toString(),
        problem.at(),
        walk.expected(walk.told(problem.message())),
        walk.value(problem.value()),
        hint);
  }

  /** Walks down a path in both notations. */
  private static final class Walk {
    private @Nullable Json value;
    private @Nullable Part part;
    private @Nullable Name name;
    private Part words;
    private ProblemPath path;
    private String kind = "";

    Walk(String top, @Nullable Json value) {
      this.value = value;
      boolean isJob = top.startsWith(Config.JOB_KEY);
      part = isJob ? Notation.JOB : Notation.SETTINGS;
      words = part;
      path =
          isJob
              ? ProblemPath.ROOT.key("jobs").key(top.substring(Config.JOB_KEY.length()))
              : ProblemPath.ROOT;
    }

    void step(String segment) {
      if (value instanceof Json.Arr list && segment.matches("[0-9]{1,9}")) {
        int index = Integer.parseInt(segment);
        path = path.index(index);
        enter(name == null ? null : name.items());
        value = index < list.items().size() ? list.items().get(index) : null;
        return;
      }
      Part in = part;
      Json member = value instanceof Json.Obj object ? object.get(segment) : null;
      if (in == null) {
        path = path.key(kind.isEmpty() ? segment : Preferences.yamlName(segment, kind));
        enter(name == null ? null : name.members());
      } else if (in.hasSource() && isShort(segment)) {
        path = path.key(kind);
        enter(in.ofJson(segment));
      } else {
        Name found = in.ofJson(segment);
        // A limit alone stands for the whole resource.
        if (in.is("resources")
            && member != null
            && value != null
            && member.at().equals(value.at())) {
          enter(found);
          value = member;
          return;
        }
        boolean isDefault = in == Notation.SETTINGS && Notation.INHERITED.contains(segment);
        path = isDefault ? path.key("defaults") : path;
        path = path.key(found == null ? segment : found.yaml());
        enter(found);
      }
      value = member;
    }

    private void enter(@Nullable Name next) {
      name = next;
      part = next == null ? null : next.part();
      words = part == null ? words : part;
    }

    /** Whether a source was written as {@code KIND: {...}}: then its parts are at one place. */
    private boolean isShort(String segment) {
      boolean isPart = segment.equals("prefs") || segment.equals("source");
      if (isPart
          && value instanceof Json.Obj source
          && source.get("source") instanceof Json.Str given
          && source.keyAt("source").equals(source.keyAt("prefs"))) {
        kind = given.value();
        return true;
      }
      return false;
    }

    /** Writes a value as YAML does; an object has keys of the other notation, and is left out. */
    @Nullable String value(@Nullable String shown) {
      if (shown == null || shown.startsWith("{")) {
        return null;
      }
      Name of = name;
      return of != null && JsonReader.parse(shown).value() instanceof Json.Num number
          ? JsonWriter.compact(of.unit().write(number))
          : shown;
    }

    /** Names what is expected with the unit in which it is written. */
    String expected(String message) {
      Matcher number = EXPECTED_NUMBER.matcher(message);
      Unit unit = name == null ? Unit.NONE : name.unit();
      if (unit == Unit.NONE || !number.matches()) {
        return message;
      }
      String range = number.group(2);
      if (range == null) {
        return number.group(1) == null
            ? "expected a " + unit.what()
            : "expected a " + unit.what() + " of whole " + unit.whole();
      }
      String bounds =
          Stream.of(number.group(3).split(" to ")).map(unit::bound).collect(joining(" to "));
      return "expected a " + unit.what() + range + bounds;
    }

    /** Replaces the names of keys in quotes. */
    String told(String text) {
      return QUOTED
          .matcher(text.replace(" of bistro_settings", "").replace("nodes.node_", ""))
          .replaceAll(this::told);
    }

    private String told(MatchResult quoted) {
      Name found = words.ofJson(quoted.group(1));
      if (found == null) {
        found = Notation.JOB.ofJson(quoted.group(1));
      }
      if (found == null) {
        found = Notation.SETTINGS.ofJson(quoted.group(1));
      }
      return Matcher.quoteReplacement(found == null ? quoted.group() : "\"" + found.yaml() + "\"");
    }
  }
}
