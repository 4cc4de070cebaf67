package io.espalier.core.text;

/**
 * A text that limits the number of character reads. {@link java.util.regex} takes exponential time
 * for some patterns; limiting the reads ends that after the same number of steps on every machine.
 */
public final class StepLimitedText implements CharSequence {
  private final CharSequence text;
  private final long[] left;

  /**
   * @param left remaining reads, shared by all parts of the text
   */
  private StepLimitedText(CharSequence text, long[] left) {
    this.text = text;
    this.left = left;
  }

  /**
   * @param looks maximum number of character reads
   */
  public StepLimitedText(CharSequence text, long looks) {
    this(text, new long[] {looks});
  }

  /** The number of remaining reads. */
  public long left() {
    return Math.max(0, left[0]);
  }

  @Override
  public char charAt(int index) {
    if (--left[0] < 0) {
      throw new TooManySteps();
    }
    return text.charAt(index);
  }

  @Override
  public int length() {
    return text.length();
  }

  @Override
  public CharSequence subSequence(int start, int end) {
    return new StepLimitedText(text.subSequence(start, end), left);
  }

  @Override
  public String toString() {
    return text.toString();
  }

  /** Thrown when the limit was reached. */
  public static final class TooManySteps extends RuntimeException {
    private static final long serialVersionUID = 1L;

    TooManySteps() {
      super("too many steps", null, false, false);
    }
  }
}
