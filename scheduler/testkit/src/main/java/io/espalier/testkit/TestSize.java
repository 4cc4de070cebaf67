package io.espalier.testkit;

/**
 * How much a test of random inputs does: a little with {@code ./mvnw verify}, more with {@code
 * -Pslow}, as in CI, and all of it with {@code -Plong}. The build passes the size as the system
 * property {@code espalier.test.size}; without it, tests are quick. {@code CONTRIBUTING.md} lists
 * the profiles.
 */
public final class TestSize {
  private static final String SIZE = System.getProperty("espalier.test.size", "quick");

  private TestSize() {}

  /** Returns the number for the profile of this build. */
  public static int choose(int quick, int slow, int large) {
    return switch (SIZE) {
      case "quick" -> quick;
      case "slow" -> slow;
      case "long" -> large;
      default -> throw new IllegalStateException("unknown espalier.test.size " + SIZE);
    };
  }
}
