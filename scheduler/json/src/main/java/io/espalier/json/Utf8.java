package io.espalier.json;

import io.espalier.core.json.Position;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Problem.Severity;
import io.espalier.core.problem.Result;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CoderResult;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Decodes UTF-8, and says where a text is something else. */
public final class Utf8 {
  private Utf8() {}

  /**
   * Decodes a text; a byte order mark stays in it.
   *
   * @param file name of the text, for problems; may be empty
   * @return no value if the text is too long or not UTF-8
   */
  public static Result<String> decode(byte[] utf8, int maxBytes, String file) {
    if (utf8.length > maxBytes) {
      return new Result<>(null, List.of(tooLong(maxBytes, file)));
    }
    CharsetDecoder decoder =
        StandardCharsets.UTF_8
            .newDecoder()
            .onMalformedInput(CodingErrorAction.REPORT)
            .onUnmappableCharacter(CodingErrorAction.REPORT);
    ByteBuffer in = ByteBuffer.wrap(utf8);
    CharBuffer out = CharBuffer.allocate(utf8.length + 1);
    CoderResult end = decoder.decode(in, out, true);
    String text = out.flip().toString();
    return end.isError()
        ? new Result<>(null, List.of(notUtf8(text, utf8, in.position(), file)))
        : new Result<>(text, List.of());
  }

  private static Problem notUtf8(String before, byte[] utf8, int at, String file) {
    int line = 1;
    int column = 1;
    for (int i = 0; i < before.length(); i++) {
      column++;
      char c = before.charAt(i);
      boolean split = c == '\r' && i + 1 < before.length() && before.charAt(i + 1) == '\n';
      if ((c == '\n' || c == '\r') && !split) {
        line++;
        column = 1;
      }
    }
    int start = utf8.length < 2 ? 0 : ((utf8[0] & 0xff) << 8) | (utf8[1] & 0xff);
    boolean utf16 = start == 0xfffe || start == 0xfeff;
    String message =
        utf16
            ? "the text is UTF-16, expected UTF-8"
            : String.format("the byte 0x%02x is not UTF-8 here", utf8[at] & 0xff);
    return error(new Position(file, line, column), message, "save the text as UTF-8");
  }

  static Problem tooLong(int maxBytes, String file) {
    return error(
        new Position(file, 0, 0),
        "the text is longer than the allowed " + maxBytes + " bytes",
        null);
  }

  private static Problem error(Position at, String message, @Nullable String hint) {
    return new Problem(Severity.ERROR, "", at, message, null, hint);
  }
}
