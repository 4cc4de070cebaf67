package io.espalier.json;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.core.exc.StreamConstraintsException;
import com.fasterxml.jackson.core.io.JsonEOFException;
import com.fasterxml.jackson.core.json.JsonReadFeature;
import io.espalier.core.json.Json;
import io.espalier.core.json.Position;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Problem.Severity;
import io.espalier.core.problem.ProblemPath;
import io.espalier.core.problem.Problems;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** One pass over one text: builds the value and finds words for what is wrong. */
final class JsonTokens {
  private static final int MAX_NUMBER_LENGTH = 1000;

  private static final JsonFactory PLAIN = factory(false);
  private static final JsonFactory WITH_COMMENTS = factory(true);

  private final String text;
  private final boolean comments;
  private final String file;
  private final List<Problem> problems;
  private final Deque<Open> open = new ArrayDeque<>();

  /** A list or object whose end has not come yet. */
  private record Open(char bracket, Position at) {}

  /** Stops the pass: the problem has been recorded. */
  private static final class Stopped extends Exception {
    private static final long serialVersionUID = 1L;

    Stopped() {
      super(null, null, false, false);
    }
  }

  JsonTokens(String text, boolean comments, String file, List<Problem> problems) {
    this.text = text;
    this.comments = comments;
    this.file = file;
    this.problems = problems;
  }

  private static JsonFactory factory(boolean comments) {
    return JsonFactory.builder()
        .configure(JsonReadFeature.ALLOW_JAVA_COMMENTS, comments)
        .configure(StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION, false)
        // Keys come from strangers: they must not fill tables that are never emptied.
        .configure(JsonFactory.Feature.INTERN_FIELD_NAMES, false)
        .configure(JsonFactory.Feature.CANONICALIZE_FIELD_NAMES, false)
        .streamReadConstraints(
            StreamReadConstraints.builder()
                .maxNestingDepth(JsonReader.MAX_DEPTH + 1)
                .maxNumberLength(MAX_NUMBER_LENGTH)
                .maxStringLength(Integer.MAX_VALUE)
                .maxNameLength(Integer.MAX_VALUE)
                .build())
        .build();
  }

  /**
   * The value of the text, or null when it is not JSON. When a key is given twice, which is an
   * error, the value has the first.
   */
  @Nullable Json document() {
    try (JsonParser in = (comments ? WITH_COMMENTS : PLAIN).createParser(text)) {
      try {
        return document(in);
      } catch (Stopped e) {
        return null;
      } catch (JsonProcessingException e) {
        report(e, in);
        return null;
      }
    } catch (IOException e) {
      throw new UncheckedIOException("reading a string cannot fail", e);
    }
  }

  private @Nullable Json document(JsonParser in) throws IOException, Stopped {
    if (in.nextToken() == null) {
      error(ProblemPath.ROOT, new Position(file, 1, 1), "the text is empty", null);
      return null;
    }
    Json value = value(in, ProblemPath.ROOT);
    if (in.nextToken() != null) {
      error(
          ProblemPath.ROOT,
          start(in),
          "there is more text after the end of the document",
          "one text contains one value");
      return null;
    }
    return value;
  }

  private Json value(JsonParser in, ProblemPath path) throws IOException, Stopped {
    Position at = start(in);
    JsonToken token = in.currentToken();
    return switch (token) {
      case START_OBJECT -> object(in, path, at);
      case START_ARRAY -> array(in, path, at);
      case VALUE_STRING -> new Json.Str(in.getText(), at);
      case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> number(in.getText(), path, at);
      case VALUE_TRUE -> new Json.Bool(true, at);
      case VALUE_FALSE -> new Json.Bool(false, at);
      case VALUE_NULL -> new Json.Null(at);
      default -> throw new IllegalStateException("unexpected token " + token);
    };
  }

  private Json object(JsonParser in, ProblemPath path, Position at) throws IOException, Stopped {
    enter('{', at, path);
    Map<String, Json> members = new LinkedHashMap<>();
    Map<String, Position> keys = new HashMap<>();
    while (in.nextToken() == JsonToken.FIELD_NAME) {
      String key = in.currentName();
      Position keyAt = start(in);
      Position first = keys.putIfAbsent(key, keyAt);
      ProblemPath memberPath = path.key(key);
      in.nextToken();
      Json member = value(in, memberPath);
      if (first != null) {
        problems.add(
            Problems.at(
                Severity.ERROR,
                memberPath,
                keyAt,
                member,
                "the key is given twice, first at line " + first.line() + ":" + first.column(),
                "keep one of them"));
      }
      members.putIfAbsent(key, member);
    }
    open.pop();
    return new Json.Obj(members, keys, at);
  }

  private Json array(JsonParser in, ProblemPath path, Position at) throws IOException, Stopped {
    enter('[', at, path);
    List<Json> items = new ArrayList<>();
    while (in.nextToken() != JsonToken.END_ARRAY) {
      items.add(value(in, path.index(items.size())));
    }
    open.pop();
    return new Json.Arr(items, at);
  }

  private void enter(char bracket, Position at, ProblemPath path) throws Stopped {
    if (open.size() >= JsonReader.MAX_DEPTH) {
      error(
          path,
          at,
          "lists and objects lie in each other more than " + JsonReader.MAX_DEPTH + " deep",
          null);
      throw new Stopped();
    }
    open.push(new Open(bracket, at));
  }

  private Json number(String digits, ProblemPath path, Position at) throws Stopped {
    try {
      return new Json.Num(new BigDecimal(digits), at);
    } catch (NumberFormatException | ArithmeticException e) {
      error(path, at, "the number is out of all range: " + shortened(digits), null);
      throw new Stopped();
    }
  }

  private void report(JsonProcessingException e, JsonParser in) {
    Position at = position(e.getLocation() == null ? in.currentLocation() : e.getLocation());
    String original = e.getOriginalMessage() == null ? "" : e.getOriginalMessage();
    if (e instanceof JsonEOFException) {
      Open innermost = open.peek();
      String what =
          innermost == null
              ? "the text ends too early"
              : "the text ends, but the "
                  + (innermost.bracket() == '{' ? "object" : "list")
                  + " opened at "
                  + innermost.at().line()
                  + ":"
                  + innermost.at().column()
                  + " is not closed";
      String hint =
          original.contains("was expecting closing quote") ? "a string is not closed" : null;
      error(ProblemPath.ROOT, at, what, hint);
    } else if (e instanceof StreamConstraintsException) {
      error(ProblemPath.ROOT, at, "a value is too long: " + original, null);
    } else {
      SyntaxWords words = SyntaxWords.of(original);
      error(ProblemPath.ROOT, at, words.message(), words.hint());
    }
  }

  private void error(ProblemPath path, Position at, String message, @Nullable String hint) {
    problems.add(new Problem(Severity.ERROR, path.toString(), at, message, null, hint));
  }

  private Position start(JsonParser in) {
    return position(in.currentTokenLocation());
  }

  private Position position(JsonLocation location) {
    return new Position(
        file, Math.max(1, location.getLineNr()), Math.max(1, location.getColumnNr()));
  }

  private static String shortened(String digits) {
    return digits.length() <= 40 ? digits : digits.substring(0, 40) + "…";
  }
}
