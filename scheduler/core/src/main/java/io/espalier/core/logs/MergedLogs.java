package io.espalier.core.logs;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Makes one page of the pages of several stores, such as those of workers (behaviour 9.6). Ids
 * begin with the second, so ids of different stores order lines by time; equal ids may occur in
 * several stores.
 *
 * <p>The page ends where the first store that has more does: what lies behind that is known of some
 * stores only, and is asked for again. So pages that are asked for one after the other hold every
 * line of every store once.
 */
public final class MergedLogs {
  private MergedLogs() {}

  /**
   * Merges pages that answer the same query.
   *
   * @param pages by the name of their store
   * @param unreachable why other stores have no page, by name; they are named in the result
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
    // The sort is stable: lines with equal ids stand in the order of their stores.
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
   * Where to cut: between different ids, since a page begins with all lines of an id. A page is
   * longer than the limit only when one id alone has more lines.
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

  /** How many lines to ask each of several stores for, so that the answer is not too big. */
  public static int limitOfEach(int limit, int stores) {
    return Math.max(Math.min(limit, 100), limit / Math.max(1, stores));
  }

  /** One query for each store, the same but for its limit. */
  public static Map<String, LogQuery> queries(LogQuery query, Iterable<String> stores) {
    List<String> names = new ArrayList<>();
    stores.forEach(names::add);
    LogQuery each = query.withLimit(limitOfEach(query.limit(), names.size()));
    Map<String, LogQuery> queries = new HashMap<>();
    names.forEach(name -> queries.put(name, each));
    return queries;
  }
}
