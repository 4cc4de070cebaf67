package io.espalier.worker.process.output;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CoderResult;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.HexFormat;

/** Decodes the bytes of tasks as text. */
final class Utf8Decoder {
  private Utf8Decoder() {}

  /** Decodes UTF-8; other bytes become {@code \xNN}, so that nothing is lost or ambiguous. */
  static String decode(byte[] bytes, int start, int length) {
    String text = new String(bytes, start, length, StandardCharsets.UTF_8);
    return text.indexOf('\uFFFD') < 0 ? text : escaped(bytes, start, length);
  }

  private static String escaped(byte[] bytes, int start, int length) {
    HexFormat hex = HexFormat.of();
    CharsetDecoder decoder =
        StandardCharsets.UTF_8
            .newDecoder()
            .onMalformedInput(CodingErrorAction.REPORT)
            .onUnmappableCharacter(CodingErrorAction.REPORT);
    ByteBuffer in = ByteBuffer.wrap(bytes, start, length);
    CharBuffer good = CharBuffer.allocate(length);
    StringBuilder text = new StringBuilder(length + 64);
    while (in.hasRemaining()) {
      CoderResult result = decoder.reset().decode(in, good, true);
      text.append(good.flip());
      good.clear();
      int bad = result.isError() ? result.length() : 0;
      for (int i = 0; i < bad; i++) {
        text.append("\\x").append(hex.toHexDigits(in.get()));
      }
    }
    return text.toString();
  }

  /**
   * Cuts a text into pieces of at most {@code maxBytes} bytes of UTF-8, never inside a character.
   */
  static void cut(String text, int maxBytes, Collection<String> to) {
    int from = 0;
    int bytes = 0;
    int at = 0;
    while (at < text.length()) {
      int character = text.codePointAt(at);
      int size = character < 0x80 ? 1 : character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
      // As with lines, the newline at the end does not count.
      boolean lastNewline = character == '\n' && at == text.length() - 1;
      if (bytes + size > maxBytes && !lastNewline) {
        to.add(text.substring(from, at));
        from = at;
        bytes = 0;
      }
      bytes += size;
      at += Character.charCount(character);
    }
    if (from < at) {
      to.add(text.substring(from, at));
    }
  }
}
