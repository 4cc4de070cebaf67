package io.espalier.core.problem;

import io.espalier.core.json.Position;
import io.espalier.core.text.ShortText;
import org.jspecify.annotations.Nullable;

/**
 * One problem in a user's input.
 *
 * @param severity an error disables the part that contains it (the settings, or one job); a warning
 *     does not
 * @param path path in the document, such as {@code bistro_settings.nodes.levels[2]}
 * @param at line and column, or {@link Position#NONE} when the value has no text
 * @param message what is wrong and what was expected, in one sentence
 * @param value the offending value as JSON text, shortened; absent for missing keys and for values
 *     that may be secrets
 * @param hint how to fix it, such as "did you mean …?"
 */
public record Problem(
    Severity severity,
    String path,
    Position at,
    String message,
    @Nullable String value,
    @Nullable String hint) {
  private static final int LONGEST_PATH = 300;
  private static final int SHOWN_BEGIN = 200;
  private static final int SHOWN_END = 60;

  /** The severity of a problem. */
  public enum Severity {
    ERROR,
    WARNING
  }

  public static Problem error(String path, String message) {
    return new Problem(Severity.ERROR, path, Position.NONE, message, null, null);
  }

  public static Problem warning(String path, String message) {
    return new Problem(Severity.WARNING, path, Position.NONE, message, null, null);
  }

  public boolean isError() {
    return severity == Severity.ERROR;
  }

  public Problem withHint(String newHint) {
    return new Problem(severity, path, at, message, value, newHint);
  }

  /** The path for people: names of thousands of characters are cut in the middle. */
  public String shownPath() {
    int length = path.length();
    if (length <= LONGEST_PATH) {
      return path;
    }
    int from = Character.isLowSurrogate(path.charAt(length - SHOWN_END)) ? 1 : 0;
    return ShortText.shown(path, SHOWN_BEGIN) + path.substring(length - SHOWN_END + from);
  }

  /** One line: {@code error 3:14 bistro_settings.levels: message (value: 7); hint}. */
  @Override
  public String toString() {
    StringBuilder out = new StringBuilder(isError() ? "error" : "warning");
    if (!at.equals(Position.NONE)) {
      out.append(' ').append(at);
    }
    if (!path.isEmpty()) {
      out.append(' ').append(shownPath());
    }
    out.append(": ").append(message);
    if (value != null) {
      out.append(" (value: ").append(value).append(')');
    }
    if (hint != null) {
      out.append("; ").append(hint);
    }
    return out.toString();
  }
}
