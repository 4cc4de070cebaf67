package io.espalier.testkit.scheduling;

import io.espalier.core.config.Config;
import io.espalier.core.config.Levels;
import io.espalier.core.config.NodeLimitRule;
import io.espalier.core.config.Resource;
import io.espalier.core.json.Json;
import io.espalier.core.running.WorkerInfo;
import io.espalier.core.topology.Topology;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

/** Configured limits of individual nodes: generated at random, and looked up one by one. */
final class OracleLimits {
  private static final List<Json> VALUES =
      List.of(
          Json.of(0),
          Json.of(2),
          Json.of(4),
          Json.of("1"),
          Json.of("5"),
          Json.of(-1),
          Json.of("many"),
          Json.of("99999999999"),
          Json.Null.NULL);

  private OracleLimits() {}

  // ---- expected values

  /** Returns the configured limit of a resource on a node. */
  static int of(Config config, Topology topology, String nodeName, Resource resource) {
    int node = topology.find(resource.level(), nodeName);
    int limit = resource.limit();
    for (NodeLimitRule rule : config.settings().rules().nodeLimits()) {
      Integer said = rule.limits().get(resource.name());
      if (rule.level() != resource.level() || said == null || node < 0) {
        continue;
      }
      Set<String> tags = new TreeSet<>();
      List<Json> values = new ArrayList<>();
      for (int i = 0; i < topology.slotCount(node); i++) {
        int slot = topology.slot(node, i);
        tags.addAll(topology.tags(slot));
        Json value = topology.attributes(slot).get(rule.pattern());
        if (value != null && !(value instanceof Json.Null)) {
          values.add(value);
        }
      }
      String text = values.isEmpty() ? "" : values.get(0).toString().replace("\"", "");
      boolean matches =
          switch (rule.kind()) {
            case NAME -> rule.pattern().equals(nodeName);
            case TAG -> tags.contains(rule.pattern());
            case REGEX -> Pattern.compile(rule.pattern()).matcher(nodeName).find();
            case VALUE -> !values.isEmpty() && text.equals(rule.value());
            case ATTRIBUTE -> text.matches("[0-9]");
          };
      if (matches) {
        limit = rule.kind() == NodeLimitRule.Kind.ATTRIBUTE ? Integer.parseInt(text) : said;
      }
    }
    return limit;
  }

  /** Returns the limit of a worker; {@code before} includes all other configuration. */
  static int of(Config config, WorkerInfo worker, Resource resource, int before) {
    int limit = before;
    for (NodeLimitRule rule : config.settings().rules().nodeLimits()) {
      List<String> names = List.of(worker.ref().shard(), worker.host());
      boolean named = names.contains(rule.pattern()) || rule.pattern().equals(worker.address());
      boolean matches =
          rule.kind() == NodeLimitRule.Kind.NAME
              ? named
              : names.stream().anyMatch(n -> Pattern.compile(rule.pattern()).matcher(n).find());
      if (rule.level() == resource.level() && matches) {
        limit = rule.limits().getOrDefault(resource.name(), limit);
      }
    }
    return limit;
  }

  // ---- random

  /** Returns the attributes that a node source delivers for a node. */
  static Json.Obj attributes(Random random) {
    Json.Builder all = Json.object();
    if (random.nextInt(3) == 0) {
      all.put("slots", VALUES.get(random.nextInt(VALUES.size())));
    }
    if (random.nextInt(3) == 0) {
      all.put("kind", random.nextBoolean() ? Json.of("ssd") : Json.of(7));
    }
    return all.build();
  }

  /** Returns few or no rules, in random order. */
  static List<NodeLimitRule> rules(Random random, Levels levels) {
    List<NodeLimitRule> rules = new ArrayList<>();
    while (random.nextInt(3) > 0 && rules.size() < 5) {
      int level = random.nextInt(levels.count());
      String resource = levels.name(level) + (1 + random.nextInt(2));
      Map<String, Integer> limits = Map.of(resource, random.nextInt(6));
      int kind = random.nextInt(5);
      if (level == levels.worker()) {
        kind = random.nextInt(2);
      }
      rules.add(
          switch (kind) {
            case 0 -> NodeLimitRule.ofName(level, name(random, level, levels), limits);
            case 1 -> NodeLimitRule.ofRegex(level, Pattern.compile(pattern(random)), limits);
            case 2 -> NodeLimitRule.ofTag(level, random.nextBoolean() ? "red" : "blue", limits);
            case 3 ->
                NodeLimitRule.ofValue(level, "kind", random.nextBoolean() ? "ssd" : "7", limits);
            default -> NodeLimitRule.ofAttribute(level, "slots", resource);
          });
    }
    return rules;
  }

  private static String name(Random random, int level, Levels levels) {
    if (level == levels.worker()) {
      return "w" + random.nextInt(4);
    }
    return level == 0 ? TreeFixture.INSTANCE : "n" + level + "_" + random.nextInt(6);
  }

  private static String pattern(Random random) {
    return List.of("[02468]$", "^n", "^same", "1", "w").get(random.nextInt(5));
  }
}
