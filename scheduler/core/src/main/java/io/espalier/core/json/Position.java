package io.espalier.core.json;

/**
 * Where a value stands in its source text.
 *
 * @param line 1-based; 0 when the value did not come from text
 * @param column 1-based, in characters; 0 when the value did not come from text
 */
public record Position(int line, int column) {
  /** The position of a value that was made by code. */
  public static final Position NONE = new Position(0, 0);

  @Override
  public String toString() {
    return line == 0 ? "" : line + ":" + column;
  }
}
