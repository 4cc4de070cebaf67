package io.espalier.cli.client.top;

import java.io.IOException;

/** Parses keys from the characters that a terminal sends. */
final class TopKeys {
  private static final int ESCAPE = 27;
  private static final long SEQUENCE_MILLIS = 50;

  /** A source of characters. */
  interface Source {
    /**
     * @return a character, -1 at the end, or a value below -1 when none arrived in time
     */
    int read(long millis) throws IOException;
  }

  private final Source source;

  TopKeys(Source source) {
    this.source = source;
  }

  /** Returns the next key, {@link TopState.Key#NONE} when none arrived in time. */
  TopState.Key next(long millis) throws IOException {
    int first = source.read(millis);
    return switch (first) {
      case -1, 'q', 'Q', 3, 4 -> TopState.Key.QUIT;
      case 'k' -> TopState.Key.UP;
      case 'j' -> TopState.Key.DOWN;
      case '\t' -> TopState.Key.OTHER_LIST;
      case 's' -> TopState.Key.SORT;
      case 'p', ' ' -> TopState.Key.FREEZE;
      case '\r', '\n', 'e' -> TopState.Key.OPEN;
      case 8, 127 -> TopState.Key.BACK;
      case ESCAPE -> sequence();
      default -> TopState.Key.NONE;
    };
  }

  /**
   * Parses an escape sequence. A lone escape is a key of its own; characters that follow
   * immediately make it another key.
   */
  private TopState.Key sequence() throws IOException {
    int second = source.read(SEQUENCE_MILLIS);
    if (second != '[' && second != 'O') {
      return TopState.Key.BACK;
    }
    int last = source.read(SEQUENCE_MILLIS);
    int number = 0;
    while ((last >= '0' && last <= '9') || last == ';') {
      number = last == ';' ? number : last - '0';
      last = source.read(SEQUENCE_MILLIS);
    }
    return switch (last) {
      case 'A' -> TopState.Key.UP;
      case 'B' -> TopState.Key.DOWN;
      case 'C', 'D', 'Z' -> TopState.Key.OTHER_LIST;
      case '~' ->
          number == 5
              ? TopState.Key.PAGE_UP
              : number == 6 ? TopState.Key.PAGE_DOWN : TopState.Key.NONE;
      default -> TopState.Key.NONE;
    };
  }
}
