package io.espalier.nodes;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads comma-separated values according to RFC 4180; lines may also end with LF. Not thread-safe.
 */
final class CsvReader {
  private final String text;
  private final char separator;
  private int at;
  private int line;
  private int nextLine = 1;
  private @Nullable String fault;

  CsvReader(String text, char separator) {
    this.text = text;
    this.separator = separator;
  }

  /** Returns the line, from 1, on which the most recently read record begins. */
  int line() {
    return line;
  }

  /** Returns the fault of that record, as the end of a sentence; reading stops there. */
  @Nullable String fault() {
    return fault;
  }

  /** Returns the cells of the next record; null at the end, or after a fault. */
  @Nullable List<String> next() {
    line = nextLine;
    if (at >= text.length() || fault != null) {
      return null;
    }
    List<String> cells = new ArrayList<>();
    while (true) {
      String cell = at < text.length() && text.charAt(at) == '"' ? quoted() : plain();
      if (fault != null) {
        return null;
      }
      cells.add(cell);
      if (at >= text.length()) {
        return cells;
      }
      char c = text.charAt(at++);
      if (c == separator) {
        continue;
      }
      if (c == '\r' && at < text.length() && text.charAt(at) == '\n') {
        at++;
      } else if (c != '\n') {
        fault = "has text behind a closing quote";
        return null;
      }
      nextLine++;
      return cells;
    }
  }

  private String plain() {
    int start = at;
    while (at < text.length() && !isEnd(at)) {
      at++;
    }
    return text.substring(start, at);
  }

  private boolean isEnd(int index) {
    char c = text.charAt(index);
    boolean crLf = c == '\r' && index + 1 < text.length() && text.charAt(index + 1) == '\n';
    return c == separator || c == '\n' || crLf;
  }

  private String quoted() {
    StringBuilder cell = new StringBuilder();
    at++;
    while (at < text.length()) {
      char c = text.charAt(at++);
      if (c != '"') {
        nextLine += c == '\n' ? 1 : 0;
        cell.append(c);
      } else if (at < text.length() && text.charAt(at) == '"') {
        cell.append('"');
        at++;
      } else {
        return cell.toString();
      }
    }
    fault = "opens a quote that is never closed";
    return "";
  }
}
