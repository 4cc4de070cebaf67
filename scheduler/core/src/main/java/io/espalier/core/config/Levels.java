package io.espalier.core.config;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The ordered levels of the node tree. Level 0 is always {@code instance}; the levels of the
 * configuration follow; {@code worker} is always last and has no nodes
 * (docs/design/bistro.md#levels-and-nodes).
 */
public final class Levels {
  public static final String INSTANCE = "instance";
  public static final String WORKER = "worker";

  private final List<String> names;
  private final Map<String, Integer> indexes = new HashMap<>();

  private Levels(List<String> names) {
    this.names = List.copyOf(names);
    for (int i = 0; i < names.size(); i++) {
      indexes.put(names.get(i), i);
    }
  }

  /**
   * Creates the levels from the configured ones.
   *
   * @param configured configured levels, top first, distinct, none called {@code instance} or
   *     {@code worker}
   * @throws IllegalArgumentException when they violate this
   */
  public static Levels of(List<String> configured) {
    List<String> all = new ArrayList<>();
    all.add(INSTANCE);
    all.addAll(configured);
    all.add(WORKER);
    if (all.stream().distinct().count() != all.size()) {
      throw new IllegalArgumentException("levels are not distinct: " + configured);
    }
    return new Levels(all);
  }

  /** All names, {@code instance} first, {@code worker} last. */
  public List<String> names() {
    return names;
  }

  /** The configured levels, top first. */
  public List<String> configured() {
    return names.subList(1, names.size() - 1);
  }

  public int count() {
    return names.size();
  }

  public String name(int level) {
    return names.get(level);
  }

  /** The index of a level, or -1. */
  public int find(String name) {
    return indexes.getOrDefault(name, -1);
  }

  /** The index of the worker level. */
  public int worker() {
    return names.size() - 1;
  }

  /** The lowest level that can have nodes: the last configured one, or the instance. */
  public int bottom() {
    return names.size() - 2;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Levels l && names.equals(l.names);
  }

  @Override
  public int hashCode() {
    return names.hashCode();
  }

  @Override
  public String toString() {
    return names.toString();
  }
}
