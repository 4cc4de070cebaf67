package io.espalier.core.config.keys;

import static io.espalier.core.config.schema.ValueType.byResource;
import static io.espalier.core.config.schema.ValueType.int32;
import static io.espalier.core.config.schema.ValueType.membersSchema;
import static io.espalier.core.config.schema.ValueType.orFalse;
import static io.espalier.core.config.schema.ValueType.seconds;
import static io.espalier.core.config.schema.ValueType.texts;

import io.espalier.core.config.Levels;
import io.espalier.core.config.Resource;
import io.espalier.core.config.ResourceCatalog;
import io.espalier.core.config.schema.ConfigObject;
import io.espalier.core.config.schema.ConfigValue;
import io.espalier.core.config.schema.Key;
import io.espalier.core.config.schema.Section;
import io.espalier.core.config.schema.ValueType;
import io.espalier.core.json.Json;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The keys of resources of levels, and of what single workers have of them. */
final class ResourceKeys {
  /** The key of the slots that probes leave. */
  static final String FLOOR = "floor";

  private ResourceKeys() {}

  /** A resource of a level before it has an index. */
  record Declared(
      String name,
      int level,
      int defaultNeed,
      int limit,
      int weight,
      Optional<Duration> killOverLimit,
      List<String> follows,
      int floor) {}

  /** A resource of a level in {@code bistro_settings.resources}. */
  static final Section<Declared> RESOURCE =
      new Section<>("resources", "A counter that every node of the level has.", declared("", 0)) {
        private final Key<Declared, Integer> defaultNeed =
            key(
                    "default",
                    int32(0),
                    Declared::defaultNeed,
                    "Slots that a task takes when its job does not say.")
                .required("the slots that a job takes when it does not say");
        private final Key<Declared, Integer> limit =
            key("limit", int32(0), Declared::limit, "Slots on each node of the level.")
                .required("the slots on each node of the level");
        private final Key<Declared, Integer> weight =
            key("weight", int32(0), Declared::weight, "Weight for the worker selector `busiest`.");
        private final Key<Declared, Optional<Duration>> killOverLimit =
            own(
                "kill_over_limit_after_sec",
                orFalse(seconds(0, ConfigValue.LONGEST_SECONDS), Duration.ZERO),
                Declared::killOverLimit,
                "Lowering a limit below what is in use kills nothing by itself. With this key, once"
                    + " a node has been over the limit for this many seconds, its [youngest tasks"
                    + " are killed](steering.md#more-in-use-than-the-limit) until it is within the"
                    + " limit.");
        private final Key<Declared, List<String>> follows =
            own(
                ProbeKeys.FOLLOWS,
                texts(),
                Declared::follows,
                "[Probes](probes.md) of the level: a bad value lowers the limit of its node, good"
                    + " ones raise it again.");
        private final Key<Declared, Integer> floor =
            own(FLOOR, int32(0), Declared::floor, "Slots that probes leave in any case.");

        @Override
        public @Nullable Declared read(ConfigObject in, Declared base) {
          Integer need = in.read(defaultNeed, base);
          Integer most = in.read(limit, base);
          int share = in.get(weight, base);
          Optional<Duration> kill = in.get(killOverLimit, base);
          return need == null || most == null
              ? null
              : new Declared(
                  base.name(),
                  base.level(),
                  need,
                  most,
                  share,
                  kill,
                  in.get(follows, base),
                  in.get(floor, base));
        }
      };

  private static Declared declared(String name, int level) {
    return new Declared(name, level, 0, 0, 0, Optional.empty(), List.of(), 0);
  }

  /** Returns where a resource is declared. */
  static @Nullable ConfigValue find(ConfigValue resources, Declared declared) {
    Map<String, ConfigValue> ofLevels = resources.members();
    ConfigValue level =
        ofLevels == null ? null : ofLevels.get(resources.names().levels().name(declared.level()));
    Map<String, ConfigValue> ofLevel = level == null ? null : level.members();
    return ofLevel == null ? null : ofLevel.get(declared.name());
  }

  /** {@code resources}: those of all levels, in the order of the document. */
  static ValueType<List<Declared>> declaredList() {
    return ValueType.of(
        ResourceKeys::declared,
        declared -> Json.Obj.EMPTY,
        "object",
        membersSchema(membersSchema(RESOURCE.type().schema())));
  }

  /**
   * The resources in the order of the document, so that what refers to them can be checked; null
   * when a level is broken.
   */
  private static @Nullable List<Declared> declared(ConfigValue value) {
    Map<String, ConfigValue> ofLevels = value.members();
    if (ofLevels == null) {
      return null;
    }
    List<Declared> all = new ArrayList<>();
    Map<String, String> levelOf = new HashMap<>();
    boolean good = true;
    for (Map.Entry<String, ConfigValue> entry : ofLevels.entrySet()) {
      Integer level = entry.getValue().levelOfKey(entry.getKey());
      Map<String, ConfigValue> members = level == null ? null : entry.getValue().members();
      if (level == null || members == null) {
        good = false;
        continue;
      }
      for (Map.Entry<String, ConfigValue> member : members.entrySet()) {
        Declared read = declared(member.getKey(), level, member.getValue(), levelOf);
        if (read != null) {
          all.add(read);
        }
      }
    }
    return good ? all : null;
  }

  /** Returns a resource, without limits when it is broken; null: nothing can refer to it. */
  private static @Nullable Declared declared(
      String name, int level, ConfigValue value, Map<String, String> levelOf) {
    Levels levels = value.names().levels();
    boolean good = true;
    if (name.isEmpty() || ValueType.hasControls(name)) {
      value.error("the name of a resource must not be empty or hold control characters", null);
      good = false;
    }
    Declared read = RESOURCE.read(value, declared(name, level));
    String other = levelOf.putIfAbsent(name, levels.name(level));
    if (other != null) {
      value.error(
          "a resource of this name is also on the level \"" + other + "\"",
          "resource names must be unique over all levels");
      good = false;
    }
    if (!good) {
      return null;
    }
    return read != null
        ? read
        : new Declared(name, level, 0, Integer.MAX_VALUE, 0, Optional.empty(), List.of(), 0);
  }

  /** {@code worker_resources_override}: slots of single workers, by worker and resource. */
  static ValueType<Map<String, Map<String, Integer>>> workerSlots() {
    ValueType<Map<Resource, Integer>> slots = byResource(int32(0), 0, true);
    return ValueType.of(
        value -> {
          Map<String, ConfigValue> workers = value.members();
          if (workers == null) {
            return null;
          }
          Map<String, Map<String, Integer>> overrides = new LinkedHashMap<>();
          workers.forEach(
              (worker, entry) -> {
                Map<Resource, Integer> given = slots.reader().read(entry, Map.of());
                if (given != null) {
                  Map<String, Integer> byName = new HashMap<>();
                  given.forEach((resource, amount) -> byName.put(resource.name(), amount));
                  overrides.put(worker, Map.copyOf(byName));
                }
              });
          return overrides;
        },
        overrides -> Json.Obj.EMPTY,
        "object",
        membersSchema(slots.schema()));
  }

  /** Numbers the resources by level. */
  static ResourceCatalog catalog(List<Declared> declared) {
    List<Resource> all = new ArrayList<>();
    declared.stream()
        .sorted(Comparator.comparingInt(Declared::level))
        .forEach(
            r ->
                all.add(
                    new Resource(
                        all.size(), r.name(), r.level(), r.defaultNeed(), r.limit(), r.weight())));
    return new ResourceCatalog(all);
  }
}
