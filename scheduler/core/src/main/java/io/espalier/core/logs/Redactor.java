package io.espalier.core.logs;

import io.espalier.core.text.StepLimitedText;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Redacts secrets in output before it is stored: every match of a pattern is replaced by {@code
 * [redacted]}. A pattern with a group named {@code secret} redacts only the text of that group.
 * Immutable.
 *
 * <p>Steps are bounded: a line on which a pattern takes too many is redacted entirely.
 */
public final class Redactor {
  /** The replacement for a secret. */
  public static final String MARK = "[redacted]";

  /** Redacts nothing. */
  public static final Redactor NONE = new Redactor(List.of());

  /** The replacement for a line that could not be searched. */
  static final String UNSEARCHED = "[line redacted: a pattern of \"redact\" is too slow for it]";

  private static final String KEYS =
      "(?:password|passwd|passphrase|pwd(?!=/)|secret|token(?!s)|api[_-]?key|access[_-]?key|private[_-]?key"
          + "|credentials?)[a-z0-9_-]{0,32}\\\\?[\"']?\\s{0,4}[=:]\\s{0,4}";

  /** Every text with a common secret has one of these words. */
  private static final LiteralSearch WORDS =
      new LiteralSearch(
          List.of(
              "passw",
              "passp",
              "pwd",
              "secret",
              "token",
              "key",
              "credential",
              "authorization",
              "bearer",
              "akia",
              "asia",
              "gh",
              "xox",
              "eyj",
              "://"));

  /** Common secrets: assignments of passwords and keys, bearer tokens, AWS keys, URLs. */
  private static final List<Rule> COMMON =
      List.of(
          new Rule(
              "(?i)" + KEYS + "\\\\?[\"'](?<secret>[^\"'\\\\\\r\\n]{1,8192})",
              List.of("passw", "passp", "pwd", "secret", "token", "key", "credential")),
          new Rule(
              // MySQL says "(using password: YES)" of a refused log-in: whether there was a
              // password.
              "(?i)" + KEYS + "(?!(?:yes|no)\\)(?:[\\s\"'\\\\&,;]|$))(?<secret>[^\\s\"'\\\\&,;]++)",
              List.of("passw", "passp", "pwd", "secret", "token", "key", "credential")),
          new Rule(
              "(?i)authorization\\\\?[\"']?\\s{0,4}[:=]\\s{0,4}\\\\?[\"']?(?:[a-z]{1,16}\\s{1,4})?"
                  + "(?<secret>[^\\s\"'\\\\]++)",
              List.of("authorization")),
          new Rule("(?i)\\bbearer\\s{1,4}(?<secret>[a-z0-9+/._~=-]{8,})", List.of("bearer")),
          new Rule("\\b(?:AKIA|ASIA)[A-Z0-9]{16}\\b", List.of("akia", "asia")),
          new Rule(
              "\\b(?:gh[pousr]_[A-Za-z0-9]{36,}|xox[abprs]-[A-Za-z0-9-]{10,})",
              List.of("gh", "xox")),
          new Rule(
              "\\beyJ[A-Za-z0-9_-]{8,}\\.eyJ[A-Za-z0-9_-]{8,}\\.[A-Za-z0-9_-]*", List.of("eyj")),
          new Rule("://[^\\s/:@]{0,256}:(?<secret>[^\\s/@]{1,256})@", List.of("://")));

  /** The name of the {@link #COMMON} patterns in lists of patterns. */
  public static final String COMMON_SECRETS = "(?#common secrets)";

  private static final long STEPS_PER_RULE = 4_000_000;

  private final List<Rule> rules;

  /** Whether there are rules that need certain words. */
  private final boolean hasWords;

  private Redactor(List<Rule> rules) {
    this.rules = rules;
    this.hasWords = rules.stream().anyMatch(rule -> rule.words != 0);
  }

