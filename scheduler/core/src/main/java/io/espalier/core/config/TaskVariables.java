package io.espalier.core.config;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Environment variables of tasks besides those that every task gets.
 *
 * @param passed names of variables of the supervisor that are handed on; one that ends with {@code
 *     *} stands for all that begin like it. None of them begins with {@code ESPALIER_}
 * @param set variables with their values, which win over all that are handed on
 */
public record TaskVariables(List<String> passed, Map<String, String> set) {
  public static final TaskVariables NONE = new TaskVariables(List.of(), Map.of());

  /** What the variables that Espalier reads and writes itself begin with. */
  public static final String RESERVED = "ESPALIER_";

  public TaskVariables {
    passed = List.copyOf(passed);
    set = java.util.Collections.unmodifiableMap(new TreeMap<>(set));
  }

  /** Whether a variable of the supervisor is handed on; never one of Espalier's own. */
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
