package io.espalier.testkit;

/**
 * How much a test of random inputs does: little in each build, all of it with {@code -Plong}, which
 * sets the system property {@code espalier.long}. {@code CONTRIBUTING.md} lists the profiles.
 */
public final class TestSize {
  private static final boolean LONG = Boolean.getBoolean("espalier.long");

  private TestSize() {}

  /** Returns the first number, or the second one in the long profile. */
  public static int choose(int small, int large) {
    return LONG ? large : small;
  }
}
