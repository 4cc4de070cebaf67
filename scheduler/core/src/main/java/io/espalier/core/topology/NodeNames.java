package io.espalier.core.topology;

import org.jspecify.annotations.Nullable;

/**
 * Validates names of nodes.
 *
 * <p>A name is any text of 1 to {@value #MAX_BYTES} bytes of UTF-8 without control characters.
 * Names are arguments of task processes (no NUL), lines of script output and of logs (no line
 * breaks), and are shown on terminals (no escape sequences); a name that is not valid Unicode could
 * not be restored. Blanks, slashes and leading dashes are allowed: a name is never used unchecked
 * as a path or as shell text.
 */
public final class NodeNames {
  /** The longest name, in bytes of UTF-8. */
  public static final int MAX_BYTES = 1024;

  private NodeNames() {}

  /**
   * Why the text is not a valid name, as the end of a sentence that begins with the name; null when
   * it is valid.
   */
  public static @Nullable String objection(String name) {
    if (name.isEmpty()) {
      return "is empty";
    }
    int bytes = 0;
    for (int i = 0; i < name.length(); i++) {
      char c = name.charAt(i);
      if (c >= ' ' && c < 0x7f) {
        bytes++;
        continue;
      }
      if (Character.isISOControl(c) || c == '\u2028' || c == '\u2029') {
        return "contains a control character or line break (U+%04X)".formatted((int) c);
      }
      if (c < 0x800) {
        bytes += 2;
      } else if (!Character.isSurrogate(c)) {
        bytes += 3;
      } else if (Character.isHighSurrogate(c)
          && i + 1 < name.length()
          && Character.isLowSurrogate(name.charAt(i + 1))) {
        bytes += 4;
        i++;
      } else {
        return "is not valid Unicode (lone surrogate U+%04X)".formatted((int) c);
      }
    }
    return bytes > MAX_BYTES ? "is longer than " + MAX_BYTES + " bytes" : null;
  }

  /** The name for display: control characters made visible, shortened. */
  static String shown(String name) {
    StringBuilder out = new StringBuilder("\"");
    for (int i = 0; i < name.length() && i < 80; i++) {
      char c = name.charAt(i);
      if (Character.isISOControl(c) || Character.isSurrogate(c) || c == '\u2028' || c == '\u2029') {
        out.append("\\u%04x".formatted((int) c));
      } else {
        out.append(c);
      }
    }
    return out.append(name.length() > 80 ? "…\"" : "\"").toString();
  }
}
