package io.espalier.benchmark;

import io.espalier.core.config.Levels;
import io.espalier.core.json.Json;
import io.espalier.core.topology.Topology;
import java.util.Objects;
import java.util.Set;

/**
 * Hosts with equally many databases each. Nothing of them is stored: parents, children and names
 * are computed from the numbers. For trees whose names would fill the heap; what remains is what
 * the core itself needs.
 *
 * @param levels the instance, hosts, databases
 */
record GeneratedTree(Levels levels, int hosts, int perHost) implements Topology {
  private static final int HOST = 1;
  private static final int DATABASE = 2;

  GeneratedTree {
    if (levels.bottom() != DATABASE) {
      throw new IllegalArgumentException("two levels are needed: " + levels);
    }
    Math.addExact(1 + hosts, Math.multiplyExact(hosts, perHost));
  }

  @Override
  public int size() {
    return 1 + hosts + hosts * perHost;
  }

  @Override
  public int slots() {
    return size();
  }

  @Override
  public boolean slotsAreNodes() {
    return true;
  }

  @Override
  public int levelStart(int level) {
    return switch (level) {
      case 0 -> 0;
      case HOST -> 1;
      case DATABASE -> 1 + hosts;
      default -> size();
    };
  }

  @Override
  public int levelEnd(int level) {
    return level >= DATABASE ? size() : levelStart(level + 1);
  }

  @Override
  public int level(int node) {
    Objects.checkIndex(node, size());
    return node == 0 ? 0 : node <= hosts ? HOST : DATABASE;
  }

  @Override
  public String name(int node) {
    return switch (level(node)) {
      case 0 -> "instance";
      case HOST -> "host" + (node - 1);
      default -> "db" + (node - 1 - hosts);
    };
  }

  @Override
  public int find(int level, String name) {
    String prefix = level == 0 ? "instance" : level == HOST ? "host" : "db";
    if (level > DATABASE || !name.startsWith(prefix)) {
      return -1;
    }
    if (level == 0) {
      return name.equals(prefix) ? 0 : -1;
    }
    try {
      int node = levelStart(level) + Integer.parseInt(name.substring(prefix.length()));
      return node < levelEnd(level) && name(node).equals(name) ? node : -1;
    } catch (NumberFormatException e) {
      return -1;
    }
  }

  @Override
  public int childStart(int node) {
    return node == 0 ? 1 : node <= hosts ? 1 + hosts + (node - 1) * perHost : size();
  }

  @Override
  public int childEnd(int node) {
    return node == 0 ? 1 + hosts : node <= hosts ? childStart(node) + perHost : size();
  }

  @Override
  public int node(int slot) {
    return slot;
  }

  @Override
  public int parent(int slot) {
    return slot == 0 ? -1 : slot <= hosts ? 0 : 1 + (slot - 1 - hosts) / perHost;
  }

  @Override
  public int slotCount(int node) {
    return 1;
  }

  @Override
  public int slot(int node, int i) {
    return node;
  }

  @Override
  public boolean enabled(int slot) {
    return true;
  }

  @Override
  public boolean allEnabled() {
    return true;
  }

  @Override
  public Set<String> tags(int slot) {
    return Set.of();
  }

  @Override
  public Json.Obj attributes(int slot) {
    return Json.Obj.EMPTY;
  }
}
