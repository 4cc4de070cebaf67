package io.espalier.cli.client;

import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.ProblemPath;
import io.espalier.core.problem.Problems;
import io.espalier.core.problem.Result;
import io.espalier.core.problem.Suggestions;
import io.espalier.json.JsonReader;
import io.espalier.server.CommandException;
import io.espalier.server.ExitCode;
import io.espalier.worker.process.os.FileFailures;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The contexts of a user: named schedulers with the files that open them. Immutable.
 *
 * <p>They are in a JSON file, because commands write it: there are no comments to lose.
 *
 * @param current the context of commands that name none; null: there is none
 * @param byName in the order of the file
 */
public record Contexts(@Nullable String current, Map<String, Target> byName) {
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,63}");
  private static final String NAME_RULE =
      "letters, digits, \".\", \"_\" and \"-\", at most 64, a letter or digit first";
  private static final int MAX_BYTES = 1 << 20;

  private static final String CURRENT = "current";
  private static final String CONTEXTS = "contexts";
  private static final String SERVER = "server";
  private static final String ZOOKEEPER = "zookeeper";
  private static final String ZOOKEEPER_AUTH = "zookeeper_auth";
  private static final String TOKEN_FILE = "token_file";
  private static final String TLS_CA = "tls_ca";
  private static final String TLS_CERT = "tls_cert";
  private static final String TLS_KEY = "tls_key";
  private static final List<String> KEYS =
      List.of(SERVER, ZOOKEEPER, ZOOKEEPER_AUTH, TOKEN_FILE, TLS_CA, TLS_CERT, TLS_KEY);

  /**
   * Returns the file of a user: {@code espalier/contexts.json} in {@code XDG_CONFIG_HOME}, by
   * default {@code ~/.config}.
   */
  public static Path file(Map<String, String> environment) {
    String configured = environment.getOrDefault("XDG_CONFIG_HOME", "");
    // The XDG specification ignores relative paths.
    Path directory =
        configured.startsWith("/")
            ? Path.of(configured)
            : Path.of(environment.getOrDefault("HOME", System.getProperty("user.home", "")))
                .resolve(".config");
    return directory.resolve("espalier").resolve("contexts.json");
  }

  /**
   * Reads the file; there need not be one.
   *
   * @throws CommandException (usage) with every problem of the file, or when it cannot be read
   */
  public static Contexts read(Path file) {
    byte[] text;
    try {
      text = Files.readAllBytes(file);
    } catch (NoSuchFileException e) {
      return new Contexts(null, Map.of());
    } catch (IOException e) {
      throw new CommandException(
          ExitCode.USAGE, "cannot read " + file + ": " + FileFailures.why(e), e);
    }
    Result<Json> read =
        JsonReader.config().withMaxBytes(MAX_BYTES).withFile(file.toString()).read(text);
    Problems problems = new Problems();
    problems.addAll(read.problems());
    Contexts contexts =
        read.value() == null ? null : new Parser(file, problems).contexts(read.value());
    if (contexts == null || problems.errors() > 0) {
      throw new CommandException(
          ExitCode.USAGE,
          problems.sorted().stream()
              .filter(Problem::isError)
              .map(Problem::toString)
              .collect(Collectors.joining("\nespalier: ")));
    }
    return contexts;
  }

  /**
   * Writes the file in place of the old one.
   *
   * @throws CommandException when it cannot be written; the old file is unchanged
   */
  public void write(Path file) {
    Path directory = Objects.requireNonNull(file.getParent());
    try {
      Files.createDirectories(directory);
      Path fresh = Files.createTempFile(directory, "contexts", ".tmp");
      try {
        Files.writeString(fresh, JsonWriter.pretty(json()) + "\n", StandardCharsets.UTF_8);
        Files.move(
            fresh, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
      } finally {
        Files.deleteIfExists(fresh);
      }
    } catch (IOException e) {
      throw new CommandException(
          ExitCode.FAILED, "cannot write " + file + ": " + FileFailures.why(e), e);
    }
  }

  /**
   * Returns a context.
   *
   * @throws CommandException (usage) when there is none of this name
   */
  public Target get(String name) {
    Target found = byName.get(name);
    if (found == null) {
      throw new CommandException(
          ExitCode.USAGE,
          "there is no context \""
              + name
              + "\"; "
              + (byName.isEmpty()
                  ? "espalier context add adds one"
                  : "there are: " + String.join(", ", byName.keySet())));
    }
    return found;
  }

  /** Returns these contexts with one that commands use from now on. */
  public Contexts using(String name) {
    get(name);
    return new Contexts(name, byName);
  }

  /**
   * Returns these contexts with one more.
   *
   * @throws CommandException (usage) when the name is invalid or has another meaning already
   */
  public Contexts with(String name, Target target) {
    if (!NAME.matcher(name).matches()) {
      throw new CommandException(ExitCode.USAGE, "\"" + name + "\" is no name: " + NAME_RULE);
    }
    Target before = byName.get(name);
    if (before != null && !before.equals(target)) {
      throw new CommandException(
          ExitCode.USAGE,
          "the context \""
              + name
              + "\" exists and is for "
              + before.address()
              + "; remove it first: espalier context remove "
              + name);
    }
    Map<String, Target> more = new LinkedHashMap<>(byName);
    more.put(name, target);
    return new Contexts(current, more);
  }

  /** Returns these contexts without one; if it was the current one, there is none then. */
  public Contexts without(String name) {
    get(name);
    Map<String, Target> rest = new LinkedHashMap<>(byName);
    rest.remove(name);
    return new Contexts(name.equals(current) ? null : current, rest);
  }

  /** Returns the contents of the file. */
  public Json.Obj json() {
    Json.Builder contexts = Json.object();
    byName.forEach((name, target) -> contexts.put(name, json(target)));
    return Json.object()
        .putIfPresent(CURRENT, text(current))
        .put(CONTEXTS, contexts.build())
        .build();
  }

  private static Json.Obj json(Target target) {
    return Json.object()
        .putIfPresent(SERVER, text(target.server()))
        .putIfPresent(ZOOKEEPER, text(target.zookeeper()))
        .putIfPresent(ZOOKEEPER_AUTH, text(target.zookeeperAuth()))
        .putIfPresent(TOKEN_FILE, text(target.tokenFile()))
        .putIfPresent(TLS_CA, text(target.tlsCa()))
        .putIfPresent(TLS_CERT, text(target.tlsCert()))
        .putIfPresent(TLS_KEY, text(target.tlsKey()))
        .build();
  }

  private static @Nullable Json text(@Nullable Object value) {
    return value == null ? null : Json.of(value.toString());
  }

  /** Reads the contents of a file. */
  private static final class Parser {
    private final Path file;
    private final Problems problems;

    Parser(Path file, Problems problems) {
      this.file = file;
      this.problems = problems;
    }

    @Nullable Contexts contexts(Json value) {
      ProblemPath root = ProblemPath.ROOT;
      Json.Obj all = object(value, root, List.of(CURRENT, CONTEXTS));
      Json given = all == null ? null : all.get(CONTEXTS);
      if (all == null || given == null) {
        if (all != null) {
          problems.error(root, all, "\"contexts\" is missing", "espalier context add writes it");
        }
        return null;
      }
      Map<String, Target> targets = new LinkedHashMap<>();
      if (given instanceof Json.Obj byName) {
        byName
            .members()
            .forEach(
                (name, target) -> {
                  ProblemPath path = root.key(CONTEXTS).key(name);
                  if (!NAME.matcher(name).matches()) {
                    problems.error(path, target, "this is no name of a context", NAME_RULE);
                  }
                  targets.put(name, target(target, path));
                });
      } else {
        problems.error(root.key(CONTEXTS), given, "an object is expected", null);
      }
      String current = string(all, CURRENT, root);
      if (current != null && !targets.containsKey(current)) {
        problems.error(
            root.key(CURRENT),
            Objects.requireNonNull(all.get(CURRENT)),
            "there is no such context",
            suggestion(current, targets.keySet()));
      }
      return new Contexts(current, targets);
    }

    private Target target(Json value, ProblemPath path) {
      Json.Obj context = object(value, path, KEYS);
      if (context == null) {
        return Target.NONE;
      }
      Target target =
          new Target(
              string(context, SERVER, path),
              string(context, ZOOKEEPER, path),
              path(context, ZOOKEEPER_AUTH, path),
              path(context, TOKEN_FILE, path),
              path(context, TLS_CA, path),
              path(context, TLS_CERT, path),
              path(context, TLS_KEY, path));
      boolean both = context.get(SERVER) != null && context.get(ZOOKEEPER) != null;
      if (both || (context.get(SERVER) == null && context.get(ZOOKEEPER) == null)) {
        problems.error(path, context, "it must have either \"server\" or \"zookeeper\"", null);
      }
      return target;
    }

    private Json.@Nullable Obj object(Json value, ProblemPath path, List<String> known) {
      if (!(value instanceof Json.Obj object)) {
        problems.error(path, value, "an object is expected", null);
        return null;
      }
      object
          .members()
          .forEach(
              (key, member) -> {
                if (!known.contains(key)) {
                  problems.add(
                      Problems.at(
                          Problem.Severity.ERROR,
                          path.key(key),
                          object.keyAt(key),
                          // A token that was written here must not appear on a screen.
                          null,
                          "unknown key",
                          suggestion(key, known)));
                }
              });
      return object;
    }

    private static @Nullable String suggestion(String given, Collection<String> known) {
      String near = Suggestions.didYouMean(given, known);
      return near != null
          ? near
          : known.isEmpty() ? null : "known are: " + String.join(", ", known);
    }

    private @Nullable String string(Json.Obj object, String key, ProblemPath path) {
      Json value = object.get(key);
      if (value == null) {
        return null;
      }
      if (value instanceof Json.Str text && !text.value().isBlank()) {
        return text.value();
      }
      problems.error(path.key(key), value, "a text is expected", null);
      return null;
    }

    private @Nullable Path path(Json.Obj object, String key, ProblemPath path) {
      String text = string(object, key, path);
      // Relative paths are those of the file, whatever the working directory is.
      return text == null ? null : file.resolveSibling(text).normalize();
    }
  }
}
