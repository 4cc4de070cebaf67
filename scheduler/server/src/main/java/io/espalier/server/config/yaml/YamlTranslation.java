package io.espalier.server.config.yaml;

import io.espalier.core.config.Config;
import io.espalier.core.config.Job;
import io.espalier.core.config.schema.UnknownKeys;
import io.espalier.core.config.schema.UnknownKeys.Advice;
import io.espalier.core.config.source.ConfigSource.Document;
import io.espalier.core.config.source.ConfigSource.Text;
import io.espalier.core.json.Json;
import io.espalier.core.json.Position;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Problem.Severity;
import io.espalier.core.problem.ProblemPath;
import io.espalier.core.problem.Problems;
import io.espalier.core.problem.Result;
import io.espalier.server.config.yaml.Notation.Name;
import io.espalier.server.config.yaml.Translator.Members;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The YAML documents of a configuration, translated to one document in Bistro's notation. Nothing
 * here knows what values mean: the parser of that document does, and its problems are then told in
 * the words of YAML. Each value keeps its position.
 */
public final class YamlTranslation {
  static final String FILES =
      "files are named relative to this one; only configurations in files and directories have"
          + " them";

  private static final String VERSION = "v1";

  /** Keys whose members may be spread over several files. */
  private static final Set<String> SPREAD = Set.of("jobs", "templates", "variables");

  private static final Set<String> OWN =
      Set.of("espalier", "include", "defaults", "jobs", "templates", "variables");

  private final Set<String> files = new HashSet<>();
  private final Problems problems = new Problems();
  private final Map<String, List<Problem>> jobProblems = new TreeMap<>();
  private final Map<String, Json> members = new LinkedHashMap<>();
  private final Map<String, Position> keys = new HashMap<>();
  private Position start = Position.NONE;
  private Json.Obj document = Json.Obj.EMPTY;
  private boolean isReadable = true;

  private YamlTranslation() {}

  /**
   * Translates the YAML documents of a text; the others are ignored.
   *
   * @param environment of the process, for variables
   */
  public static YamlTranslation of(Text text, Function<String, @Nullable String> environment) {
    return of(text, environment, text.documents().stream().allMatch(YamlText::isYaml));
  }

  /**
   * Translates the YAML documents of a text, which may be a part of a configuration.
   *
   * @param isWhole whether there must be settings
   */
  public static YamlTranslation of(
      Text text, Function<String, @Nullable String> environment, boolean isWhole) {
    YamlTranslation translation = new YamlTranslation();
    Map<String, Document> known = new LinkedHashMap<>();
    text.referred().forEach(file -> known.put(file.name(), file));
    Deque<Document> open = new ArrayDeque<>();
    for (Document each : text.documents()) {
      if (YamlText.isYaml(each)) {
        known.put(each.name(), each);
        open.add(each);
        translation.files.add(each.name());
      }
    }
    while (!open.isEmpty()) {
      translation.add(open.remove(), known, open);
    }
    translation.translate(new Variables(environment, known), isWhole);
    return translation;
  }

  /** Adds the members of one document, and what it includes to the documents that are open. */
  private void add(Document file, Map<String, Document> known, Deque<Document> open) {
    Json read = YamlReader.read(file, problems);
    if (!(read instanceof Json.Obj object)) {
      isReadable = false;
      if (read != null) {
        problems.error(ProblemPath.ROOT, read, "expected an object, found " + read.kind(), null);
      }
      return;
    }
    start = start.equals(Position.NONE) ? object.at() : start;
    checkVersion(object);
    for (Json include : YamlText.included(object)) {
      ProblemPath path = ProblemPath.ROOT.key("include");
      String name = include instanceof Json.Str text ? text.value() : "";
      String resolved = YamlText.resolved(file.name(), name);
      Document found = known.get(resolved);
      if (name.isEmpty()) {
        problems.error(path, include, "expected the name of a file, found " + include.kind(), null);
      } else if (found == null) {
        problems.error(path, include, "this file cannot be read", FILES);
      } else if (resolved.equals(file.name())) {
        problems.warning(path, include, "the file includes itself", "leave the line out");
      } else if (files.add(resolved)) {
        open.add(found);
      }
    }
    object.members().forEach((key, value) -> add(object, key, value));
  }

  private void checkVersion(Json.Obj object) {
    Json version = object.get("espalier");
    ProblemPath path = ProblemPath.ROOT.key("espalier");
    if (version == null) {
      problems.add(
          Problems.at(
              Severity.ERROR,
              path,
              object.at(),
              null,
              "the key is missing, expected the version of the notation",
              "begin the file with \"espalier: v1\""));
    } else if (!version.equals(Json.of(VERSION))) {
      problems.error(path, version, "unknown version of the notation", "there is only v1");
    }
  }