  /**
   * Creates a redactor for some patterns.
   *
   * @param patterns valid regular expressions; {@link #COMMON_SECRETS} stands for a predefined set
   */
  public static Redactor of(List<String> patterns) {
    if (patterns.isEmpty()) {
      return NONE;
    }
    List<Rule> rules = new ArrayList<>();
    for (String pattern : patterns) {
      if (pattern.equals(COMMON_SECRETS)) {
        rules.addAll(COMMON);
      } else {
        rules.add(new Rule(pattern, List.of()));
      }
    }
    return new Redactor(List.copyOf(rules));
  }

  /** Returns true when it never redacts anything. */
  public boolean isNone() {
    return rules.isEmpty();
  }

  /** The text with secrets replaced; its line end is preserved. */
  public String redact(String text) {
    if (rules.isEmpty()) {
      return text;
    }
    List<Range> ranges = find(text);
    return ranges.isEmpty() ? text : written(text, ranges, 0, text.length());
  }

  /** A redactor for lines that arrive in pieces. */
  public StreamingRedactor pieces() {
    return new StreamingRedactor(this);
  }

  /**
   * The ranges to redact, in order, without overlaps; a single range over the whole line, without
   * its end, when the search takes too many steps.
   */
  List<Range> find(String text) {
    List<Range> found = new ArrayList<>();
    long words = hasWords ? WORDS.find(text) : 0;
    for (Rule rule : rules) {
      if (rule.words != 0 && (rule.words & words) == 0) {
        continue;
      }
      try {
        rule.find(new StepLimitedText(text, STEPS_PER_RULE), found);
      } catch (StepLimitedText.TooManySteps | StackOverflowError e) {
        int end = text.endsWith("\n") ? text.length() - 1 : text.length();
        return List.of(new Range(0, 0, end, UNSEARCHED));
      }
    }
    if (found.size() < 2) {
      return found;
    }
    found.sort(Comparator.comparingInt(Range::start));
    List<Range> merged = new ArrayList<>();
    Range last = found.get(0);
    for (Range range : found.subList(1, found.size())) {
      if (range.start() <= last.end()) {
        last =
            new Range(
                Math.min(last.matchStart(), range.matchStart()),
                last.start(),
                Math.max(last.end(), range.end()),
                MARK);
      } else {
        merged.add(last);
        last = range;
      }
    }
    merged.add(last);
    return merged;
  }

  /**
   * A part of a text with its ranges replaced; the mark of a range that begins before the part has
   * already been written.
   */
  static String written(String text, List<Range> ranges, int from, int to) {
    StringBuilder out = new StringBuilder();
    int at = from;
    for (Range range : ranges) {
      if (range.end() <= at && range.start() < from) {
        continue;
      }
      if (range.start() >= to) {
        break;
      }
      if (range.start() >= from) {
        out.append(text, at, range.start()).append(range.mark());
      }
      at = Math.max(at, Math.min(to, range.end()));
    }
    return out.append(text, at, to).toString();
  }

  /**
   * A range to redact.
   *
   * @param matchStart start of the match to which it belongs
   */
  record Range(int matchStart, int start, int end, String mark) {}

  private static final class Rule {
    private final Pattern pattern;
    private final boolean hasSecret;

    /** Every text with a match has one of these {@link #WORDS}; 0: it may have none. */
    private final long words;

    Rule(String regex, List<String> words) {
      this.pattern = Pattern.compile(regex);
      this.hasSecret = regex.contains("(?<secret>");
      this.words = words.stream().mapToLong(WORDS::bit).reduce(0, (a, b) -> a | b);
    }

    void find(CharSequence text, List<Range> found) {
      Matcher matcher = pattern.matcher(text);
      while (matcher.find()) {
        boolean inGroup = hasSecret && matcher.start("secret") >= 0;
        int start = inGroup ? matcher.start("secret") : matcher.start();
        int end = inGroup ? matcher.end("secret") : matcher.end();
        if (end > start) {
          found.add(new Range(matcher.start(), start, end, MARK));
        }
      }
    }
  }
}
