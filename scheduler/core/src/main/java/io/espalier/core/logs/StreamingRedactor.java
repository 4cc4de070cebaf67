package io.espalier.core.logs;

import java.util.ArrayList;
import java.util.List;

/**
 * Redacts secrets in lines that arrive in pieces, even when a secret spans two pieces. It delays
 * the end of a piece until the next one shows whether a secret continues: {@link #HELD} characters,
 * or more while one does. A secret without an end is replaced by one mark, and its text is dropped
 * until it ends.
 *
 * <p>A match across a cut is redacted as long as finding it requires at most {@link #HELD}
 * characters after the cut. Not thread-safe.
 */
public final class StreamingRedactor {
  static final int HELD = 4096;
  private static final int MOST_HELD = 65_000;
  private static final int REMEMBERED = 1024;

  private final Redactor redactor;
  private String held = "";

  /** The start of a match whose mark was already returned, and which still continues. */
  private String swallowing = "";

  StreamingRedactor(Redactor redactor) {
    this.redactor = redactor;
  }

  /** Returns true when nothing is delayed. */
  public boolean isEmpty() {
    return held.isEmpty();
  }

  /**
   * Processes the next piece.
   *
   * @param last whether the line ends with it
   * @return text that is ready, possibly empty
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

  /** Where to cut: neither within a match nor within a surrogate pair. */
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
