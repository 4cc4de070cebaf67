package io.espalier.core.text;

/** Texts of limited length, which are never cut within a surrogate pair. */
public final class ShortText {
  private ShortText() {}

  /** Returns the text, or its first characters when it is longer than that many. */
  public static String cut(String text, int length) {
    if (text.length() <= length) {
      return text;
    }
    return text.substring(
        0, Character.isHighSurrogate(text.charAt(length - 1)) ? length - 1 : length);
  }

  /** Like {@link #cut}, and ends with an ellipsis when something was left out. */
  public static String shown(String text, int length) {
    return text.length() <= length ? text : cut(text, length) + "…";
  }
}