  private void add(Json.Obj from, String key, Json value) {
    Position first = keys.get(key);
    if (first == null || key.equals("espalier") || key.equals("include")) {
      members.putIfAbsent(key, value);
      keys.putIfAbsent(key, from.keyAt(key));
    } else if (SPREAD.contains(key)
        && members.get(key) instanceof Json.Obj before
        && value instanceof Json.Obj more) {
      members.put(key, together(before, more, ProblemPath.ROOT.key(key)));
    } else if (!UnknownKeys.isComment(key)) {
      twice(ProblemPath.ROOT.key(key), from.keyAt(key), first);
    }
  }

  private Json.Obj together(Json.Obj before, Json.Obj more, ProblemPath path) {
    Members all = new Members(before);
    before.members().forEach((name, value) -> all.put(name, value, before.keyAt(name)));
    more.members()
        .forEach(
            (name, value) -> {
              if (before.get(name) == null) {
                all.put(name, value, more.keyAt(name));
              } else {
                twice(path.key(name), more.keyAt(name), before.keyAt(name));
              }
            });
    return all.build();
  }

  private void twice(ProblemPath path, Position at, Position first) {
    problems.add(
        Problems.at(
            Severity.ERROR,
            path,
            at,
            null,
            "the same key is given in two files, first at " + first,
            "keep one of them"));
  }

  private void translate(Variables variables, boolean isWhole) {
    Json.Obj all = new Json.Obj(members, keys, start);
    Set<String> known = new TreeSet<>(OWN);
    Notation.SETTINGS.names().stream()
        .filter(name -> !Notation.INHERITED.contains(name.json()))
        .forEach(name -> known.add(name.yaml()));
    UnknownKeys.report(all, ProblemPath.ROOT, problems, known, YamlTranslation::advice);
    Json.Obj defined = section(all, "variables");
    if (defined != null) {
      variables.define(defined, ProblemPath.ROOT.key("variables"), problems);
    }
    Members out = new Members(all);
    Json.Obj settings = settings(all, variables);
    boolean isGiven = all.members().keySet().stream().anyMatch(this::isSetting);
    if (isWhole || isGiven) {
      out.put(Config.SETTINGS_KEY, settings, isGiven ? settings.at() : start);
    }
    Json.Obj given = section(all, "templates");
    Templates templates = new Templates(given == null ? Json.Obj.EMPTY : given);
    Json.Obj jobs = section(all, "jobs");
    if (jobs != null) {
      jobs.members()
          .forEach(
              (name, job) ->
                  out.put(
                      Config.JOB_KEY + name,
                      job(name, job, templates, variables),
                      jobs.keyAt(name)));
    }
    templates.warnOfUnused(problems);
    document = out.build();
  }

  private boolean isSetting(String key) {
    Name name = Notation.SETTINGS.ofYaml(key);
    return key.equals("defaults") || (name != null && !Notation.INHERITED.contains(name.json()));
  }

  private static @Nullable Advice advice(String key) {
    Name name = Notation.SETTINGS.ofYaml(key);
    if (name == null) {
      name = Notation.SETTINGS.ofJson(key);
    }
    if (key.startsWith("bistro_")) {
      return Notation.misplaced("this is Bistro's notation; espalier convert translates it");
    }
    return name == null
        ? null
        : Notation.misplaced(
            Notation.INHERITED.contains(name.json())
                ? "write \"" + name.yaml() + "\" under \"defaults\""
                : "did you mean \"" + name.yaml() + "\"?");
  }

  /** The object of a key; null when there is none. */
  private Json.@Nullable Obj section(Json.Obj all, String key) {
    Json value = all.get(key);
    if (value == null || value instanceof Json.Obj) {
      return (Json.Obj) value;
    }
    problems.error(
        ProblemPath.ROOT.key(key), value, "expected an object, found " + value.kind(), null);
    return null;
  }

  private Json.Obj settings(Json.Obj all, Variables variables) {
    Translator translator = new Translator(problems);
    Members out = new Members(all);
    out.put("resources", new Json.Obj(Map.of(), Map.of(), start), start);
    for (Map.Entry<String, Json> member : all.members().entrySet()) {
      Name name = Notation.SETTINGS.ofYaml(member.getKey());
      ProblemPath path = ProblemPath.ROOT.key(member.getKey());
      if (name != null && isSetting(member.getKey())) {
        Json value = variables.resolved(member.getValue(), path, problems);
        Json translated = value == null ? null : translator.value(value, name, path);
        out.put(name.json(), translated, all.keyAt(member.getKey()));
      }
    }
    Json.Obj given = section(all, "defaults");
    ProblemPath path = ProblemPath.ROOT.key("defaults");
    if (given != null && variables.resolved(given, path, problems) instanceof Json.Obj defaults) {
      List<Name> inherited =
          Notation.SETTINGS.names().stream()
              .filter(name -> Notation.INHERITED.contains(name.json()))
              .toList();
      UnknownKeys.report(
          defaults,
          path,
          problems,
          inherited.stream().map(Name::yaml).toList(),
          YamlTranslation::adviceOnDefault);
      for (Name name : inherited) {
        Json value = defaults.get(name.yaml());
        if (value != null) {
          Json translated = translator.value(value, name, path.key(name.yaml()));
          out.put(name.json(), translated, defaults.keyAt(name.yaml()));
        }
      }
    }
    return out.build();
  }

