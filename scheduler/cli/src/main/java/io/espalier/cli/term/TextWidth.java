package io.espalier.cli.term;

import org.jline.utils.WCWidth;

/** Measures text in columns of a terminal: wide characters take two, combining ones none. */
public final class TextWidth {
  private TextWidth() {}

  public static int width(String text) {
    int width = 0;
    for (int i = 0; i < text.length(); ) {
      int point = text.codePointAt(i);
      width += width(point);
      i += Character.charCount(point);
    }
    return width;
  }

  private static int width(int point) {
    return point < 0x300 ? 1 : Math.max(0, WCWidth.wcwidth(point));
  }

  /** Cuts a text to at most {@code width} columns; an ellipsis replaces the rest. */
  public static String cut(String text, int width) {
    if (text.length() <= width / 2 || width(text) <= width) {
      return text;
    }
    if (width <= 0) {
      return "";
    }
    StringBuilder kept = new StringBuilder();
    int used = 0;
    for (int i = 0; i < text.length(); ) {
      int point = text.codePointAt(i);
      used += width(point);
      if (used > width - 1) {
        break;
      }
      kept.appendCodePoint(point);
      i += Character.charCount(point);
    }
    return kept.append('…').toString();
  }

  /** Pads a text with blanks on the right or, when {@code right} is set, on the left. */
  public static String pad(String text, int width, boolean right) {
    String blanks = " ".repeat(Math.max(0, width - width(text)));
    return right ? blanks + text : text + blanks;
  }
}
