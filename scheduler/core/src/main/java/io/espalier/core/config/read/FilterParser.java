package io.espalier.core.config.read;

import io.espalier.core.config.JobFilter;
import io.espalier.core.config.Levels;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import org.jspecify.annotations.Nullable;

/** Parses {@code filters} of a job (docs/design/bistro.md#filters). */
final class FilterParser {
  private static final int LONGEST_REGEX = 10_000;

  private FilterParser() {}

  /** Filters by level; levels with a broken or trivial filter are omitted. */
  static Map<Integer, JobFilter> read(ConfigObject in, Levels levels) {
    ConfigValue value = in.find("filters");
    Map<String, ConfigValue> members = value == null ? null : value.members();
    if (members == null) {
      return Map.of();
    }
    Map<Integer, JobFilter> filters = new HashMap<>();
    members.forEach(
        (levelName, member) -> {
          int level = levels.find(levelName);
          if (level < 0) {
            ConfigValue.unknownLevel(member, levelName, levels);
            return;
          }
          int before = member.problems().errors();
          JobFilter filter = readOne(member);
          if (member.problems().errors() == before && !filter.isTrivial()) {
            filters.put(level, filter);
          }
        });
    return filters;
  }

  private static JobFilter readOne(ConfigValue value) {
    ConfigObject in = value.fields(ConfigSection.FILTER);
    if (in == null) {
      return JobFilter.ALL;
    }
    return new JobFilter(
        names(in, "whitelist"),
        regex(in, "whitelist_regex"),
        names(in, "blacklist"),
        regex(in, "blacklist_regex"),
        names(in, "tag_whitelist"),
        in.number("fraction_of_nodes", 1, 0, 1));
  }

  private static Set<String> names(ConfigObject in, String key) {
    return new LinkedHashSet<>(in.texts(key, List.of()));
  }

  private static @Nullable Pattern regex(ConfigObject in, String key) {
    ConfigValue value = in.find(key);
    String text = value == null ? null : value.text();
    return value == null || text == null || text.isEmpty() ? null : compiled(value, text);
  }

  /** A regular expression, or null when it is invalid. */
  static @Nullable Pattern compiled(ConfigValue value, String text) {
    if (text.length() > LONGEST_REGEX) {
      value.error("the regular expression is longer than " + LONGEST_REGEX + " characters", null);
      return null;
    }
    try {
      return Pattern.compile(text);
    } catch (PatternSyntaxException e) {
      String where = e.getIndex() < 0 ? "" : " at character " + (e.getIndex() + 1);
      value.error("not a regular expression: " + e.getDescription() + where, null);
      return null;
    } catch (StackOverflowError e) {
      value.error("the regular expression is nested too deeply", null);
      return null;
    }
  }
}
