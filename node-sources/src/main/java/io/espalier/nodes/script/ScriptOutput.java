package io.espalier.nodes.script;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The output of a script, kept as bytes until the script is known to have succeeded. One thread
 * fills it; another reads it after the first has ended or the output is sealed.
 */
final class ScriptOutput {
  /** The maximum total output of all runs of one fetch. */
  static final long MAX_BYTES = 1L << 30;

  /** The maximum length of a line. */
  static final int MAX_LINE_BYTES = 1 << 20;

  private static final int FIRST_BLOCK = 1 << 12;
  private static final int BLOCK = 1 << 18;

  private final List<byte[]> blocks = new ArrayList<>();
  private int fill;
  private boolean sealed;

  /**
   * Reads to the end.
   *
   * @param budget bytes that remain for the fetch
   * @return true when the budget sufficed
   */
  boolean readFrom(InputStream in, AtomicLong budget) throws IOException {
    while (true) {
      byte[] block;
      int from;
      synchronized (this) {
        if (blocks.isEmpty() || fill == last().length) {
          blocks.add(new byte[blocks.isEmpty() ? FIRST_BLOCK : BLOCK]);
          fill = 0;
        }
        block = last();
        from = fill;
      }
      int read = in.read(block, from, block.length - from);
      synchronized (this) {
        if (read < 0 || sealed) {
          return true;
        }
        fill += read;
      }
      if (budget.addAndGet(-read) < 0) {
        return false;
      }
    }
  }

  /** Ends the output: nothing is added any more, even if reading has not reached the end. */
  synchronized void seal() {
    sealed = true;
  }

  private byte[] last() {
    return blocks.get(blocks.size() - 1);
  }

  /** Receives the lines of a script. */
  interface LineSink {
    /**
     * @param number number of the line, from 1
     * @param text without its line end; null when it is not UTF-8 or too long
     * @return true to continue
     */
    boolean line(long number, @Nullable String text);
  }

  /** Calls the sink for every line; the last one needs no line end. */
  synchronized void forEachLine(LineSink sink) {
    CharsetDecoder decoder = StandardCharsets.UTF_8.newDecoder();
    byte[] partial = new byte[0];
    long number = 0;
    for (int b = 0; b < blocks.size(); b++) {
      byte[] block = blocks.get(b);
      int end = b == blocks.size() - 1 ? fill : block.length;
      int start = 0;
      for (int i = 0; i < end; i++) {
        if (block[i] != '\n') {
          continue;
        }
        number++;
        String text;
        if (partial.length == 0) {
          text = text(block, start, i - start, decoder);
        } else {
          byte[] whole = joined(partial, block, start, i);
          text = text(whole, 0, whole.length, decoder);
          partial = new byte[0];
        }
        if (!sink.line(number, text)) {
          return;
        }
        start = i + 1;
      }
      if (start < end) {
        partial = joined(partial, block, start, end);
      }
    }
    if (partial.length > 0) {
      sink.line(number + 1, text(partial, 0, partial.length, decoder));
    }
  }

  private static byte[] joined(byte[] partial, byte[] block, int start, int end) {
    // A line that is too long stays too long; the rest of it is not needed.
    int more = Math.min(end - start, MAX_LINE_BYTES + 1);
    if (partial.length > MAX_LINE_BYTES) {
      return partial;
    }
    byte[] whole = Arrays.copyOf(partial, partial.length + more);
    System.arraycopy(block, start, whole, partial.length, more);
    return whole;
  }

  private static @Nullable String text(
      byte[] bytes, int offset, int length, CharsetDecoder decoder) {
    if (length > MAX_LINE_BYTES) {
      return null;
    }
    boolean ascii = true;
    for (int i = offset; i < offset + length; i++) {
      ascii &= bytes[i] >= 0;
    }
    if (ascii) {
      return new String(bytes, offset, length, StandardCharsets.ISO_8859_1);
    }
    try {
      return decoder.decode(ByteBuffer.wrap(bytes, offset, length)).toString();
    } catch (CharacterCodingException e) {
      return null;
    }
  }
}
