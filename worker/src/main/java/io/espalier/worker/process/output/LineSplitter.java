package io.espalier.worker.process.output;

import io.espalier.core.logs.Redactor;
import io.espalier.core.logs.StreamingRedactor;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * Splits a stream of bytes into lines (docs/design/bistro.md#output): after every newline, which
 * the line keeps, and every {@link #MAX_LINE} bytes without one, never inside a UTF-8 character.
 * Bytes that are not UTF-8 become {@code \xNN}. Secrets are redacted even across a split: with
 * patterns, the pieces of a long line may be split elsewhere, but none is longer. An empty splitter
 * keeps no buffer.
 */
final class LineSplitter {
  static final int MAX_LINE = 65_000;

  private static final byte[] NOTHING = {};

  private byte[] buffer = NOTHING;
  private int start;
  private int end;
  private int searched;
  private final Redactor redactor;
  private @Nullable StreamingRedactor pieces;
  private final Deque<String> ready = new ArrayDeque<>(0);

  /** Creates a splitter that redacts nothing. */
  LineSplitter() {
    this(Redactor.NONE);
  }

  /**
   * @param redactor redacts secrets
   */
  LineSplitter(Redactor redactor) {
    this.redactor = redactor;
  }

  void add(byte[] bytes, int length) {
    if (buffer.length - end < length) {
      int held = end - start;
      byte[] target =
          buffer.length - held >= length
              ? buffer
              : new byte[Math.max(held + length, Math.min(2 * buffer.length, 1 << 18))];
      System.arraycopy(buffer, start, target, 0, held);
      buffer = target;
      searched -= start;
      start = 0;
      end = held;
    }
    System.arraycopy(bytes, 0, buffer, end, length);
    end += length;
  }

  /** Returns whether it contains nothing, neither lines nor the beginning of one. */
  boolean isEmpty() {
    return start == end && ready.isEmpty() && (pieces == null || pieces.isEmpty());
  }

  /** Returns the next complete line or piece, or null. */
  @Nullable String next() {
    while (ready.isEmpty()) {
      String piece = nextPiece();
      if (piece == null) {
        return null;
      }
      give(piece, piece.endsWith("\n"));
    }
    return ready.poll();
  }

  /**
   * Returns the remainder after the end of the stream, or null; call it after {@link #next} has
   * returned null.
   */
  @Nullable String rest() {
    if (!isEmpty() && ready.isEmpty()) {
      give(start == end ? "" : take(end), true);
    }
    return ready.poll();
  }

  private void give(String piece, boolean last) {
    StreamingRedactor open = pieces;
    if (open == null && (last || redactor.isNone())) {
      ready.add(redactor.redact(piece));
      return;
    }
    if (open == null) {
      open = redactor.pieces();
    }
    pieces = last ? null : open;
    Utf8Decoder.cut(open.take(piece, last), MAX_LINE, ready);
  }

  private @Nullable String nextPiece() {
    int limit = Math.min(end, start + MAX_LINE);
    for (int i = searched; i < limit; i++) {
      if (buffer[i] == '\n') {
        return take(i + 1);
      }
    }
    searched = limit;
    // A line of exactly MAX_LINE bytes and its newline is one line.
    if (end - start > MAX_LINE) {
      return buffer[start + MAX_LINE] == '\n' ? take(start + MAX_LINE + 1) : take(boundary(limit));
    }
    return null;
  }

  /**
   * Returns the last position at or before {@code at} that is not inside a well-formed character.
   */
  private int boundary(int at) {
    int cut = at;
    for (int back = 0; back < 3 && cut > start + 1; back++, cut--) {
      if ((buffer[cut] & 0xc0) != 0x80) {
        return cut;
      }
    }
    return (buffer[cut] & 0xc0) != 0x80 ? cut : at;
  }

  private String take(int to) {
    String line = Utf8Decoder.decode(buffer, start, to - start);
    start = to;
    searched = to;
    if (start == end) {
      buffer = NOTHING;
      start = 0;
      end = 0;
      searched = 0;
    } else if (start > buffer.length / 2) {
      buffer = Arrays.copyOfRange(buffer, start, end);
      end -= start;
      start = 0;
      searched = 0;
    }
    return line;
  }
}
