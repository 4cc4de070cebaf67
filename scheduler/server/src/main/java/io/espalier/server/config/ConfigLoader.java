package io.espalier.server.config;

import io.espalier.core.config.Config;
import io.espalier.core.config.read.ConfigParser;
import io.espalier.core.config.source.ConfigSource;
import io.espalier.core.json.Json;
import io.espalier.core.json.Position;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Problem.Severity;
import io.espalier.core.problem.ProblemPath;
import io.espalier.core.problem.Problems;
import io.espalier.core.problem.Result;
import io.espalier.json.JsonReader;
import io.espalier.server.config.yaml.YamlText;
import io.espalier.server.config.yaml.YamlTranslation;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Converts fetched text to a configuration: reads each document, JSON or YAML, merges them, and
 * parses the result. Immutable.
 */
public final class ConfigLoader {
  private final ConfigParser parser;
  private final Function<String, @Nullable String> environment;

  public ConfigLoader(ConfigParser parser) {
    this(parser, System::getenv);
  }

  /**
   * @param environment for the variables of YAML
   */
  ConfigLoader(ConfigParser parser, Function<String, @Nullable String> environment) {
    this.parser = parser;
    this.environment = environment;
  }

  /**
   * Loads one text. Every problem names its file.
   *
   * @return no value when a document cannot be read or the settings have an error
   */
  public Result<Config> load(ConfigSource.Text text) {
    return load(text, parser::parse, Set.of());
  }

  /** Loads one text with all valid parts of its settings: to check it, never to run it. */
  public Result<Config> inspect(ConfigSource.Text text) {
    return load(text, parser::inspect, Set.of());
  }

  /**
   * Like {@link #inspect}, with one top-level member replaced by the given one. Problems of the new
   * member get its own position.
   */
  public Result<Config> inspectWith(ConfigSource.Text text, String key, Json member) {
    return with(text, Map.of(key, Optional.of(member)), parser::inspect);
  }

  /**
   * Loads one text with top-level members replaced, added or, where the value is empty, removed: as
   * it would come into force. Problems of the new members get their own positions.
   */
  public Result<Config> loadWith(ConfigSource.Text text, Map<String, Optional<Json>> members) {
    return with(text, members, parser::parse);
  }

  private Result<Config> with(
      ConfigSource.Text text,
      Map<String, Optional<Json>> replaced,
      Function<Json, Result<Config>> parsing) {
    return load(
        text,
        document -> {
          if (!(document instanceof Json.Obj object)) {
            return parsing.apply(document);
          }
          Map<String, Position> keys = new HashMap<>(object.keyPositions());
          Map<String, Json> members = new LinkedHashMap<>(object.members());
          replaced.forEach(
              (key, member) -> {
                keys.remove(key);
                member.ifPresent(value -> keys.put(key, value.at()));
                if (member.isPresent()) {
                  members.put(key, member.get());
                } else {
                  members.remove(key);
                }
              });
          return parsing.apply(new Json.Obj(members, keys, object.at()));
        },
        replaced.keySet());
  }

  /**
   * Reads and merges the documents of a text, in Bistro's notation.
   *
   * @return no value when one cannot be read
   */
  public Result<Json.Obj> document(ConfigSource.Text text) {
    return document(text, yaml(text));
  }

  /** Like {@link #document}, for a text that may be a part of a configuration, without settings. */
  public Result<Json.Obj> part(ConfigSource.Text text) {
    boolean isYaml = text.documents().stream().anyMatch(YamlText::isYaml);
    return document(text, isYaml ? YamlTranslation.of(text, environment, false) : null);
  }

  private static Result<Json.Obj> document(ConfigSource.Text text, @Nullable YamlTranslation yaml) {
    Problems problems = new Problems();
    Json.Obj document = merged(text, yaml, problems);
    return new Result<>(problems.errors() > 0 ? null : document, problems.sorted());
  }

  /** Returns further problems of a loaded text, in the words of its notation. */
  public List<Problem> told(ConfigSource.Text text, List<Problem> found) {
    YamlTranslation yaml = yaml(text);
    return yaml == null || found.isEmpty() ? found : yaml.told(found);
  }

  /** Returns the YAML documents of a text; null when there are none. */
  private @Nullable YamlTranslation yaml(ConfigSource.Text text) {
    return text.documents().stream().anyMatch(YamlText::isYaml)
        ? YamlTranslation.of(text, environment)
        : null;
  }

  /**
   * @param replaced members that do not come from the text
   */
  private Result<Config> load(
      ConfigSource.Text text, Function<Json, Result<Config>> parsing, Set<String> replaced) {
    Problems problems = new Problems();
    problems.addAll(text.warnings());
    YamlTranslation yaml = yaml(text);
    Json.Obj document = merged(text, yaml, problems);
    boolean isBroken = problems.errors() > 0;
    if (document == null) {
      return new Result<>(null, problems.sorted());
    }
    Result<Config> parsed = parsing.apply(document);
    Result<Config> told = yaml == null ? parsed : yaml.told(parsed, replaced);
    problems.addAll(told.problems());
    return new Result<>(isBroken ? null : told.value(), problems.sorted());
  }

  /** Returns what could be read of the documents together; null: one is no object. */
  private static Json.@Nullable Obj merged(
      ConfigSource.Text text, @Nullable YamlTranslation yaml, Problems problems) {
    boolean isReadable = yaml == null || yaml.isReadable();
    Map<String, Json> members = new LinkedHashMap<>();
    Map<String, Position> keys = new HashMap<>();
    Position start = Position.NONE;
    if (yaml != null) {
      problems.addAll(yaml.problems());
      Json.Obj document = yaml.document();
      start = document.at();
      members.putAll(document.members());
      keys.putAll(document.keyPositions());
    }
    for (ConfigSource.Document document : text.documents()) {
      if (yaml != null && YamlText.isYaml(document)) {
        continue;
      }
      Result<Json> read = JsonReader.config().withFile(document.name()).inspect(document.bytes());
      problems.addAll(read.problems());
      Json value = read.value();
      if (value instanceof Json.Obj object) {
        start = start.equals(Position.NONE) ? object.at() : start;
        object
            .members()
            .forEach((key, member) -> add(object, key, member, members, keys, problems));
      } else {
        isReadable = false;
        if (value != null) {
          problems.error(
              ProblemPath.ROOT, value, "expected an object, found " + value.kind(), null);
        }
      }
    }
    return isReadable ? new Json.Obj(members, keys, start) : null;
  }

  private static void add(
      Json.Obj from,
      String key,
      Json member,
      Map<String, Json> members,
      Map<String, Position> keys,
      Problems problems) {
    Position first = keys.putIfAbsent(key, from.keyAt(key));
    if (first == null) {
      members.put(key, member);
    } else if (key.startsWith("bistro_")) {
      problems.add(
          Problems.at(
              Severity.ERROR,
              ProblemPath.ROOT.key(key),
              from.keyAt(key),
              null,
              "the same key is given in two files, first at " + first,
              "keep one of them"));
    }
    // Every file may contain comments, "$schema" and other keys without meaning.
  }

  /** Returns a load result that consists of the problem of a source. */
  public static Result<Config> failed(Problem problem) {
    return new Result<>(null, List.of(problem));
  }
}
