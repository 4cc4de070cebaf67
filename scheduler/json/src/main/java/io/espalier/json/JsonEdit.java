package io.espalier.json;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.json.JsonReadFeature;
import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/**
 * Changes members of a document that people wrote, and nothing else: comments, order, blanks and
 * the form of all other members stay as they are, to the character.
 */
public final class JsonEdit {
  private static final JsonFactory FACTORY =
      JsonFactory.builder()
          .configure(JsonReadFeature.ALLOW_JAVA_COMMENTS, true)
          .streamReadConstraints(
              StreamReadConstraints.builder()
                  .maxNestingDepth(JsonReader.MAX_DEPTH + 1)
                  .maxStringLength(Integer.MAX_VALUE)
                  .maxNameLength(Integer.MAX_VALUE)
                  .build())
          .build();

  private final String text;
  private final Set<String> keys;

  /** The members that are looked for, in the order of the document. */
  private final Map<String, Span> found = new LinkedHashMap<>();

  // Offsets of characters.
  private int open;
  private int close;
  private int lastMemberEnd = -1;
  private int firstKey = -1;

  /** Where a member is: offsets of characters. */
  private record Span(int key, int value, int end) {}

  private JsonEdit(String text, Set<String> keys) {
    this.text = text;
    this.keys = keys;
  }

  /**
   * The document with the member set: its value replaced in its place, or added as the last one.
   *
   * @param text a document that {@link JsonReader#config} reads as an object without errors
   * @throws IllegalArgumentException when it is not
   */
  public static String put(String text, String key, Json value) {
    return put(text, Map.of(key, value));
  }

  /** Sets all members as {@link #put(String, String, Json)} sets one; new ones in their order. */
  public static String put(String text, Map<String, Json> members) {
    JsonEdit edit = find(text, members.keySet());
    String indent = edit.indent();
    StringBuilder out = new StringBuilder(text.length());
    int at = 0;
    for (Map.Entry<String, Span> old : edit.found.entrySet()) {
      Json value = members.get(old.getKey());
      if (value != null) {
        out.append(text, at, old.getValue().value()).append(written(value, indent));
        at = old.getValue().end();
      }
    }
    StringBuilder added = new StringBuilder();
    members.forEach(
        (key, value) -> {
          if (!edit.found.containsKey(key)) {
            added.append(added.isEmpty() ? "" : ",\n").append(indent);
            JsonWriter.quote(key, added);
            added.append(": ").append(written(value, indent));
          }
        });
    if (added.isEmpty()) {
      return out.append(text, at, text.length()).toString();
    }
    boolean isEmpty = edit.lastMemberEnd < 0;
    int last = isEmpty ? edit.open + 1 : edit.lastMemberEnd;
    return out.append(text, at, last)
        .append(isEmpty ? "" : ",")
        .append(text.substring(last, edit.close).stripTrailing())
        .append('\n')
        .append(added)
        .append('\n')
        .append(text, edit.close, text.length())
        .toString();
  }

  private static String written(Json value, String indent) {
    return JsonWriter.pretty(value).replace("\n", "\n" + indent);
  }

  /**
   * The document without the member; the same text when it has none.
   *
   * @throws IllegalArgumentException as {@link #put}
   */
  public static String remove(String text, String key) {
    JsonEdit edit = find(text, Set.of(key));
    Span span = edit.found.get(key);
    if (span == null) {
      return text;
    }
    int from = edit.lineStart(span.key());
    int comma = edit.comma(span.end());
    if (comma >= 0) {
      String between = text.substring(span.end(), comma);
      // A comment stays, with the line end that may close it.
      return text.substring(0, from)
          + (between.isBlank() ? "" : between)
          + text.substring(edit.endOfLine(comma + 1, from < span.key()));
    }
    // It was the last one: the comma in front of it goes too.
    int before = edit.commaBefore(span.key());
    String head =
        before < 0
            ? text.substring(0, from)
            : text.substring(0, before) + text.substring(before + 1, from);
    return head + text.substring(edit.endOfLine(span.end(), from < span.key()));
  }

