package io.espalier.core.logs;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Merges pages of several stores, such as those of workers, into one page
 * (docs/design/bistro.md#log-queries). Ids begin with the second, so ids of different stores order
 * lines by time; equal ids may occur in several stores.
 *
 * <p>The page ends where the first store ends that has more lines: beyond that point only some
 * stores are known, so it is queried again. Consecutive pages therefore contain every line of every
 * store exactly once.
 */
public final class MergedLogs {
  private MergedLogs() {}

  /**
   * Merges pages that answer the same query.
   *
   * @param pages pages by name of their store
   * @param unreachable causes why other stores have no page, by name; the result lists them
   */
  public static LogPage merge(
      LogQuery query, Map<String, LogPage> pages, Map<String, String> unreachable) {
    boolean up = query.ascending();
    Comparator<Long> order = up ? Comparator.naturalOrder() : Comparator.reverseOrder();
    List<LogLine> lines = new ArrayList<>();
    List<String> missing = new ArrayList<>();
    long next = LogPage.END;
    Map<String, LogPage> inOrder = new TreeMap<>(pages);
    for (LogPage page : inOrder.values()) {
      lines.addAll(page.lines());
      missing.addAll(page.missing());
      long its = page.nextId();
      if (its != LogPage.END && (next == LogPage.END || order.compare(its, next) < 0)) {
        next = its;
      }
    }
    new TreeMap<>(unreachable).forEach((name, why) -> missing.add(name + ": " + why));
    // The sort is stable: lines with equal ids are in the order of their stores.
    lines.sort(Comparator.comparing(LogLine::id, order));
    if (next != LogPage.END) {
      long end = next;
      lines.removeIf(line -> order.compare(line.id(), end) >= 0);
    }
    if (lines.size() > query.limit()) {
      int cut = cut(lines, query.limit());
      if (cut < lines.size()) {
        next = lines.get(cut).id();
        lines = lines.subList(0, cut);
      }
    }
    return new LogPage(lines, next, missing);
  }

  /**
   * Where to cut: between different ids, since a page begins with all lines of an id. A page
   * exceeds the limit only when a single id has more lines.
   */
  private static int cut(List<LogLine> lines, int limit) {
    int cut = limit;
    while (cut > 0 && lines.get(cut - 1).id() == lines.get(cut).id()) {
      cut--;
    }
    if (cut > 0) {
      return cut;
    }
    cut = limit;
    while (cut < lines.size() && lines.get(cut).id() == lines.get(0).id()) {
      cut++;
    }
    return cut;
  }

  /**
   * Merges the new lines of several stores for a client that follows them. Each store has its own
   * position: clocks of hosts differ, and within a second the ids of one store may be far ahead of
   * those of another, so a single position would skip lines written a little later elsewhere.
   *
   * @param from start position for stores without a position
   * @param positions positions with which the stores were queried, by name
   * @param pages their pages, in ascending order
   * @param unreachable causes why other stores have no page; they retain their positions
   */
  public static LogPage followed(
      long from,
      Map<String, Long> positions,
      Map<String, LogPage> pages,
      Map<String, String> unreachable) {
    List<LogLine> lines = new ArrayList<>();
    List<String> missing = new ArrayList<>();
    Map<String, Long> next = new TreeMap<>(positions);
    long more = LogPage.END;
    for (Map.Entry<String, LogPage> answer : new TreeMap<>(pages).entrySet()) {
      LogPage page = answer.getValue();
      lines.addAll(page.lines());
      missing.addAll(page.missing());
      long its = Math.max(from, positions.getOrDefault(answer.getKey(), 0L));
      for (LogLine line : page.lines()) {
        its = Math.max(its, line.id() + 1);
      }
      its = Math.max(its, page.nextId());
      next.put(answer.getKey(), Math.max(0, its));
      if (page.nextId() != LogPage.END) {
        more = more == LogPage.END ? its : Math.min(more, its);
      }
    }
    new TreeMap<>(unreachable).forEach((name, why) -> missing.add(name + ": " + why));
    lines.sort(Comparator.comparing(LogLine::id));
    return new LogPage(lines, more, missing, next);
  }

  /**
   * The position after everything that a store has.
   *
   * @param newest its page of at most one line, in descending order
   */
  public static long behind(LogPage newest) {
    return newest.lines().isEmpty() ? 0 : newest.lines().get(0).id() + 1;
  }

  /** The limit for each of several stores that bounds the size of the merged page. */
  public static int limitOfEach(int limit, int stores) {
    return Math.max(Math.min(limit, 100), limit / Math.max(1, stores));
  }
}
