package io.espalier.core.logs;

import java.util.ArrayList;
import java.util.List;

/**
 * Hides secrets in lines that come in pieces, also where a cut goes through a secret. The end of a
 * piece is held back until the next one shows whether a secret goes on: {@link #HELD} characters,
 * or more while one does. A secret without an end is given out as one mark and swallowed until it
 * ends.
 *
 * <p>What a pattern finds across a cut is hidden as long as it needs no more than {@link #HELD}
 * characters behind the cut to be found. Not thread-safe.
 */
public final class StreamingRedactor {
  static final int HELD = 4096;
  private static final int MOST_HELD = 65_000;
  private static final int REMEMBERED = 1024;

  private final Redactor redactor;
  private String held = "";

  /** The beginning of a match whose mark was given out, and which still goes on. */
  private String swallowing = "";

  StreamingRedactor(Redactor redactor) {
    this.redactor = redactor;
  }

  /** Whether nothing is held back. */
  public boolean isEmpty() {
    return held.isEmpty();
  }

  /**
   * Takes the next piece.
   *
   * @param last whether the line ends with it
   * @return what can be given out, maybe nothing
   */
  public String take(String piece, boolean last) {
    if (redactor.isNone()) {
      return piece;
    }
    if (last && held.isEmpty() && swallowing.isEmpty()) {
      return redactor.redact(piece);
    }
    int from = swallowing.length();
    String text = swallowing + held + piece;
    List<Redactor.Range> ranges = new ArrayList<>(redactor.find(text));
    Redactor.Range swallowed = null;
    if (from > 0 && !ranges.isEmpty() && ranges.get(0).start() < from) {
      swallowed = ranges.get(0);
    }
    if (last) {
      held = "";
      swallowing = "";
      return Redactor.written(text, ranges, from, text.length());
    }
    if (swallowed != null && swallowed.end() == text.length()) {
      held = "";
      return "";
    }
    int cut = cut(text, ranges, from);
    if (text.length() - cut > MOST_HELD) {
      Redactor.Range end = ranges.get(ranges.size() - 1);
      boolean goesOn = end.end() == text.length();
      swallowing =
          goesOn
              ? text.substring(
                  end.matchStart(), Math.min(text.length(), end.matchStart() + REMEMBERED))
              : "";
      held = "";
      return Redactor.written(text, ranges, from, text.length());
    }
    String out = cut <= from ? "" : Redactor.written(text, ranges, from, cut);
    held = text.substring(Math.max(from, cut));
    swallowing = "";
    return out;
  }

  /** Where to cut: not within a match, nor between two halves of a character. */
  private static int cut(String text, List<Redactor.Range> ranges, int from) {
    int cut = Math.max(from, text.length() - HELD);
    boolean moved = true;
    while (moved) {
      moved = false;
      for (Redactor.Range range : ranges) {
        if (range.start() < from) {
          cut = Math.max(cut, Math.min(text.length(), range.end()));
        } else if (range.matchStart() < cut && cut < range.end()) {
          cut = Math.max(from, range.matchStart());
          moved = cut > from;
        } else if (range.end() == text.length() && range.matchStart() < cut) {
          cut = Math.max(from, range.matchStart());
          moved = cut > from;
        }
      }
    }
    if (cut > from
        && cut < text.length()
        && Character.isHighSurrogate(text.charAt(cut - 1))
        && Character.isLowSurrogate(text.charAt(cut))) {
      cut--;
    }
    return cut;
  }
}
