package io.espalier.core.problem;

import io.espalier.core.json.Position;
import org.jspecify.annotations.Nullable;

/**
 * One thing that is wrong with what a user gave us.
 *
 * @param severity an error stops what it stands in (the settings, or one job); a warning does not
 * @param path where in the document, as {@code bistro_settings.nodes.levels[2]}
 * @param at line and column, or {@link Position#NONE} when the value has no text
 * @param message what is wrong and what was expected, one sentence
 * @param value the offending value as JSON text, shortened; absent for missing keys
 * @param hint what to do about it, such as "did you mean …?"
 */
public record Problem(
    Severity severity,
    String path,
    Position at,
    String message,
    @Nullable String value,
    @Nullable String hint) {

  /** How bad it is. */
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

  /** One line: {@code error 3:14 bistro_settings.levels: message (value: 7); hint}. */
  @Override
  public String toString() {
    StringBuilder out = new StringBuilder(isError() ? "error" : "warning");
    if (!at.equals(Position.NONE)) {
      out.append(' ').append(at);
    }
    if (!path.isEmpty()) {
      out.append(' ').append(path);
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
