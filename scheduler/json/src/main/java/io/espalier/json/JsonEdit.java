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

/**
 * Changes one member of a document that people wrote, and nothing else: comments, order, blanks and
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
  private final String key;

  // Offsets of characters.
  private int open;
  private int close;
  private int lastMemberEnd = -1;
  private int firstKey = -1;
  private int keyStart = -1;
  private int valueStart;
  private int valueEnd;

  private JsonEdit(String text, String key) {
    this.text = text;
    this.key = key;
  }

  /**
   * The document with the member set: its value replaced in its place, or added as the last one.
   *
   * @param text a document that {@link JsonReader#config} reads as an object without errors
   * @throws IllegalArgumentException when it is not
   */
  public static String put(String text, String key, Json value) {
    JsonEdit edit = find(text, key);
    String indent = edit.indent();
    String written = JsonWriter.pretty(value).replace("\n", "\n" + indent);
    if (edit.keyStart >= 0) {
      return text.substring(0, edit.valueStart) + written + text.substring(edit.valueEnd);
    }
    StringBuilder member = new StringBuilder(indent);
    JsonWriter.quote(key, member);
    member.append(": ").append(written).append('\n');
    if (edit.lastMemberEnd < 0) {
      return text.substring(0, edit.open + 1)
          + text.substring(edit.open + 1, edit.close).stripTrailing()
          + "\n"
          + member
          + text.substring(edit.close);
    }
    return text.substring(0, edit.lastMemberEnd)
        + ","
        + text.substring(edit.lastMemberEnd, edit.close).stripTrailing()
        + "\n"
        + member
        + text.substring(edit.close);
  }

  /**
   * The document without the member; the same text when it has none.
   *
   * @throws IllegalArgumentException as {@link #put}
   */
  public static String remove(String text, String key) {
    JsonEdit edit = find(text, key);
    if (edit.keyStart < 0) {
      return text;
    }
    int from = edit.lineStart(edit.keyStart);
    int comma = edit.comma(edit.valueEnd);
    if (comma >= 0) {
      String between = text.substring(edit.valueEnd, comma);
      // A comment stays, with the line end that may close it.
      return text.substring(0, from)
          + (between.isBlank() ? "" : between)
          + text.substring(edit.endOfLine(comma + 1, from < edit.keyStart));
    }
    // It was the last one: the comma in front of it goes too.
    int before = edit.commaBefore(edit.keyStart);
    String head =
        before < 0
            ? text.substring(0, from)
            : text.substring(0, before) + text.substring(before + 1, from);
    return head + text.substring(edit.endOfLine(edit.valueEnd, from < edit.keyStart));
  }

  private static JsonEdit find(String text, String key) {
    JsonEdit edit = new JsonEdit(text, key);
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
      boolean wanted = keyStart < 0 && in.currentName().equals(key);
      in.nextToken();
      int start = (int) in.currentTokenLocation().getCharOffset();
      int end = end(in, start);
      lastMemberEnd = end;
      if (wanted) {
        keyStart = at;
        valueStart = start;
        valueEnd = end;
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
