package io.espalier.core.json;

import java.util.Comparator;

/**
 * The position of a value in its source text.
 *
 * @param file name of the source text; empty when it has none or there is only one
 * @param line 1-based; 0 when the value did not come from text
 * @param column 1-based, in characters; 0 when the value did not come from text
 */
public record Position(String file, int line, int column) implements Comparable<Position> {
  /** The position of a value created by code. */
  public static final Position NONE = new Position(0, 0);

  private static final Comparator<Position> ORDER =
      Comparator.comparing(Position::file)
          .thenComparingInt(Position::line)
          .thenComparingInt(Position::column);

  /** Creates a position in a text without a name. */
  public Position(int line, int column) {
    this("", line, column);
  }

  /** Orders by file, line and column; values without a position come first. */
  @Override
  public int compareTo(Position other) {
    return ORDER.compare(this, other);
  }

  /** {@code file:line:column}, without unknown parts. */
  @Override
  public String toString() {
    String place = line == 0 ? "" : line + ":" + column;
    if (file.isEmpty()) {
      return place;
    }
    return place.isEmpty() ? file : file + ":" + place;
  }
}
