package io.espalier.core.config.read;

import io.espalier.core.config.TaskVariables;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;

/** Parses {@code pass_environment} and {@code environment} of {@code task_subprocess}. */
final class TaskVariablesParser {
  private static final Pattern NAME = Pattern.compile("[A-Za-z][A-Za-z0-9_]*");
  private static final Pattern NAMES = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*\\*?|\\*");
  // The kernel accepts at most 128 KiB for one variable.
  private static final int LONGEST_VALUE = 32_768;
  private static final String RESERVED =
      "names that begin with \"" + TaskVariables.RESERVED + "\" are Espalier's own";

  private TaskVariablesParser() {}

  /**
   * Parses the variables. A list of names replaces the inherited one; values are inherited name by
   * name.
   */
  static TaskVariables read(ConfigObject in, TaskVariables inherited) {
    return new TaskVariables(passed(in, inherited.passed()), set(in, inherited.set()));
  }

  private static List<String> passed(ConfigObject in, List<String> inherited) {
    ConfigValue value = in.find("pass_environment");
    List<ConfigValue> items = value == null ? null : value.items();
    if (items == null) {
      return inherited;
    }
    List<String> names = new ArrayList<>();
    for (ConfigValue item : items) {
      String name = item.text();
      if (name == null) {
        continue;
      }
      if (!NAMES.matcher(name).matches()) {
        item.error(
            "expected the name of a variable: letters, digits and \"_\", at its end perhaps \"*\"",
            null);
      } else if (name.startsWith(TaskVariables.RESERVED)) {
        item.error(RESERVED, "tasks get ESPALIER_TASK_* by themselves");
      } else {
        names.add(name);
      }
    }
    return names;
  }

  private static Map<String, String> set(ConfigObject in, Map<String, String> inherited) {
    ConfigValue value = in.find("environment");
    Map<String, ConfigValue> members = value == null ? null : value.members();
    if (members == null) {
      return inherited;
    }
    Map<String, String> variables = new TreeMap<>(inherited);
    members.forEach(
        (name, member) -> {
          String text = member.text();
          if (!NAME.matcher(name).matches()) {
            member.error(
                "the name of a variable is a letter, then letters, digits and \"_\"", null);
          } else if (name.startsWith(TaskVariables.RESERVED)) {
            member.error(RESERVED, null);
          } else if (text != null && text.indexOf('\0') >= 0) {
            member.error("a variable must not hold the character U+0000", null);
          } else if (text != null && text.length() > LONGEST_VALUE) {
            member.error("longer than " + LONGEST_VALUE + " characters", null);
          } else if (text != null) {
            variables.put(name, text);
          }
        });
    return variables;
  }
}
