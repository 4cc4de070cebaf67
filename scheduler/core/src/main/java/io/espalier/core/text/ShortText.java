package io.espalier.core.text;

import java.util.Collection;
import java.util.stream.Collectors;

/** Texts of limited length, which are never cut within a surrogate pair. */
public final class ShortText {
  private static final int FEW = 5;

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

  /** Returns the first five of these, with a separator in between, and how many more there are. */
  public static String few(Collection<String> all, String separator) {
    int more = all.size() - FEW;
    return all.stream().limit(FEW).collect(Collectors.joining(separator))
        + (more > 0 ? separator + more + " more" : "");
  }
}
