package io.espalier.core.status;

/**
 * Encodes status bits in Bistro's short text form (docs/design/bistro.md#reading-queries):
 * base64url digits, lowest first. Bistro has no bit for cancelled tasks ({@link #inBistro}).
 */
public final class StatusBits {
  private static final String DIGITS =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

  /** All bits that Bistro defines. */
  public static final int ALL = 4095;

  private StatusBits() {}

  /**
   * The bits as clients of Bistro know them. A cancelled task becomes one that has failed on an
   * avoided node: it does not start unless somebody forgives it, and its job does not need it.
   */
  public static int inBistro(int bits) {
    int cancelled = TaskStatus.Main.CANCELLED.bit();
    return (bits & cancelled) == 0
        ? bits
        : (bits & ~cancelled) | TaskStatus.Main.FAILED.bit() | TaskStatus.AVOIDED;
  }

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
