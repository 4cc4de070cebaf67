package io.espalier.webui.bistro;

/** Status bits as Bistro's clients read them (behaviour 9.3): base64url digits, low six first. */
public final class BistroBits {
  private static final String DIGITS =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

  private BistroBits() {}

  /**
   * One digit for the low six bits, a second for the rest when there is any.
   *
   * @param bits 0 to 4095
   */
  public static String encode(int bits) {
    if (bits < 0 || bits > 4095) {
      throw new IllegalArgumentException("bits " + bits);
    }
    String low = String.valueOf(DIGITS.charAt(bits & 63));
    return bits >> 6 == 0 ? low : low + DIGITS.charAt(bits >> 6);
  }

  /** The bits of an encoded form; the inverse of {@link #encode}. */
  public static int decode(String encoded) {
    int bits = 0;
    for (int i = encoded.length() - 1; i >= 0; i--) {
      int digit = DIGITS.indexOf(encoded.charAt(i));
      if (digit < 0 || encoded.length() > 2) {
        throw new IllegalArgumentException("encoded bits \"" + encoded + "\"");
      }
      bits = bits << 6 | digit;
    }
    return bits;
  }
}
