package io.espalier.testkit.scheduling;

import io.espalier.core.config.Config;
import io.espalier.core.config.GroupRule;
import io.espalier.core.config.Levels;
import io.espalier.core.config.NodeLimitRule;
import io.espalier.core.config.StartRate;
import io.espalier.core.json.Json;
import io.espalier.core.topology.NodeSpec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.regex.Pattern;

/** Generates random rules of limits, start rates, groups and roles, and what they read of nodes. */
final class RandomRules {
  private static final double[] RATES = {0.25, 0.5, 1, 2, 5};
  private static final String[] ROLES = {"primary", "replica", "witness"};
  private static final List<String> SUFFIXES = List.of("1", "2");
  private static final List<String> GROUPED_BY =
      List.of(
          "attribute:set",
          "attribute:set",
          "attribute:set",
          "attribute:odd",
          "attribute:none",
          "tag:red",
          "tag:*",
          "tag:b*");

  private static final List<Json> SLOTS =
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

  private RandomRules() {}

  /** Gives a job random limits. */
  static void limitStarts(JobFixture job, Random random) {
    if (random.nextInt(100) < 20) {
      job.maxConcurrent(1 + random.nextInt(4));
    }
    if (random.nextInt(100) < 15) {
      job.startRate(startRate(random));
    }
  }

  /** Returns rates by level name, mostly none. */
  static Map<String, StartRate> startRates(List<String> levels, Random random) {
    Map<String, StartRate> rates = new HashMap<>();
    for (String level : levels) {
      if (random.nextInt(100) < 12) {
        rates.put(level, startRate(random));
      }
    }
    return rates;
  }

  private static StartRate startRate(Random random) {
    return new StartRate(RATES[random.nextInt(RATES.length)], 1 + random.nextInt(4));
  }

  /** Returns attributes of a node by which nodes are grouped. */
  static Json.Obj groupAttributes(Random random) {
    Json.Builder all = Json.object();
    if (random.nextInt(5) > 0) {
      all.put("set", "s" + random.nextInt(2));
    }
    if (random.nextInt(3) == 0) {
      all.put("odd", List.of(Json.of(7), Json.Null.NULL, Json.of("7")).get(random.nextInt(3)));
    }
    return all.build();
  }

  /** Returns some kinds of groups on some levels. */
  static List<GroupRule> groups(Random random, Levels levels) {
    List<GroupRule> rules = new ArrayList<>();
    for (int i = 1 + random.nextInt(3); i > 0; i--) {
      int level = Math.min(levels.bottom(), random.nextInt(levels.bottom() + 3));
      String by = GROUPED_BY.get(random.nextInt(GROUPED_BY.size()));
      boolean fixed = random.nextBoolean();
      rules.add(
          new GroupRule(
              levels.name(level) + i,
              level,
              by,
              fixed ? 1 + random.nextInt(2) : 0,
              fixed ? 0 : 0.1 + 0.3 * random.nextInt(3)));
    }
    return rules;
  }

  /** Returns attributes of a node that limits are taken from. */
  static Json.Obj limitAttributes(Random random) {
    Json.Builder all = Json.object();
    if (random.nextInt(3) == 0) {
      all.put("slots", SLOTS.get(random.nextInt(SLOTS.size())));
    }
    if (random.nextInt(3) == 0) {
      all.put("kind", random.nextBoolean() ? Json.of("ssd") : Json.of(7));
    }
    return all.build();
  }

  /** Returns few or no limits of individual nodes, in random order. */
  static List<NodeLimitRule> nodeLimits(Random random, Levels levels) {
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

  /** Returns random resources for which tasks are killed, each with its delay. */
  static Map<String, Duration> killOverLimit(Random random, List<String> levels) {
    Map<String, Duration> after = new HashMap<>();
    if (random.nextInt(3) > 0) {
      for (String level : levels) {
        for (String suffix : SUFFIXES) {
          if (random.nextInt(3) > 0) {
            after.put(level + suffix, Duration.ofMillis(500L * random.nextInt(9)));
          }
        }
      }
    }
    return after;
  }

  /** Returns the configuration's rules as a parser would leave them: only of existing resources. */
  static Map<String, Duration> existing(Config config, Map<String, Duration> any) {
    Map<String, Duration> after = new HashMap<>(any);
    after.keySet().removeIf(name -> config.settings().resources().find(name) == null);
    return after;
  }

  /** Gives a role to every third node. */
  static NodeSpec withRole(Random random, NodeSpec node) {
    return random.nextInt(3) == 0 ? node.withRole(ROLES[random.nextInt(ROLES.length)]) : node;
  }

  /** Lets every third job require a role, or one of two. */
  static JobFixture withRoles(Random random, JobFixture job) {
    return switch (random.nextInt(6)) {
      case 0 -> job.roles(ROLES[random.nextInt(ROLES.length)]);
      case 1 -> job.roles("primary", "replica");
      default -> job;
    };
  }
}
