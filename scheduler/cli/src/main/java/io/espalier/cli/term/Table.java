package io.espalier.cli.term;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * A table with headings. On a terminal, text columns shrink until a row fits on a line, and then
 * optional columns disappear; numbers are never cut. Elsewhere nothing is cut.
 */
public final class Table {
  private static final String GAP = "  ";
  private static final int NARROWEST = 8;

  private record Column(
      String heading, boolean optional, boolean droppable, boolean right, int index) {}

  private final List<Column> columns = new ArrayList<>();
  private final List<List<String>> rows = new ArrayList<>();
  private final Map<String, Function<String, AnsiStyle>> paints = new HashMap<>();

  /**
   * @param headings each with optional prefixes in this order: {@code ?} hides a column without
   *     values; {@code ~} drops the column on a narrow terminal, the last one first; {@code >}
   *     marks numbers, aligned to the right
   */
  public Table(String... headings) {
    for (String given : headings) {
      String rest = given;
      boolean optional = rest.startsWith("?");
      rest = optional ? rest.substring(1) : rest;
      boolean droppable = rest.startsWith("~");
      rest = droppable ? rest.substring(1) : rest;
      boolean right = rest.startsWith(">");
      rest = right ? rest.substring(1) : rest;
      columns.add(new Column(rest, optional, droppable, right, columns.size()));
    }
  }

  /** Sets the colours of a column by the content of a cell. */
  public Table paint(String heading, Function<String, AnsiStyle> paint) {
    paints.put(heading, paint);
    return this;
  }

  public void row(Object... cells) {
    List<String> row = new ArrayList<>();
    for (Object cell : cells) {
      row.add(HumanFormat.clean(String.valueOf(cell)));
    }
    rows.add(row);
  }

  public boolean isEmpty() {
    return rows.isEmpty();
  }

  /**
   * Returns the lines without line ends.
   *
   * @param width columns of a line, for which colours do not count; 0: no limit
   */
  public List<String> lines(int width, boolean colours) {
    List<Column> shown = new ArrayList<>(columns);
    shown.removeIf(
        column -> column.optional() && rows.stream().allMatch(row -> cell(row, column).isEmpty()));
    Map<Column, Integer> widths = new HashMap<>();
    for (Column column : shown) {
      int most = TextWidth.width(column.heading());
      for (List<String> row : rows) {
        most = Math.max(most, TextWidth.width(cell(row, column)));
      }
      widths.put(column, most);
    }
    fit(shown, widths, width);
    List<String> lines = new ArrayList<>();
    lines.add(line(shown, widths, Column::heading, colours, column -> AnsiStyle.BOLD));
    for (List<String> row : rows) {
      lines.add(
          line(
              shown,
              widths,
              column -> cell(row, column),
              colours,
              column -> {
                Function<String, AnsiStyle> paint = paints.get(column.heading());
                return paint == null ? AnsiStyle.NONE : paint.apply(cell(row, column));
              }));
    }
    return lines;
  }

  /** Returns the first column without its heading. */
  public List<String> names() {
    return rows.stream().map(row -> row.get(0)).toList();
  }

  /** Returns all columns as lines of CSV (RFC 4180) without line ends, first the headings. */
  public List<String> csv() {
    List<String> lines = new ArrayList<>();
    lines.add(csv(columns.stream().map(Column::heading).toList()));
    rows.forEach(row -> lines.add(csv(row)));
    return lines;
  }

  /** Returns one line of CSV without its end. */
  public static String csv(List<String> cells) {
    return cells.stream().map(Table::quoted).collect(Collectors.joining(","));
  }

  private static String quoted(String cell) {
    return cell.chars().noneMatch(c -> c == ',' || c == '"' || c == '\n' || c == '\r')
        ? cell
        : '"' + cell.replace("\"", "\"\"") + '"';
  }

  private static String cell(List<String> row, Column column) {
    return row.get(column.index());
  }

  private static void fit(List<Column> shown, Map<Column, Integer> widths, int width) {
    while (width > 0 && !shrunk(shown, widths, width)) {
      int last = shown.size() - 1;
      while (last > 0 && !shown.get(last).droppable()) {
        last--;
      }
      if (last <= 0) {
        squeeze(shown, widths, width);
        return;
      }
      shown.remove(last);
    }
  }

  private static int over(List<Column> shown, Map<Column, Integer> widths, int width) {
    int over = GAP.length() * (shown.size() - 1) - width;
    for (Column column : shown) {
      over += widths.getOrDefault(column, 0);
    }
    return over;
  }

  /**
   * Shrinks the widest text columns until the row fits; changes nothing and returns false if that
   * is not enough.
   */
  private static boolean shrunk(List<Column> shown, Map<Column, Integer> widths, int width) {
    Map<Column, Integer> tried = new HashMap<>(widths);
    for (int over = over(shown, widths, width); over > 0; over--) {
      Column widest = null;
      for (Column column : shown) {
        int own = tried.getOrDefault(column, 0);
        if (!column.right()
            && own > NARROWEST
            && (widest == null || own > tried.getOrDefault(widest, 0))) {
          widest = column;
        }
      }
      if (widest == null) {
        return false;
      }
      tried.merge(widest, -1, Integer::sum);
    }
    widths.putAll(tried);
    return true;
  }

  /** Cuts the widest columns of any kind, as the last resort on a very narrow terminal. */
  private static void squeeze(List<Column> shown, Map<Column, Integer> widths, int width) {
    for (int over = over(shown, widths, width); over > 0; over--) {
      Column widest = shown.get(0);
      for (Column column : shown) {
        if (widths.getOrDefault(column, 0) > widths.getOrDefault(widest, 0)) {
          widest = column;
        }
      }
      if (widths.getOrDefault(widest, 0) <= 1) {
        return;
      }
      widths.merge(widest, -1, Integer::sum);
    }
  }

  private static String line(
      List<Column> shown,
      Map<Column, Integer> widths,
      Function<Column, String> text,
      boolean colours,
      Function<Column, AnsiStyle> paint) {
    StringBuilder line = new StringBuilder();
    int pending = 0;
    for (Column column : shown) {
      int width = widths.getOrDefault(column, 0);
      String cell = TextWidth.cut(text.apply(column), width);
      int blanks = width - TextWidth.width(cell);
      pending += column.right() ? blanks : 0;
      if (!cell.isEmpty()) {
        line.append(" ".repeat(pending));
        line.append(colours ? paint.apply(column).on(cell) : cell);
        pending = 0;
      }
      // Trailing blanks are never written.
      pending += (column.right() ? 0 : blanks) + GAP.length();
    }
    return line.toString();
  }
}
