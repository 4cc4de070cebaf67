package io.espalier.cli;

import com.tngtech.archunit.core.domain.JavaClass;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** Top-level classes that depend on each other in circles; nested ones count as part of theirs. */
final class ClassCycles {
  private ClassCycles() {}

  /** The names of the classes in the largest cycle; empty: there is none. */
  static Set<String> largest(Iterable<JavaClass> classes) {
    Map<String, Set<String>> uses = new HashMap<>();
    for (JavaClass each : classes) {
      Set<String> used = uses.computeIfAbsent(topLevel(each), name -> new HashSet<>());
      each.getDirectDependenciesFromSelf().stream()
          .map(dependency -> topLevel(dependency.getTargetClass()))
          .forEach(used::add);
    }
    Map<String, Set<String>> reached = new HashMap<>();
    uses.keySet().forEach(name -> reached.put(name, reachable(name, uses)));
    return uses.keySet().stream()
        .map(name -> cycle(name, reached))
        .max(Comparator.comparingInt(Set::size))
        .orElse(Set.of());
  }

  private static String topLevel(JavaClass given) {
    String name = given.getBaseComponentType().getName();
    int nested = name.indexOf('$');
    return nested < 0 ? name : name.substring(0, nested);
  }

  private static Set<String> reachable(String from, Map<String, Set<String>> uses) {
    Set<String> found = new HashSet<>();
    Deque<String> next = new ArrayDeque<>(Set.of(from));
    while (!next.isEmpty()) {
      for (String used : uses.getOrDefault(next.remove(), Set.of())) {
        if (uses.containsKey(used) && !used.equals(from) && found.add(used)) {
          next.add(used);
        }
      }
    }
    return found;
  }

  private static Set<String> cycle(String name, Map<String, Set<String>> reached) {
    Set<String> cycle = new TreeSet<>();
    for (String other : reached.getOrDefault(name, Set.of())) {
      if (reached.getOrDefault(other, Set.of()).contains(name)) {
        cycle.add(other);
      }
    }
    if (!cycle.isEmpty()) {
      cycle.add(name);
    }
    return cycle;
  }
}