  private static @Nullable Advice adviceOnDefault(String key) {
    Advice advice = Notation.SETTINGS.advice(key);
    if (advice != null || Notation.JOB.ofYaml(key) == null) {
      return advice;
    }
    return new Advice(
        Severity.ERROR,
        "jobs do not inherit this key",
        "write it into a template that they extend");
  }

  private Json job(String name, Json job, Templates templates, Variables variables) {
    if (!(job instanceof Json.Obj object)) {
      return job;
    }
    ProblemPath path = ProblemPath.ROOT.key("jobs").key(name);
    Problems found = new Problems();
    Json.Obj whole = templates.extended(object, path, found);
    Json.Obj result = whole;
    if (variables.resolved(whole, path, found) instanceof Json.Obj resolved) {
      result = new Translator(found).object(resolved, Notation.JOB, path);
    }
    if (found.count() > 0) {
      jobProblems.put(name, found.sorted());
    }
    return result;
  }

  /** The document in Bistro's notation, without what is broken. */
  public Json.Obj document() {
    return document;
  }

  /** Whether all documents could be read, so that it makes sense to look for further problems. */
  public boolean isReadable() {
    return isReadable;
  }

  /** What is wrong with the documents and their settings; problems of jobs are not here. */
  public List<Problem> problems() {
    return problems.sorted();
  }

  /** Returns problems that somebody else found in the document, in the words of YAML. */
  public List<Problem> told(List<Problem> found) {
    return found.stream().map(new Wording(document, files)::told).toList();
  }

  /**
   * Returns what the parser made of the document, with its problems in the words of YAML and those
   * of the translation. Jobs with errors of the translation cannot run.
   *
   * @param replaced members of the document that were replaced by others before it was parsed
   */
  public Result<Config> told(Result<Config> parsed, Set<String> replaced) {
    Json.Obj without = document;
    for (String key : replaced) {
      without = without.without(key);
    }
    Json.Obj translated = without;
    Map<String, List<Problem>> found = new TreeMap<>(jobProblems);
    found.keySet().removeIf(name -> translated.get(Config.JOB_KEY + name) == null);
    Set<String> broken = new HashSet<>();
    Stream.concat(problems.sorted().stream(), found.values().stream().flatMap(List::stream))
        .filter(Problem::isError)
        .forEach(problem -> broken.add(problem.path()));
    Wording wording = new Wording(translated, files);
    Function<List<Problem>, List<Problem>> told =
        all ->
            all.stream()
                .map(wording::told)
                .filter(problem -> !isConsequence(problem, broken))
                .toList();
    Config config = parsed.value();
    if (config == null) {
      List<Problem> all = new ArrayList<>(told.apply(parsed.problems()));
      found.values().forEach(all::addAll);
      return new Result<>(null, Problems.sorted(all));
    }
    SortedMap<String, Job> jobs = new TreeMap<>();
    config
        .jobs()
        .forEach(
            (name, job) -> {
              List<Problem> all = new ArrayList<>(found.getOrDefault(name, List.of()));
              all.addAll(told.apply(job.problems()));
              List<Problem> sorted = Problems.sorted(all);
              jobs.put(name, sorted.equals(job.problems()) ? job : job.withProblems(sorted));
            });
    List<Problem> warnings = told.apply(config.warnings());
    Config result = new Config(config.settings(), jobs, warnings, config.shard());
    return new Result<>(result, Problems.sorted(result.problems()));
  }

  /**
   * Whether the parser only misses what the translation has left out, as it was broken: that is
   * told already.
   */
  private static boolean isConsequence(Problem problem, Set<String> broken) {
    String path = problem.path();
    int last = path.lastIndexOf('.');
    if (broken.contains(path)) {
      return true;
    }
    if (problem.message().startsWith("the key is missing")) {
      String of = path.substring(0, Math.max(0, last));
      return broken.contains(of + ".extends") || broken.contains(of + ".<<");
    }
    return problem.message().startsWith("nothing makes")
        && broken.stream().anyMatch(each -> each.startsWith(path + "."));
  }
}
