package io.espalier.core.status;

/**
 * Encodes status bits in Bistro's short text form (docs/design/bistro.md#reading-queries):
 * base64url digits, lowest first.
 */
public final class StatusBits {
  private static final String DIGITS =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

  /** All defined bits. */
  public static final int ALL = 4095;

  private StatusBits() {}

  /**
   * Returns one or two characters.
   *
   * @throws IllegalArgumentException when there are bits beyond {@link #ALL}
   */
  public static String encode(int bits) {
    if ((bits & ~ALL) != 0) {
      throw new IllegalArgumentException("not status bits: " + bits);
    }
    String low = DIGITS.substring(bits & 63, (bits & 63) + 1);
    return bits < 64 ? low : low + DIGITS.charAt(bits >> 6);
  }

  /**
   * The inverse of {@link #encode}; a redundant second digit zero is accepted.
   *
   * @throws IllegalArgumentException for any other text
   */
  public static int decode(String text) {
    if (text.isEmpty() || text.length() > 2) {
      throw new IllegalArgumentException("not encoded status bits: " + text);
    }
    int bits = 0;
    for (int i = 0; i < text.length(); i++) {
      int digit = DIGITS.indexOf(text.charAt(i));
      if (digit < 0) {
        throw new IllegalArgumentException("not encoded status bits: " + text);
      }
      bits |= digit << (6 * i);
    }
    return bits;
  }
}
