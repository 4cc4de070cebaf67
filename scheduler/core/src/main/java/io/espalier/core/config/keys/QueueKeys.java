package io.espalier.core.config.keys;

import static io.espalier.core.config.schema.ValueType.byResource;
import static io.espalier.core.config.schema.ValueType.int32;
import static io.espalier.core.config.schema.ValueType.membersSchema;
import static io.espalier.core.config.schema.ValueType.number;

import io.espalier.core.config.QueueSpec;
import io.espalier.core.config.schema.ConfigObject;
import io.espalier.core.config.schema.ConfigValue;
import io.espalier.core.config.schema.Key;
import io.espalier.core.config.schema.Section;
import io.espalier.core.config.schema.ValueType;
import io.espalier.core.config.window.Freeze;
import io.espalier.core.config.window.Window;
import io.espalier.core.json.Json;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The keys of queues. Each queue is a tenant. */
final class QueueKeys {
  /** The maximum number of queues, because each is a label of metrics. */
  private static final int MOST_QUEUES = 1000;

  private static final Pattern QUEUE_NAME = Pattern.compile("[A-Za-z0-9_][A-Za-z0-9_.:-]{0,199}");

  private QueueKeys() {}

  /** One queue in {@code queues}. */
  static final Section<QueueSpec> QUEUE =
      new Section<>(
          "queues",
          "A tenant: how much is due to it, and how much it may hold.",
          new QueueSpec("", 1, Map.of(), Map.of())) {
        private final Key<QueueSpec, Double> factor =
            key(
                    "priority_factor",
                    number(1e-6, 1e6).says("number from 0.000001 to 1000000"),
                    QueueSpec::priorityFactor,
                    "The older way: with the same history half of it doubles the share; under"
                        + " constant load factors 1 and 3 give [1.73 to"
                        + " 1](policies.md#priority-factors). An error beside a `weight`, of this"
                        + " queue or another.")
                .own();
        private final Key<QueueSpec, OptionalDouble> weight =
            own(
                "weight",
                ValueType.optionalDouble(number(1e-6, 1e6).says("number from 0.000001 to 1000000")),
                QueueSpec::weight,
                "For the policy [`fair_share`](policies.md#fair-shares): what queues use is shared"
                    + " out in proportion to their weights; 3 and 1 make it 3 to 1. `1` if another"
                    + " queue has one.");
        private final Key<QueueSpec, Map<Integer, Integer>> maxSlots =
            own(
                "max_slots",
                byIndex(int32(0), 0),
                QueueSpec::maxSlots,
                "`{RESOURCE: slots}` that the running tasks of the queue may hold in all, over all"
                    + " nodes; `0`: nothing of it starts that needs the resource.");
        private final Key<QueueSpec, Map<Integer, Double>> maxFraction =
            own(
                "max_fraction",
                byIndex(number(0, 1), 0.0),
                QueueSpec::maxFraction,
                "`{RESOURCE: part}`, 0 to 1: the same as a part of all slots there are, rounded"
                    + " down: of the limits in effect on all nodes of the level, or on all workers."
                    + " Of both the smaller counts.");
        private final Key<QueueSpec, List<Window>> windows =
            WindowKeys.windowsOf(this, QueueSpec::schedule, "of the queue");
        private final Key<QueueSpec, List<Freeze>> freezes =
            WindowKeys.freezesOf(this, QueueSpec::schedule, "of the queue");

        @Override
        public QueueSpec read(ConfigObject in, QueueSpec base) {
          return new QueueSpec(
              base.name(),
              in.get(factor, base),
              in.get(weight, base),
              in.get(maxSlots, base),
              in.get(maxFraction, base),
              WindowKeys.schedule(in, windows, freezes, base));
        }
      };

  private static <N> ValueType<Map<Integer, N>> byIndex(ValueType<N> amount, N none) {
    return byResource(amount, none, false)
        .as(
            amounts -> {
              Map<Integer, N> byIndex = new LinkedHashMap<>();
              amounts.forEach((resource, each) -> byIndex.put(resource.index(), each));
              return byIndex;
            },
            byIndex -> Map.of());
  }

  /** {@code queues}: all of them, in the order of the document. */
  static ValueType<List<QueueSpec>> queueList() {
    return ValueType.of(
        QueueKeys::readQueues,
        queues -> Json.Obj.EMPTY,
        "object",
        membersSchema(QUEUE.type().schema())
            .replaceFirst(
                ",",
                ", 'maxProperties': "
                    + MOST_QUEUES
                    + ", 'propertyNames': {'pattern': '^([A-Za-z0-9_][A-Za-z0-9_.:-]{0,199}\\$|_|//)'},"));
  }

  private static @Nullable List<QueueSpec> readQueues(ConfigValue value) {
    Map<String, ConfigValue> members = value.members();
    if (members == null) {
      return null;
    }
    if (members.size() > MOST_QUEUES) {
      value.error("expected at most " + MOST_QUEUES + " queues, found " + members.size(), null);
      return null;
    }
    List<QueueSpec> queues = new ArrayList<>();
    members.forEach(
        (name, member) -> {
          QueueSpec queue = QUEUE.read(member, new QueueSpec(name, 1, Map.of(), Map.of()));
          if (!QUEUE_NAME.matcher(name).matches()) {
            member.error(
                "the name of a queue must have 1 to 200 letters (a-z, A-Z), digits, and \"_-.:\","
                    + " and start with a letter, a digit or \"_\"",
                null);
          }
          if (queue != null) {
            queues.add(queue);
          }
        });
    if (queues.stream().anyMatch(queue -> queue.weight().isPresent())) {
      members.values().forEach(QueueKeys::refuseFactor);
    }
    return queues;
  }

  /** Reports a priority factor beside a weight, because they are alternatives. */
  private static void refuseFactor(ConfigValue queue) {
    if (queue.json() instanceof Json.Obj object && object.get("priority_factor") != null) {
      queue
          .member("priority_factor")
          .error(
              "\"priority_factor\" cannot stand beside \"weight\", here or in another queue",
              "give all queues weights, or all of them factors");
    }
  }
}
