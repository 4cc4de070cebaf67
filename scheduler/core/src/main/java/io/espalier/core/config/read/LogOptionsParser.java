package io.espalier.core.config.read;

import io.espalier.core.config.LogOptions;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.regex.Pattern;

/** Parses {@code log_retention} and {@code redact}. */
final class LogOptionsParser {
  private static final int LONGEST_DAYS = 36_500;
  private static final long MOST_MB = 1L << 40;
  private static final int MOST_PATTERNS = 100;

  private LogOptionsParser() {}

  /**
   * Adds patterns to the inherited ones: a job must not lose the patterns that protect the secrets
   * of all.
   */
  static LogOptions read(ConfigObject in, LogOptions inherited) {
    OptionalInt days = inherited.retentionDays();
    OptionalLong maxMb = inherited.maxMb();
    ConfigValue value = in.find("log_retention");
    ConfigObject fields = value == null ? null : value.fields(ConfigSection.LOG_RETENTION);
    if (fields != null) {
      days = fields.limit("days", days, 1, LONGEST_DAYS);
      maxMb = fields.limit("max_mb", maxMb, 1, MOST_MB);
    }
    return new LogOptions(days, maxMb, redact(in, inherited.redact()));
  }

  private static List<String> redact(ConfigObject in, List<String> inherited) {
    ConfigValue value = in.find("redact");
    List<ConfigValue> items = value == null ? null : value.items();
    if (value == null || items == null) {
      return inherited;
    }
    Set<String> patterns = new LinkedHashSet<>(inherited);
    for (ConfigValue item : items) {
      String text = item.text();
      Pattern pattern = text == null ? null : FilterParser.compiled(item, text);
      if (text != null && pattern != null && pattern.matcher("").find()) {
        item.error("the regular expression finds the empty text, so it would hide nothing", null);
      } else if (text != null && pattern != null) {
        patterns.add(text);
      }
    }
    if (patterns.size() > MOST_PATTERNS) {
      value.error("more than " + MOST_PATTERNS + " patterns slow down every line", null);
      return inherited;
    }
    return List.copyOf(patterns);
  }
}
