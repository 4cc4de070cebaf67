package io.espalier.core.config.task;

import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Environment variables of tasks, in addition to those that every task gets.
 *
 * @param passed names of the supervisor's variables that are passed on; a name that ends with
 *     {@code *} matches all with that prefix. None begins with {@code ESPALIER_}
 * @param set variables with their values, which override those passed on
 */
public record TaskVariables(List<String> passed, Map<String, String> set) {
  public static final TaskVariables NONE = new TaskVariables(List.of(), Map.of());

  /** The prefix of the variables that Espalier itself reads and writes. */
  public static final String RESERVED = "ESPALIER_";

  public TaskVariables {
    passed = List.copyOf(passed);
    set = Collections.unmodifiableMap(new TreeMap<>(set));
  }

  /** A copy with more variables. */
  public TaskVariables with(Map<String, String> more) {
    Map<String, String> all = new TreeMap<>(set);
    all.putAll(more);
    return new TaskVariables(passed, all);
  }

  /** Returns true when a variable of the supervisor is passed on; never true for Espalier's own. */
  public boolean passes(String name) {
    return !name.startsWith(RESERVED)
        && passed.stream()
            .anyMatch(
                pattern ->
                    pattern.endsWith("*")
                        ? name.startsWith(pattern.substring(0, pattern.length() - 1))
                        : name.equals(pattern));
  }
}