  private static JsonEdit find(String text, Set<String> keys) {
    JsonEdit edit = new JsonEdit(text, keys);
    try (JsonParser in = FACTORY.createParser(text)) {
      edit.scan(in);
    } catch (IOException e) {
      throw new IllegalArgumentException("not a readable document: " + e.getMessage(), e);
    } catch (UncheckedIOException e) {
      throw new IllegalArgumentException("not a readable document", e);
    }
    return edit;
  }

  private void scan(JsonParser in) throws IOException {
    if (in.nextToken() != JsonToken.START_OBJECT) {
      throw new IllegalArgumentException("the document is not an object");
    }
    open = (int) in.currentTokenLocation().getCharOffset();
    while (in.nextToken() == JsonToken.FIELD_NAME) {
      int at = (int) in.currentTokenLocation().getCharOffset();
      firstKey = firstKey < 0 ? at : firstKey;
      String key = in.currentName();
      in.nextToken();
      int start = (int) in.currentTokenLocation().getCharOffset();
      int end = end(in, start);
      lastMemberEnd = end;
      if (keys.contains(key)) {
        found.putIfAbsent(key, new Span(at, start, end));
      }
    }
    close = (int) in.currentTokenLocation().getCharOffset();
  }

  private int end(JsonParser in, int start) throws IOException {
    if (in.currentToken().isStructStart()) {
      in.skipChildren();
      return (int) in.currentTokenLocation().getCharOffset() + 1;
    }
    if (in.currentToken() == JsonToken.VALUE_STRING) {
      in.finishToken();
      return (int) in.currentLocation().getCharOffset();
    }
    return start + in.getText().length();
  }

  /** The blanks in front of the first key, when it is on a line of its own. */
  private String indent() {
    if (firstKey < 0) {
      return "  ";
    }
    int start = lineStart(firstKey);
    String blanks = text.substring(start, firstKey);
    return start == firstKey && firstKey > 0 && text.charAt(firstKey - 1) != '\n' ? "  " : blanks;
  }

  /** Where the line of a key begins if there are only blanks before it, else the key itself. */
  private int lineStart(int at) {
    int start = at;
    while (start > 0 && (text.charAt(start - 1) == ' ' || text.charAt(start - 1) == '\t')) {
      start--;
    }
    return start == 0 || text.charAt(start - 1) == '\n' ? start : at;
  }

  /** Past the end of the line when nothing but blanks is left on it and it was ours alone. */
  private int endOfLine(int at, boolean ours) {
    int end = at;
    while (end < text.length()
        && (text.charAt(end) == ' ' || text.charAt(end) == '\t' || text.charAt(end) == '\r')) {
      end++;
    }
    return ours && end < text.length() && text.charAt(end) == '\n' ? end + 1 : at;
  }

  /** The comma behind a value, or -1 for the last one; comments are stepped over. */
  private int comma(int from) {
    int at = from;
    while (at < close) {
      char c = text.charAt(at);
      if (c == ',') {
        return at;
      }
      at = c == '/' ? afterComment(at) : at + 1;
    }
    return -1;
  }

  /** The last comma before a key that is no part of a comment, or -1. */
  private int commaBefore(int keyAt) {
    // Only what lies behind the member before it can hold that comma.
    int found = -1;
    int at = endOfMemberBefore(keyAt);
    while (at >= 0 && at < keyAt) {
      char c = text.charAt(at);
      if (c == ',') {
        found = at;
      }
      at = c == '/' ? afterComment(at) : at + 1;
    }
    return found;
  }

  private int endOfMemberBefore(int keyAt) {
    try (JsonParser in = FACTORY.createParser(text)) {
      in.nextToken();
      int end = -1;
      while (in.nextToken() == JsonToken.FIELD_NAME) {
        if ((int) in.currentTokenLocation().getCharOffset() == keyAt) {
          return end;
        }
        in.nextToken();
        end = end(in, (int) in.currentTokenLocation().getCharOffset());
      }
      return -1;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private int afterComment(int at) {
    if (text.startsWith("//", at)) {
      int end = text.indexOf('\n', at);
      return end < 0 ? text.length() : end + 1;
    }
    if (text.startsWith("/*", at)) {
      int end = text.indexOf("*/", at + 2);
      return end < 0 ? text.length() : end + 2;
    }
    return at + 1;
  }
}
