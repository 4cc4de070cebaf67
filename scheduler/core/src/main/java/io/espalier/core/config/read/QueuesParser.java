package io.espalier.core.config.read;

import io.espalier.core.config.JobScheduling;
import io.espalier.core.config.LimitRules;
import io.espalier.core.config.QueueSpec;
import io.espalier.core.config.Resource;
import io.espalier.core.config.ResourceCatalog;
import io.espalier.core.problem.Suggestions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Parses {@code queues} and {@code priority_half_life_sec} of the settings, and {@code queue}. */
final class QueuesParser {
  /** The maximum number of queues, because each is a label of metrics. */
  private static final int MOST = 1000;

  private static final double LEAST_FACTOR = 1e-6;
  private static final double LARGEST_FACTOR = 1e6;
  private static final double SHORTEST_SECONDS = 0.001;
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_][A-Za-z0-9_.:-]{0,199}");

  private QueuesParser() {}

  static List<QueueSpec> read(ConfigObject in, ResourceCatalog resources) {
    ConfigValue value = in.find("queues");
    Map<String, ConfigValue> members = value == null ? null : value.members();
    if (value == null || members == null) {
      return List.of();
    }
    if (members.size() > MOST) {
      value.error("expected at most " + MOST + " queues, found " + members.size(), null);
      return List.of();
    }
    List<QueueSpec> queues = new ArrayList<>();
    members.forEach(
        (name, member) -> {
          QueueSpec queue = queue(name, member, resources);
          if (queue != null) {
            queues.add(queue);
          }
        });
    boolean weighted = queues.stream().anyMatch(queue -> queue.weight().isPresent());
    if (weighted) {
      members.values().forEach(QueuesParser::refuseFactor);
    }
    return queues;
  }

  /** Reports a priority factor beside a weight, because they are alternatives. */
  private static void refuseFactor(ConfigValue queue) {
    Map<String, ConfigValue> members = queue.members();
    ConfigValue factor = members == null ? null : members.get("priority_factor");
    if (factor != null) {
      factor.error(
          "\"priority_factor\" cannot stand beside \"weight\", here or in another queue",
          "give all queues weights, or all of them factors");
    }
  }

  private static @Nullable QueueSpec queue(
      String name, ConfigValue value, ResourceCatalog resources) {
    ConfigObject in = value.fields(ConfigSection.QUEUE);
    if (!NAME.matcher(name).matches()) {
      value.error(
          "the name of a queue must have 1 to 200 letters (a-z, A-Z), digits, and \"_-.:\","
              + " and start with a letter, a digit or \"_\"",
          null);
    }
    if (in == null) {
      return null;
    }
    return new QueueSpec(
        name,
        in.number("priority_factor", 1, LEAST_FACTOR, LARGEST_FACTOR),
        weight(in.find("weight")),
        amounts(in.find("max_slots"), resources, slots -> slots.int32(0)),
        amounts(in.find("max_fraction"), resources, part -> part.number(0, 1)));
  }

  private static OptionalDouble weight(@Nullable ConfigValue value) {
    Double weight = value == null ? null : value.number(LEAST_FACTOR, LARGEST_FACTOR);
    return weight == null ? OptionalDouble.empty() : OptionalDouble.of(weight);
  }

  private static <N> Map<Integer, N> amounts(
      @Nullable ConfigValue value,
      ResourceCatalog resources,
      Function<ConfigValue, @Nullable N> read) {
    Map<String, ConfigValue> members = value == null ? null : value.members();
    if (members == null) {
      return Map.of();
    }
    List<String> known = resources.all().stream().map(Resource::name).toList();
    Map<Integer, N> amounts = new LinkedHashMap<>();
    members.forEach(
        (name, member) -> {
          Resource resource = resources.find(name);
          N amount = read.apply(member);
          if (resource == null) {
            member.error("unknown resource \"" + name + "\"", Suggestions.hint(name, known));
          } else if (amount != null) {
            amounts.put(resource.index(), amount);
          }
        });
    return amounts;
  }

  static Duration readHalfLife(ConfigObject in) {
    double otherwise = LimitRules.NONE.priorityHalfLife().toSeconds();
    return ConfigValue.millis(
        in.number(
            "priority_half_life_sec", otherwise, SHORTEST_SECONDS, ConfigValue.LONGEST_SECONDS));
  }

  /** The queue of a job: one that is configured, or the default one. */
  static String readQueue(ConfigObject in, String inherited, List<QueueSpec> queues) {
    ConfigValue value = in.find("queue");
    String name = value == null ? null : value.text();
    if (value == null || name == null) {
      return inherited;
    }
    List<String> known = new ArrayList<>();
    queues.forEach(queue -> known.add(queue.name()));
    if (!known.contains(JobScheduling.DEFAULT_QUEUE)) {
      known.add(JobScheduling.DEFAULT_QUEUE);
    }
    if (!known.contains(name)) {
      value.error(
          "unknown queue",
          queues.isEmpty()
              ? "list it in \"queues\" of bistro_settings"
              : Suggestions.hint(name, known));
      return inherited;
    }
    return name;
  }
}
