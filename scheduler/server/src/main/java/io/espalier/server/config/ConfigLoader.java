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
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * Converts fetched text to a configuration: reads each document, merges them, and parses the
 * result. Immutable.
 */
public final class ConfigLoader {
  private final ConfigParser parser;

  public ConfigLoader(ConfigParser parser) {
    this.parser = parser;
  }

  /**
   * Loads one text. Every problem names its file.
   *
   * @return no value when a document is not JSON or the settings have an error
   */
  public Result<Config> load(ConfigSource.Text text) {
    return load(text, parser::parse);
  }

  /** Loads one text with all valid parts of its settings: to check it, never to run it. */
  public Result<Config> inspect(ConfigSource.Text text) {
    return load(text, parser::inspect);
  }

  /**
   * Like {@link #inspect}, with one top-level member replaced by the given one. Problems of the new
   * member get its own position.
   */
  public Result<Config> inspectWith(ConfigSource.Text text, String key, Json member) {
    return load(
        text,
        document -> {
          if (!(document instanceof Json.Obj object)) {
            return parser.inspect(document);
          }
          Map<String, Position> keys = new HashMap<>(object.keyPositions());
          keys.put(key, member.at());
          Map<String, Json> members = object.with(key, member).members();
          return parser.inspect(new Json.Obj(members, keys, object.at()));
        });
  }

  private static Result<Config> load(
      ConfigSource.Text text, Function<Json, Result<Config>> parsing) {
    Problems problems = new Problems();
    problems.addAll(text.warnings());
    Json.Obj document = merged(text, problems);
    if (problems.errors() > 0) {
      return new Result<>(null, problems.sorted());
    }
    Result<Config> parsed = parsing.apply(document);
    problems.addAll(parsed.problems());
    return new Result<>(parsed.value(), problems.sorted());
  }

  private static Json.Obj merged(ConfigSource.Text text, Problems problems) {
    Map<String, Json> members = new LinkedHashMap<>();
    Map<String, Position> keys = new HashMap<>();
    Position start = Position.NONE;
    for (ConfigSource.Document document : text.documents()) {
      Result<Json> read = JsonReader.config().withFile(document.name()).read(document.bytes());
      problems.addAll(read.problems());
      Json value = read.value();
      if (value instanceof Json.Obj object) {
        start = start.equals(Position.NONE) ? object.at() : start;
        object
            .members()
            .forEach((key, member) -> add(object, key, member, members, keys, problems));
      } else if (value != null) {
        problems.error(ProblemPath.ROOT, value, "expected an object, found " + value.kind(), null);
      }
    }
    return new Json.Obj(members, keys, start);
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
