package io.espalier.core.scheduling.capacity;

import io.espalier.core.config.Config;
import io.espalier.core.config.FilterSteps;
import io.espalier.core.config.NodeLimitRule;
import io.espalier.core.config.NodeSourceSpec;
import io.espalier.core.config.Resource;
import io.espalier.core.config.Settings;
import io.espalier.core.json.Json;
import io.espalier.core.json.Position;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Problems;
import io.espalier.core.topology.Topology;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.IntSummaryStatistics;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The configured limits of all nodes, before overrides by operators: the limit of the level, or the
 * result of {@code node_resources_override}. Immutable. It is computed outside the scheduler
 * thread, in one pass over the nodes of a level per rule, and stores one int per node for each
 * resource with limits of single nodes.
 *
 * <p>A node with several parents has a tag when any of its edges has it; an attribute comes from
 * the first edge that has it.
 */
public final class ConfiguredLimits {
  /** Marks a node without a limit of its own. */
  static final int OF_LEVEL = -1;

  /** The number of digits of the largest number of slots. */
  private static final int DIGITS = 10;

  /** The maximum number of nodes that are named per rule; the others are counted. */
  private static final int PROBLEMS_NAMED = 5;

  private final int[] ofLevel;
  private final int[] @Nullable [] ofNodes;
  private final int[] first;
  private final int[] largest;
  private final int[] smallest;
  private final List<Problem> problems;

  private ConfiguredLimits(
      int[] ofLevel,
      int[] @Nullable [] ofNodes,
      int[] first,
      int[] largest,
      int[] smallest,
      List<Problem> problems) {
    this.ofLevel = ofLevel;
    this.ofNodes = ofNodes;
    this.first = first;
    this.largest = largest;
    this.smallest = smallest;
    this.problems = List.copyOf(problems);
  }

  /**
   * Computes the limits of all nodes, in one pass over the nodes of its level per rule.
   *
   * @param topology the nodes, with the same levels as the configuration
   */
  public static ConfiguredLimits of(Config config, Topology topology) {
    return new Rules(config.settings(), topology).evaluate();
  }

  /** Returns the limits of another configuration with the same nodes; equal arrays are shared. */
  public ConfiguredLimits next(Config old, Config config, Topology topology) {
    Settings before = old.settings();
    Settings after = config.settings();
    if (before.resources().equals(after.resources())
        && before.rules().nodeLimits().equals(after.rules().nodeLimits())) {
      return this;
    }
    ConfiguredLimits next = of(config, topology);
    for (int r = 0; r < next.ofNodes.length && r < ofNodes.length; r++) {
      if (Arrays.equals(ofNodes[r], next.ofNodes[r])) {
        next.ofNodes[r] = ofNodes[r];
      }
    }
    return next;
  }

  /** Returns the limit of a resource on all nodes of its level without their own. */
  public int ofLevel(int resource) {
    return ofLevel[resource];
  }

  /**
   * Returns, by the number of a node in its level, its own limit or {@link #OF_LEVEL}; null: no
   * node has one. Must not be modified.
   */
  public int @Nullable [] ofNodes(int resource) {
    return ofNodes[resource];
  }

  /** Returns the configured limit of a node of the resource's level. */
  public int of(int node, int resource) {
    int[] own = ofNodes[resource];
    int limit = own == null ? OF_LEVEL : own[node - first[resource]];
    return limit == OF_LEVEL ? ofLevel[resource] : limit;
  }

  /** Returns whether a node has a limit of its own. */
  public boolean isOwn(int node, int resource) {
    int[] own = ofNodes[resource];
    return own != null && own[node - first[resource]] != OF_LEVEL;
  }

  /** Returns whether all nodes have the same limit of a resource in both. */
  public boolean isSame(ConfiguredLimits other, int resource) {
    return ofLevel[resource] == other.ofLevel[resource]
        && Arrays.equals(ofNodes[resource], other.ofNodes[resource]);
  }

  /** Returns the largest limit of any node; -1: there are no nodes. */
  public int largest(int resource) {
    return largest[resource];
  }

  /** Returns the smallest limit of any node; -1: there are no nodes. */
  public int smallest(int resource) {
    return smallest[resource];
  }

  /** Returns the problems with attributes that should be limits. */
  public List<Problem> problems() {
    return problems;
  }

