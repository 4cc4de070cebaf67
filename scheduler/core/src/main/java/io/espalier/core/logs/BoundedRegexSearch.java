package io.espalier.core.logs;

import io.espalier.core.text.StepLimitedText;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import org.jspecify.annotations.Nullable;

/**
 * Searches lines for the regular expression of a query, with a bounded number of steps: no pattern,
 * however catastrophic, occupies a thread for long. For a single query; not thread-safe.
 */
public final class BoundedRegexSearch {
  /** The maximum number of steps per line: about 0.2 s. */
  static final long STEPS_PER_LINE = 20_000_000;

  private static final int LONGEST = 10_000;

  private final @Nullable Pattern pattern;
  private long steps;

  /**
   * @param regex regular expression; empty: every line matches
   * @throws LogQueryException when it is invalid
   */
  public BoundedRegexSearch(String regex) {
    this.pattern =
        compile(
            regex,
            complaint -> {
              throw new LogQueryException(complaint);
            });
  }

  static @Nullable Pattern compile(String regex, Consumer<String> complain) {
    if (regex.isEmpty()) {
      return null;
    }
    if (regex.length() > LONGEST) {
      complain.accept("the regular expression is longer than " + LONGEST + " characters");
      return null;
    }
    try {
      return Pattern.compile(regex);
    } catch (PatternSyntaxException e) {
      complain.accept(e.getDescription());
    } catch (StackOverflowError e) {
      complain.accept("it is nested too deeply");
    }
    return null;
  }

  /**
   * Returns true when the expression is found in the text.
   *
   * @throws LogQueryException when that takes too many steps on this line
   */
  public boolean isIn(String text) {
    if (pattern == null) {
      return true;
    }
    StepLimitedText bounded = new StepLimitedText(text, STEPS_PER_LINE);
    try {
      return pattern.matcher(bounded).find();
    } catch (StepLimitedText.TooManySteps | StackOverflowError e) {
      throw new LogQueryException(
          "the regular expression takes too many steps on a line of "
              + text.length()
              + " characters; one without nested repetitions will do");
    } finally {
      steps += STEPS_PER_LINE - bounded.left();
    }
  }

  /** The number of steps so far, for all lines. */
  public long steps() {
    return steps;
  }
}
