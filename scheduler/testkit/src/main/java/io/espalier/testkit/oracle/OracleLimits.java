package io.espalier.testkit.oracle;

import io.espalier.core.config.Config;
import io.espalier.core.config.NodeLimitRule;
import io.espalier.core.config.Resource;
import io.espalier.core.json.Json;
import io.espalier.core.running.WorkerInfo;
import io.espalier.core.topology.Topology;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

/** Looks up the configured limits of individual nodes one by one. */
final class OracleLimits {
  private OracleLimits() {}

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
}
