package io.espalier.core.logs;

import java.util.List;

/**
 * Finds which of some words occur in a text, in one pass over it; upper and lower case are the
 * same. Immutable.
 */
final class LiteralSearch {
  private static final int TABLE = 1024;

  private final List<String> words;

  /** The words that may begin with two characters, by {@link #slot}, one bit per word. */
  private final long[] byBeginning = new long[TABLE];

  /**
   * @param words at most 64, each of at least two ASCII characters, in lower case
   */
  LiteralSearch(List<String> words) {
    if (words.size() > Long.SIZE) {
      throw new IllegalArgumentException(words.size() + " words");
    }
    this.words = List.copyOf(words);
    for (int i = 0; i < words.size(); i++) {
      byBeginning[slot(words.get(i).charAt(0), words.get(i).charAt(1))] |= 1L << i;
    }
  }

  /** Returns the bit of a word. */
  long bit(String word) {
    int index = words.indexOf(word);
    if (index < 0) {
      throw new IllegalArgumentException(word);
    }
    return 1L << index;
  }

  /** Returns the bits of the words in a text. */
  long find(String text) {
    long found = 0;
    int length = text.length();
    char second = length == 0 ? 0 : text.charAt(0);
    for (int i = 0; i + 1 < length; i++) {
      char first = second;
      second = text.charAt(i + 1);
      long candidates = byBeginning[slot(first, second)] & ~found;
      for (; candidates != 0; candidates &= candidates - 1) {
        String word = words.get(Long.numberOfTrailingZeros(candidates));
        if (text.regionMatches(true, i, word, 0, word.length())) {
          found |= Long.lowestOneBit(candidates);
        }
      }
    }
    return found;
  }

  /** Letters that differ only in case have the same slot. */
  private static int slot(char first, char second) {
    return ((first | 0x20) << 5 ^ (second | 0x20)) & (TABLE - 1);
  }
}
