package io.espalier.core.config.keys;

import static io.espalier.core.config.schema.ValueType.number;
import static io.espalier.core.config.schema.ValueType.oneOf;
import static io.espalier.core.config.schema.ValueType.text;

import io.espalier.core.config.PhysicalResource;
import io.espalier.core.config.PhysicalResource.Enforcement;
import io.espalier.core.config.PhysicalResource.Kind;
import io.espalier.core.config.schema.ConfigObject;
import io.espalier.core.config.schema.ConfigValue;
import io.espalier.core.config.schema.Key;
import io.espalier.core.config.schema.Section;
import io.espalier.core.config.schema.ValueType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The keys of physical resources of workers: memory, cores, graphics cards. */
final class PhysicalResourceKeys {
  private PhysicalResourceKeys() {}

  /** How one physical resource of workers becomes slots. */
  private static final class KindKeys extends Section<PhysicalResource> {
    private final Key<PhysicalResource, String> logical =
        key(
                "logical_resource",
                text().says("name"),
                PhysicalResource::logicalResource,
                "The resource of the level `worker` that it fills.")
            .required("the name of a resource of the worker level");
    private final Key<PhysicalResource, Double> factor =
        key(
            "multiply_logical_by",
            number(1e-12, Double.MAX_VALUE).says("number"),
            PhysicalResource::multiplyLogicalBy,
            "Physical units per slot.");
    private final Key<PhysicalResource, Enforcement> enforcement;
    private final Key<PhysicalResource, Double> reserve;

    KindKeys(Kind kind, Enforcement... allowed) {
      super(
          kind.label(),
          "How this physical resource of workers becomes slots.",
          new PhysicalResource(kind, "", 1, 0, Enforcement.NONE));
      enforcement =
          key(
              "enforcement",
              oneOf(List.of(allowed), Enforcement::label),
              PhysicalResource::enforcement,
              "What keeps a task within its share.");
      reserve =
          key(
              "physical_reserve_amount",
              number(-Double.MAX_VALUE, Double.MAX_VALUE),
              PhysicalResource::reserveAmount,
              "Physical units that are taken off first, and tasks do not get.");
    }

    @Override
    public @Nullable PhysicalResource read(ConfigObject in, PhysicalResource base) {
      double by = in.get(factor, base);
      double kept = in.get(reserve, base);
      Enforcement enforced = in.get(enforcement, base);
      ConfigValue given = in.find(logical);
      String name = given == null ? null : in.read(logical, base);
      int worker = in.value().names().levels().worker();
      return given == null || name == null || given.resource(name, worker) == null
          ? null
          : new PhysicalResource(base.kind(), name, by, kept, enforced);
    }
  }

  private static final Map<String, Section<PhysicalResource>> PHYSICAL =
      Map.of(
          "ram_mb", new KindKeys(Kind.RAM_MB, Enforcement.NONE, Enforcement.HARD),
          "cpu_core", new KindKeys(Kind.CPU_CORE, Enforcement.NONE, Enforcement.SOFT),
          "gpu_card", new KindKeys(Kind.GPU_CARD, Enforcement.NONE));

  static Section<PhysicalResource> physical(String kind) {
    return Objects.requireNonNull(PHYSICAL.get(kind), kind);
  }

  /** {@code physical_resources}: each key is a kind. */
  static final Section<List<PhysicalResource>> PHYSICAL_RESOURCES =
      new Section<>(
          "physical_resources", "How physical resources of workers become slots.", List.of()) {
        {
          kind(Kind.RAM_MB, "Memory of a worker in MB; `enforcement` may be `none` or `hard`.");
          kind(Kind.CPU_CORE, "Cores of a worker; `enforcement` may be `none` or `soft`.");
          kind(Kind.GPU_CARD, "Graphics cards of a worker; `enforcement` may be `none`.");
        }

        private void kind(Kind kind, String text) {
          Section<PhysicalResource> section = physical(kind.label());
          key(
              kind.label(),
              ValueType.optional(section.type(), section.usual()),
              all -> Optional.empty(),
              text);
        }

        /** Unknown kinds have a message of their own. */
        @Override
        public @Nullable List<PhysicalResource> read(
            ConfigValue value, List<PhysicalResource> base) {
          Map<String, ConfigValue> members = value.members();
          if (members == null) {
            return null;
          }
          List<PhysicalResource> all = new ArrayList<>();
          Map<String, String> users = new HashMap<>();
          members.forEach(
              (name, member) -> {
                Section<PhysicalResource> section = PHYSICAL.get(name);
                if (section == null) {
                  member.error(
                      "unknown physical resource, expected one of " + String.join(", ", names()),
                      null);
                  return;
                }
                PhysicalResource read = section.read(member, section.usual());
                String user = read == null ? null : users.putIfAbsent(read.logicalResource(), name);
                if (user != null) {
                  ConfigValue logical = member.member("logical_resource");
                  logical.error("\"" + user + "\" already means this resource", null);
                } else if (read != null) {
                  all.add(read);
                }
              });
          return all;
        }

        @Override
        public List<PhysicalResource> read(ConfigObject in, List<PhysicalResource> base) {
          return base;
        }
      };
}
