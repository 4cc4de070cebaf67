package io.espalier.cli.term;

import java.util.Locale;

/** Makes text safe for terminals and shells. */
public final class Printable {
  private Printable() {}

  /** Escapes untrusted text, which must not move the cursor or colour the terminal. */
  public static String text(String text) {
    StringBuilder out = new StringBuilder();
    text.codePoints()
        .forEach(
            c -> {
              if (Character.isISOControl(c) || Character.getType(c) == Character.FORMAT) {
                out.append(String.format(Locale.ROOT, "\\u%04x", c));
              } else {
                out.appendCodePoint(c);
              }
            });
    return out.toString();
  }

  /** Returns a word for a POSIX shell, quoted if necessary. */
  public static String word(String text) {
    return text.matches("[A-Za-z0-9_.,:/@%+=-]+") ? text : "'" + text.replace("'", "'\\''") + "'";
  }
}
