package io.espalier.core.topology;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** A growing heap of UTF-8 names in pages; each name is preceded by its length in two bytes. */
final class NamePool {
  private static final int PAGE_BITS = 18;
  private static final int PAGE = 1 << PAGE_BITS;
  private static final int FIRST_PAGE = 1 << 12;

  private byte[][] pages = new byte[8][];
  private int used = 0;
  private int fill = PAGE;

  /** Adds a name of at most {@link NodeNames#MAX_BYTES} and returns its position. */
  long add(byte[] name) {
    int needed = name.length + 2;
    if (fill + needed > PAGE) {
      if (used == pages.length) {
        pages = Arrays.copyOf(pages, used * 2);
      }
      // There are many small trees (one per test, one per poll), which do not need a full page.
      pages[used++] = new byte[used == 1 ? FIRST_PAGE : PAGE];
      fill = 0;
    }
    byte[] page = pages[used - 1];
    if (fill + needed > page.length) {
      page = Arrays.copyOf(page, Math.min(PAGE, Math.max(page.length * 4, fill + needed)));
      pages[used - 1] = page;
    }
    page[fill] = (byte) (name.length >>> 8);
    page[fill + 1] = (byte) name.length;
    System.arraycopy(name, 0, page, fill + 2, name.length);
    long position = ((long) (used - 1) << PAGE_BITS) | fill;
    fill += needed;
    return position;
  }

  int length(long position) {
    byte[] page = page(position);
    int at = at(position);
    return (page[at] & 0xff) << 8 | (page[at + 1] & 0xff);
  }

  void copy(long position, byte[] to, int offset) {
    System.arraycopy(page(position), at(position) + 2, to, offset, length(position));
  }

  String name(long position) {
    return new String(page(position), at(position) + 2, length(position), StandardCharsets.UTF_8);
  }

  boolean equals(long position, byte[] name) {
    int from = at(position) + 2;
    return Arrays.equals(page(position), from, from + length(position), name, 0, name.length);
  }

  /** Compares two names by code points. */
  int compare(long a, long b) {
    int fromA = at(a) + 2;
    int fromB = at(b) + 2;
    return Arrays.compareUnsigned(
        page(a), fromA, fromA + length(a), page(b), fromB, fromB + length(b));
  }

  private byte[] page(long position) {
    return pages[(int) (position >>> PAGE_BITS)];
  }

  private static int at(long position) {
    return (int) position & (PAGE - 1);
  }
}
