package io.espalier.webui.fleet.action;

import io.espalier.core.json.Json;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;

/**
 * Keeps the earliest of the lines that schedulers deliver, up to the limit, however many schedulers
 * there are. Thread-safe.
 */
public final class LogMerge {
  private static final int LONGEST_TEXT = 64 << 10;

  private final int wanted;
  private final Comparator<Line> order;

  /** The last line comes first, so that it can be removed. */
  private final PriorityQueue<Line> kept;

  private record Line(long millis, String host, long id, Json.Obj json) {}

  /**
   * The end of an answer: the number of lines of this millisecond already shown. Lines of one
   * millisecond have a fixed order, so no line is repeated or skipped.
   *
   * @param skip 0: from the beginning
   */
  public record Cursor(long millis, int skip) {
    static final Cursor START = new Cursor(0, 0);

    /**
     * @throws IllegalArgumentException for text that is not a cursor
     */
    public static Cursor parse(String text) {
      if (text.isEmpty()) {
        return START;
      }
      if (!text.matches("\\d{1,15}:[1-9]\\d{0,2}")) {
        throw new IllegalArgumentException("\"after\" is not a cursor; begin again");
      }
      int colon = text.indexOf(':');
      return new Cursor(
          Long.parseLong(text.substring(0, colon)), Integer.parseInt(text.substring(colon + 1)));
    }

    @Override
    public String toString() {
      return millis + ":" + skip;
    }
  }

  /**
   * Some lines.
   *
   * @param next the cursor to continue with, or empty
   */
  record Page(List<Json> lines, String next) {}

  LogMerge(boolean ascending, int wanted) {
    this.wanted = wanted;
    Comparator<Line> byTime = Comparator.comparingLong(Line::millis);
    Comparator<Line> byId = Comparator.comparingLong(Line::id);
    this.order =
        (ascending ? byTime : byTime.reversed())
            .thenComparing(Line::host)
            .thenComparing(ascending ? byId : byId.reversed());
    this.kept = new PriorityQueue<>(order.reversed());
  }

  /** Adds lines as a scheduler delivers them; ignores malformed ones. */
  synchronized void add(String host, List<Json> lines) {
    for (Json json : lines) {
      if (json instanceof Json.Obj line
          && line.get("time_ms") instanceof Json.Num time
          && line.get("text") instanceof Json.Str text
          && text.value().length() <= LONGEST_TEXT) {
        Line one =
            new Line(
                (long) time.value().doubleValue(),
                host,
                id(line),
                new Json.Obj(line.with("host", Json.of(host)).members()));
        kept.add(one);
        if (kept.size() > wanted) {
          kept.remove();
        }
      }
    }
  }

  private static long id(Json.Obj line) {
    try {
      return line.get("id") instanceof Json.Str id ? Long.parseLong(id.value()) : 0;
    } catch (NumberFormatException e) {
      return 0;
    }
  }

  /** Returns the lines after the cursor. */
  synchronized Page page(int limit, Cursor cursor) {
    List<Line> sorted = new ArrayList<>(kept);
    sorted.sort(order);
    int begin = 0;
    while (begin < Math.min(cursor.skip(), sorted.size())
        && sorted.get(begin).millis() == cursor.millis()) {
      begin++;
    }
    List<Line> shown = sorted.subList(begin, Math.min(sorted.size(), begin + limit));
    if (shown.size() < limit) {
      return new Page(json(shown), "");
    }
    long last = shown.get(shown.size() - 1).millis();
    int seen = 0;
    for (Line line : sorted.subList(0, begin + limit)) {
      seen += line.millis() == last ? 1 : 0;
    }
    // A cursor cannot count this many lines in one millisecond: some are skipped.
    Cursor next = seen < 1_000 ? new Cursor(last, seen) : new Cursor(last, 999);
    return new Page(json(shown), next.toString());
  }

  private static List<Json> json(List<Line> lines) {
    List<Json> json = new ArrayList<>();
    lines.forEach(line -> json.add(line.json()));
    return json;
  }
}
