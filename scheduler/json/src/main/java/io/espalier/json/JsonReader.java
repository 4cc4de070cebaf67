package io.espalier.json;

import io.espalier.core.json.Json;
import io.espalier.core.json.Position;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Problem.Severity;
import io.espalier.core.problem.Result;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CoderResult;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads JSON text into values that know their line and column. Never throws for what the text
 * holds: everything wrong becomes a problem. Immutable; safe for any number of threads.
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
    if (utf8.length > maxBytes) {
      return refused(tooLong());
    }
    CharsetDecoder decoder =
        StandardCharsets.UTF_8
            .newDecoder()
            .onMalformedInput(CodingErrorAction.REPORT)
            .onUnmappableCharacter(CodingErrorAction.REPORT);
    ByteBuffer in = ByteBuffer.wrap(utf8);
    CharBuffer out = CharBuffer.allocate(utf8.length + 1);
    CoderResult end = decoder.decode(in, out, true);
    String text = out.flip().toString();
    if (end.isError()) {
      return refused(notUtf8(text, utf8, in.position()));
    }
    return readText(text);
  }

  /** Reads text that is already decoded. No value if there is any error. */
  public Result<Json> read(String text) {
    // Fewer characters than bytes, so this is only ever generous.
    return text.length() > maxBytes ? refused(tooLong()) : readText(text);
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
    Json value = new JsonTokens(body, comments, file, problems).document();
    boolean bad = problems.stream().anyMatch(Problem::isError);
    return new Result<>(bad ? null : value, problems);
  }

  private Problem notUtf8(String before, byte[] utf8, int at) {
    int line = 1;
    int column = 1;
    for (int i = 0; i < before.length(); i++) {
      column++;
      char c = before.charAt(i);
      boolean split = c == '\r' && i + 1 < before.length() && before.charAt(i + 1) == '\n';
      if ((c == '\n' || c == '\r') && !split) {
        line++;
        column = 1;
      }
    }
    int start = utf8.length < 2 ? 0 : ((utf8[0] & 0xff) << 8) | (utf8[1] & 0xff);
    boolean utf16 = start == 0xfffe || start == 0xfeff;
    String message =
        utf16
            ? "the text is UTF-16, expected UTF-8"
            : String.format("the byte 0x%02x is not UTF-8 here", utf8[at] & 0xff);
    return problem(
        Severity.ERROR, new Position(file, line, column), message, "save the text as UTF-8");
  }

  private Problem tooLong() {
    return problem(
        Severity.ERROR,
        new Position(file, 0, 0),
        "the text is longer than the allowed " + maxBytes + " bytes",
        null);
  }

  private static Problem problem(
      Severity severity, Position at, String message, @Nullable String hint) {
    return new Problem(severity, "", at, message, null, hint);
  }

  private static Result<Json> refused(Problem problem) {
    return new Result<>(null, List.of(problem));
  }
}