  public long byteSize() {
    long bytes = 0;
    for (int[] own : ofNodes) {
      bytes += own == null ? 0 : 4L * own.length;
    }
    return bytes;
  }

  /** Evaluates the rules in order; the last matching rule wins. */
  private static final class Rules {
    private final Settings settings;
    private final Topology topology;
    private final int[] @Nullable [] ofNodes;
    private final List<Problem> problems = new ArrayList<>();

    Rules(Settings settings, Topology topology) {
      this.settings = settings;
      this.topology = topology;
      ofNodes = new int[settings.resources().count()][];
    }

    ConfiguredLimits evaluate() {
      for (NodeLimitRule rule : settings.rules().nodeLimits()) {
        if (rule.level() < topology.levels().worker()) {
          evaluate(rule);
        }
      }
      int count = ofNodes.length;
      int[] ofLevel = new int[count];
      int[] first = new int[count];
      int[] largest = new int[count];
      int[] smallest = new int[count];
      for (Resource resource : settings.resources().all()) {
        int r = resource.index();
        ofLevel[r] = resource.limit();
        first[r] = topology.levelStart(resource.level());
        IntSummaryStatistics limits = limits(resource).summaryStatistics();
        largest[r] = limits.getCount() == 0 ? -1 : limits.getMax();
        smallest[r] = limits.getCount() == 0 ? -1 : limits.getMin();
      }
      return new ConfiguredLimits(ofLevel, ofNodes, first, largest, smallest, problems);
    }

    /** The limits of all nodes, or that of the level once where none has its own. */
    private IntStream limits(Resource resource) {
      int[] own = ofNodes[resource.index()];
      if (own == null) {
        boolean any = topology.levelEnd(resource.level()) > topology.levelStart(resource.level());
        return any ? IntStream.of(resource.limit()) : IntStream.empty();
      }
      return Arrays.stream(own).map(limit -> limit == OF_LEVEL ? resource.limit() : limit);
    }

    private void evaluate(NodeLimitRule rule) {
      int level = rule.level();
      switch (rule.kind()) {
        case NAME -> {
          int node = topology.find(level, rule.pattern());
          if (node >= 0) {
            put(rule, node);
          }
        }
        case ATTRIBUTE -> attributes(rule);
        case REGEX -> {
          if (rule.regex() != null) {
            search(rule, rule.regex());
          }
        }
        case TAG, VALUE -> {
          for (int node = topology.levelStart(level); node < topology.levelEnd(level); node++) {
            if (matches(rule, node)) {
              put(rule, node);
            }
          }
        }
      }
    }

    private void search(NodeLimitRule rule, Pattern regex) {
      int level = rule.level();
      int end = topology.levelEnd(level);
      FilterSteps steps = new FilterSteps(end - topology.levelStart(level));
      for (int node = topology.levelStart(level); node < end; node++) {
        if (steps.finds(regex, topology.name(node))) {
          put(rule, node);
        } else if (steps.isOver()) {
          lower(rule, node);
        }
      }
      if (steps.isOver()) {
        problems.add(
            steps.problem(
                rule.path(), "no node on which it was not looked for has more than it says"));
      }
    }

    /**
     * Applies the lower of both limits to a node, because it is unknown whether the rule matches.
     */
    private void lower(NodeLimitRule rule, int node) {
      rule.limits()
          .forEach(
              (name, most) -> {
                Resource resource = settings.resources().find(name);
                if (resource != null && resource.level() == rule.level()) {
                  int[] own = ofNodes[resource.index()];
                  int is = own == null ? OF_LEVEL : own[node - topology.levelStart(rule.level())];
                  put(
                      name,
                      rule.level(),
                      node,
                      Math.min(most, is == OF_LEVEL ? resource.limit() : is));
                }
              });
    }

    private boolean matches(NodeLimitRule rule, int node) {
      return switch (rule.kind()) {
        case TAG -> hasTag(node, rule.pattern());
        case VALUE -> {
          Json value = attribute(node, rule.pattern());
          yield value != null && NodeLimitRule.text(value).equals(rule.value());
        }
        case NAME, REGEX, ATTRIBUTE -> false;
      };
    }

    private boolean hasTag(int node, String tag) {
      for (int i = 0; i < topology.slotCount(node); i++) {
        if (topology.tags(topology.slot(node, i)).contains(tag)) {
          return true;
        }
      }
      return false;
    }

