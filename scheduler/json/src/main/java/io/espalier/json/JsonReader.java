package io.espalier.json;

import io.espalier.core.json.Json;
import io.espalier.core.json.Position;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Problem.Severity;
import io.espalier.core.problem.Result;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads JSON text into values that know their line and column. Never throws for what the text
 * contains: everything wrong becomes a problem. Immutable; safe for any number of threads.
 */
public final class JsonReader {
  /** How deep lists and objects may lie in each other. */
  public static final int MAX_DEPTH = 100;

  /** The longest configuration that is read, in bytes. */
  public static final int MAX_CONFIG_BYTES = 128 << 20;

  /** The longest other text that is read, in bytes. */
  public static final int MAX_STRICT_BYTES = 16 << 20;

  private final boolean comments;
  private final int maxBytes;
  private final String file;

  private JsonReader(boolean comments, int maxBytes, String file) {
    this.comments = comments;
    this.maxBytes = maxBytes;
    this.file = file;
  }

  /** For what people write: comments are allowed, a byte order mark is a warning. */
  public static JsonReader config() {
    return new JsonReader(true, MAX_CONFIG_BYTES, "");
  }

  /** For what programs send (tasks, HTTP clients): JSON as in RFC 8259, nothing more. */
  public static JsonReader strict() {
    return new JsonReader(false, MAX_STRICT_BYTES, "");
  }

  /** Reads one strict JSON text. */
  public static Result<Json> parse(String text) {
    return strict().read(text);
  }

  /** A reader that refuses longer texts. */
  public JsonReader withMaxBytes(int bytes) {
    return new JsonReader(comments, bytes, file);
  }

  /** A reader whose positions name the file. */
  public JsonReader withFile(String name) {
    return new JsonReader(comments, maxBytes, name);
  }

  /** Reads UTF-8. No value if there is any error. */
  public Result<Json> read(byte[] utf8) {
    return good(inspect(utf8));
  }

  /**
   * Reads UTF-8. A text whose only errors are keys that are given twice has a value with the first
   * of each: to find further problems in it, never to use it.
   */
  public Result<Json> inspect(byte[] utf8) {
    Result<String> text = Utf8.decode(utf8, maxBytes, file);
    return text.value() == null ? new Result<>(null, text.problems()) : readText(text.value());
  }

  /** Reads text that is already decoded. No value if there is any error. */
  public Result<Json> read(String text) {
    // Fewer characters than bytes, so this is only ever generous.
    return text.length() > maxBytes ? refused(Utf8.tooLong(maxBytes, file)) : good(readText(text));
  }

  private Result<Json> readText(String text) {
    List<Problem> problems = new ArrayList<>();
    String body = text;
    if (text.startsWith("\ufeff")) {
      String message = "the text starts with a byte order mark (U+FEFF)";
      String hint = "save it as UTF-8 without BOM";
      if (!comments) {
        return refused(problem(Severity.ERROR, new Position(file, 1, 1), message, hint));
      }
      problems.add(problem(Severity.WARNING, new Position(file, 1, 1), message, hint));
      body = text.substring(1);
    }
    return new Result<>(new JsonTokens(body, comments, file, problems).document(), problems);
  }

  private static Result<Json> good(Result<Json> read) {
    boolean bad = read.problems().stream().anyMatch(Problem::isError);
    return bad ? new Result<>(null, read.problems()) : read;
  }

  private static Problem problem(
      Severity severity, Position at, String message, @Nullable String hint) {
    return new Problem(severity, "", at, message, null, hint);
  }

  private static Result<Json> refused(Problem problem) {
    return new Result<>(null, List.of(problem));
  }
}
