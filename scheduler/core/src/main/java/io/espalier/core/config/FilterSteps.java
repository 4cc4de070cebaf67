package io.espalier.core.config;

import io.espalier.core.problem.Problem;
import io.espalier.core.text.StepLimitedText;
import java.util.regex.Pattern;

/**
 * Looks for the regular expressions of one configured place in names, with counted steps: no
 * pattern, however catastrophic, takes long. Once it was too slow for one name it is found in none,
 * so that its cost is bounded whatever the number of names. Not thread-safe.
 */
public final class FilterSteps {
  /** Some milliseconds. An alternative of a thousand host names takes less, even unanchored. */
  static final long PER_NAME = 100_000;

  /** Few names may all be slow ones, many only on average. */
  private static final long FIRST = 1_000_000_000;

  private static final long MORE_PER_NAME = 10_000;

  private long left;
  private int longest;

  /**
   * @param names about how many names there are to look at
   */
  public FilterSteps(long names) {
    left = FIRST + MORE_PER_NAME * names;
  }

  /** Whether it was too slow, and so is no longer looked for. */
  public boolean isOver() {
    return left < 0;
  }

  /** Whether it is found anywhere in the name; false, too, when it is or was too slow. */
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
   * What to tell when it was too slow.
   *
   * @param path of the place in the configuration
   * @param consequence what becomes of it, as the end of a sentence
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
