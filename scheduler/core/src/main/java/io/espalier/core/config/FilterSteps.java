package io.espalier.core.config;

import io.espalier.core.problem.Problem;
import io.espalier.core.text.StepLimitedText;
import java.util.regex.Pattern;

/**
 * Searches names for the regular expressions of one place in the configuration, with a bounded
 * number of steps: no pattern, however catastrophic, takes long. Once it was too slow for one name
 * it matches no other name, so its total cost is bounded whatever the number of names. Not
 * thread-safe.
 */
public final class FilterSteps {
  /** Some milliseconds. An alternation of a thousand host names takes less, even unanchored. */
  static final long PER_NAME = 100_000;

  /** With few names all may be slow; with many only the average counts. */
  private static final long FIRST = 1_000_000_000;

  private static final long MORE_PER_NAME = 10_000;

  private long left;
  private int longest;

  /**
   * Creates a step budget.
   *
   * @param names approximate number of names to search
   */
  public FilterSteps(long names) {
    left = FIRST + MORE_PER_NAME * names;
  }

  /** Returns true when it was too slow, and is therefore no longer evaluated. */
  public boolean isOver() {
    return left < 0;
  }

  /**
   * Returns true when the pattern is found anywhere in the name; false also when it is or was too
   * slow.
   */
  public boolean finds(Pattern pattern, String name) {
    if (left < 0) {
      return false;
    }
    long most = Math.min(left, PER_NAME);
    StepLimitedText bounded = new StepLimitedText(name, most);
    try {
      boolean found = pattern.matcher(bounded).find();
      left -= most - bounded.left();
      return found;
    } catch (StepLimitedText.TooManySteps | StackOverflowError e) {
      left = -1;
      longest = name.length();
      return false;
    }
  }

  /**
   * The problem to report when it was too slow.
   *
   * @param path path in the configuration
   * @param consequence its effect, as the end of a sentence
   */
  public Problem problem(String path, String consequence) {
    return Problem.error(
            path,
            "a regular expression takes too many steps on a name of "
                + longest
                + " characters, so "
                + consequence)
        .withHint("write it without repetitions that can match the same text in many ways");
  }
}
