package io.espalier.cli.flags;

import io.espalier.core.problem.Suggestions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Supplier;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

/**
 * Finds environment variables that look like those of Espalier and have no effect. Only a name that
 * is near to a known one is taken for a mistake: a cluster may set {@code ESPALIER_...} variables
 * of its own, after the names of its services.
 */
public final class MisspeltVariables {
  private static final String PREFIX = "ESPALIER_";

  /** Letters for each mistake that a name may have. */
  private static final int LETTERS_PER_MISTAKE = 4;

  /** Variables that are no flags; docs/environment.md lists them. */
  private static final Set<String> OTHERS =
      Set.of("ESPALIER_JAVA_OPTS", "ESPALIER_LOG_LEVEL", "ESPALIER_SERVER", "ESPALIER_CONTEXT");

  private MisspeltVariables() {}

  /**
   * Returns a warning for each such variable, by name.
   *
   * @param command the command line that runs, with the commands that it needs
   * @param all creates one with all commands; asked only about variables that the first one does
   *     not know, because it takes a while
   */
  public static List<String> warnings(
      Map<String, String> environment, CommandLine command, Supplier<CommandLine> all) {
    Map<String, String> set = new TreeMap<>(environment);
    set.keySet().removeIf(name -> !isOurs(name));
    // An empty variable counts as unset.
    set.values().removeIf(String::isEmpty);
    set.keySet().removeAll(variables(command));
    if (set.isEmpty()) {
      return List.of();
    }
    Set<String> known = variables(all.get());
    set.keySet().removeAll(known);
    List<String> warnings = new ArrayList<>();
    for (String name : set.keySet()) {
      int letters = name.length() - PREFIX.length();
      String near = Suggestions.closest(name, known, Math.max(1, letters / LETTERS_PER_MISTAKE));
      if (near != null) {
        warnings.add("the variable " + name + " has no effect; did you mean " + near + "?");
      }
    }
    return warnings;
  }

  /** Returns whether a name is not that of a variable of tasks, nor of a service in a cluster. */
  private static boolean isOurs(String name) {
    return name.startsWith(PREFIX)
        && !name.startsWith(PREFIX + "TASK_")
        && !name.contains("_SERVICE_")
        && !name.contains("_PORT");
  }

  private static Set<String> variables(CommandLine command) {
    Set<String> variables = new TreeSet<>(OTHERS);
    collect(command, variables);
    return variables;
  }

  private static void collect(CommandLine command, Set<String> to) {
    for (OptionSpec option : command.getCommandSpec().options()) {
      to.add(EnvironmentDefaults.variable(option.longestName()));
    }
    command.getSubcommands().values().forEach(each -> collect(each, to));
  }
}