    private @Nullable Json attribute(int node, String name) {
      for (int i = 0; i < topology.slotCount(node); i++) {
        Json value = topology.attributes(topology.slot(node, i)).get(name);
        if (value != null && !(value instanceof Json.Null)) {
          return value;
        }
      }
      return null;
    }

    private void put(NodeLimitRule rule, int node) {
      for (Map.Entry<String, Integer> limit : rule.limits().entrySet()) {
        put(limit.getKey(), rule.level(), node, limit.getValue());
      }
    }

    private void put(String name, int level, int node, int limit) {
      Resource resource = settings.resources().find(name);
      if (resource == null || resource.level() != level) {
        return;
      }
      int[] own = ofNodes[resource.index()];
      if (own == null) {
        own = new int[topology.levelEnd(level) - topology.levelStart(level)];
        Arrays.fill(own, OF_LEVEL);
        ofNodes[resource.index()] = own;
      }
      own[node - topology.levelStart(level)] = limit;
    }

    /** Takes the limit from an attribute, for all resources (exactly one) that the rule names. */
    private void attributes(NodeLimitRule rule) {
      int level = rule.level();
      long bad = 0;
      for (int node = topology.levelStart(level); node < topology.levelEnd(level); node++) {
        Json value = attribute(node, rule.pattern());
        if (value == null) {
          continue;
        }
        int limit = slots(value);
        if (limit >= 0) {
          for (String resource : rule.limits().keySet()) {
            put(resource, level, node, limit);
          }
        } else if (bad++ < PROBLEMS_NAMED) {
          problems.add(problem(rule, node, value));
        }
      }
      if (bad > PROBLEMS_NAMED) {
        problems.add(
            Problem.warning(
                rule.path(), (bad - PROBLEMS_NAMED) + " more nodes have no usable limit there"));
      }
    }

    /**
     * Parses a whole number of slots, which databases and files may give as text; -1: not a valid
     * number.
     */
    private static int slots(Json value) {
      String text = "";
      if (value instanceof Json.Num number) {
        BigDecimal exact = number.value();
        if (exact.scale() == 0 && exact.precision() <= DIGITS) {
          return inRange(exact.longValue());
        }
        // 5.0 and 5e2 are whole numbers too; 1e400 must not be expanded.
        boolean whole = exact.signum() == 0 || exact.stripTrailingZeros().scale() <= 0;
        boolean small = exact.precision() - exact.scale() <= DIGITS;
        return whole && small ? inRange(exact.longValue()) : -1;
      }
      if (value instanceof Json.Str string) {
        text = string.value();
      }
      boolean isNumber =
          !text.isEmpty()
              && text.length() <= DIGITS
              && text.chars().allMatch(c -> c >= '0' && c <= '9');
      return isNumber ? inRange(Long.parseLong(text)) : -1;
    }

    private static int inRange(long slots) {
      return slots < 0 || slots > Integer.MAX_VALUE ? -1 : (int) slots;
    }

    private Problem problem(NodeLimitRule rule, int node, Json value) {
      List<NodeSourceSpec> sources = sources(rule.level());
      StringBuilder message = new StringBuilder("the attribute \"").append(rule.pattern());
      message.append("\" of ").append(topology.name(node)).append(" on level ");
      message.append(topology.levels().name(rule.level()));
      if (!sources.isEmpty()) {
        message.append(", from the source ");
        message.append(String.join(" or ", sources.stream().map(NodeSourceSpec::source).toList()));
      }
      message.append(
          String.format(
              Locale.ROOT, ", is no whole number from 0 to %d: the node keeps", Integer.MAX_VALUE));
      message.append(" the limit that it has without it");
      return Problems.at(
          Problem.Severity.WARNING,
          sources.size() == 1 ? sources.get(0).path() : rule.path(),
          Position.NONE,
          value,
          message.toString(),
          "correct it where the node source has it from");
    }

    /** Returns the node sources that may have delivered the nodes of a level. */
    private List<NodeSourceSpec> sources(int level) {
      String above = level == 0 ? "" : topology.levels().name(level - 1);
      List<NodeSourceSpec> found = new ArrayList<>();
      for (NodeSourceSpec source : settings.nodeSources()) {
        Json parent = source.prefs().get("parent_level");
        if (parent == null || (parent instanceof Json.Str name && name.value().equals(above))) {
          found.add(source);
        }
      }
      return found;
    }
  }
}
