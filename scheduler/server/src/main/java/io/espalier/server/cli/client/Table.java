package io.espalier.server.cli.client;

import java.util.ArrayList;
import java.util.List;

/**
 * Rows under headings. On a terminal the widest columns give way until a row fits on a line;
 * elsewhere nothing is cut.
 */
final class Table {
  private static final String GAP = "  ";
  private static final int NARROWEST = 6;

  private final List<String> headings;
  private final List<Boolean> right;
  private final List<Boolean> optional;
  private final List<List<String>> rows = new ArrayList<>();

  /**
   * @param headings those that begin with {@code ?} vanish when nothing stands under them; those
   *     that then begin with {@code >} stand over numbers, aligned to the right
   */
  Table(String... headings) {
    this.headings = new ArrayList<>();
    this.right = new ArrayList<>();
    this.optional = new ArrayList<>();
    for (String given : headings) {
      String heading = given.startsWith("?") ? given.substring(1) : given;
      optional.add(given.startsWith("?"));
      right.add(heading.startsWith(">"));
      this.headings.add(heading.startsWith(">") ? heading.substring(1) : heading);
    }
  }

  void row(Object... cells) {
    List<String> row = new ArrayList<>();
    for (Object cell : cells) {
      row.add(Screen.clean(String.valueOf(cell)));
    }
    rows.add(row);
  }

  boolean isEmpty() {
    return rows.isEmpty();
  }

  /**
   * Lines without line ends.
   *
   * @param width characters of a line; 0: any number
   */
  List<String> lines(int width) {
    for (int c = headings.size() - 1; c >= 0; c--) {
      int column = c;
      if (optional.get(c) && rows.stream().allMatch(row -> row.get(column).isEmpty())) {
        headings.remove(column);
        right.remove(column);
        optional.remove(column);
        rows.forEach(row -> row.remove(column));
      }
    }
    int[] widths = widths(width);
    List<String> lines = new ArrayList<>();
    lines.add(line(headings, widths));
    rows.forEach(row -> lines.add(line(row, widths)));
    return lines;
  }

  private int[] widths(int width) {
    int[] widths = new int[headings.size()];
    for (int c = 0; c < widths.length; c++) {
      widths[c] = headings.get(c).length();
      for (List<String> row : rows) {
        widths[c] = Math.max(widths[c], row.get(c).length());
      }
    }
    if (width > 0) {
      int over = GAP.length() * (widths.length - 1) - width;
      for (int w : widths) {
        over += w;
      }
      while (over > 0) {
        int widest = widest(widths);
        if (widths[widest] <= NARROWEST) {
          break;
        }
        widths[widest]--;
        over--;
      }
    }
    return widths;
  }

  private static int widest(int[] widths) {
    int widest = 0;
    for (int c = 1; c < widths.length; c++) {
      if (widths[c] > widths[widest]) {
        widest = c;
      }
    }
    return widest;
  }

  private String line(List<String> cells, int[] widths) {
    StringBuilder line = new StringBuilder();
    for (int c = 0; c < widths.length; c++) {
      String cell = cut(cells.get(c), widths[c]);
      String blanks = " ".repeat(widths[c] - cell.length());
      line.append(c == 0 ? "" : GAP).append(right.get(c) ? blanks + cell : cell + blanks);
    }
    return line.toString().stripTrailing();
  }

  private static String cut(String text, int width) {
    return text.length() <= width ? text : text.substring(0, Math.max(0, width - 1)) + "…";
  }
}
