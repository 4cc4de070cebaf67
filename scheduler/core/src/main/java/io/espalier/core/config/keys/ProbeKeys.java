package io.espalier.core.config.keys;

import static io.espalier.core.config.schema.ValueType.membersSchema;
import static io.espalier.core.config.schema.ValueType.number;
import static io.espalier.core.config.schema.ValueType.oneOf;

import io.espalier.core.config.GroupRule;
import io.espalier.core.config.schema.ConfigObject;
import io.espalier.core.config.schema.ConfigValue;
import io.espalier.core.config.schema.Key;
import io.espalier.core.config.schema.Names;
import io.espalier.core.config.schema.Section;
import io.espalier.core.config.schema.ValueType;
import io.espalier.core.health.HealthRule;
import io.espalier.core.health.ProbeSpec;
import io.espalier.core.json.Json;
import io.espalier.core.problem.Suggestions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The keys of probes (docs/probes.md). */
final class ProbeKeys {
  /** The key of what follows probes. */
  static final String FOLLOWS = "follows";

  /** The maximum number of probes, because each has a thread and is a label of metrics. */
  private static final int MOST_PROBES = 32;

  private static final String NAME = "[A-Za-z0-9_][A-Za-z0-9_.:-]{0,99}";

  private static final ProbeSpec USUAL =
      new ProbeSpec(
          "",
          0,
          "",
          Json.Obj.EMPTY,
          "",
          Duration.ofSeconds(10),
          Duration.ofSeconds(60),
          0,
          0,
          false);

  private ProbeKeys() {}

  /** One entry of {@code probes}. */
  static final Section<ProbeSpec> PROBE =
      new Section<>("probes", "Values that tell how well the nodes of a level are.", USUAL) {
        private final Key<ProbeSpec, Integer> level =
            key(
                    "level",
                    ValueType.level(),
                    ProbeSpec::level,
                    "The level whose nodes the values are about. The lowest one if absent.")
                .own();
        private final Key<ProbeSpec, String> source =
            key(
                    "source",
                    ValueType.known("source of a probe", ProbeKeys::sources),
                    ProbeSpec::source,
                    "Where values come from: `push`, `prometheus`, or a kind of [node"
                        + " source](node-sources.md) such as `file`, `script`, `http` or `sql`,"
                        + " whose [rows have a value](probes.md#where-values-come-from).")
                .own()
                .required("\"push\", \"prometheus\", or the name of a node source");
        private final Key<ProbeSpec, Json.Obj> prefs =
            own("prefs", ValueType.object(), ProbeSpec::prefs, "What the source wants to know.");
        private final Key<ProbeSpec, Duration> every =
            own("every", OptionTypes.window(), ProbeSpec::every, "How often the source is asked.");
        private final Key<ProbeSpec, Duration> maxAge =
            own(
                "max_age",
                OptionTypes.window(),
                ProbeSpec::maxAge,
                "How old a value may be; without a newer one the limits of its node go to their"
                    + " floor.");
        private final Key<ProbeSpec, Double> badAbove =
            key(
                    "bad_above",
                    number(-Double.MAX_VALUE, Double.MAX_VALUE),
                    ProbeSpec::badAbove,
                    "A greater value is bad: it halves the limits that follow the probe.")
                .own()
                .required("the greatest value that is not bad");
        private final Key<ProbeSpec, Double> goodBelow =
            key(
                    "good_below",
                    number(-Double.MAX_VALUE, Double.MAX_VALUE),
                    ProbeSpec::goodBelow,
                    "A smaller value is good: each third one in a row gives a slot back.")
                .own()
                .required("the least value that is not good");
        private final Key<ProbeSpec, Boolean> onBlind =
            own(
                "on_blind",
                oneOf(List.of(false, true), holds -> holds ? "hold" : "floor"),
                ProbeSpec::holds,
                "What happens to the limits when no node has a value that is not too old: they go"
                    + " to their `floor`, or `hold` what they are.");

        @Override
        public @Nullable ProbeSpec read(ConfigObject in, ProbeSpec base) {
          ConfigValue given = in.find(level);
          Integer at = given == null ? Integer.valueOf(base.level()) : in.read(level, base);
          if (at != null && given != null && at == in.value().names().levels().worker()) {
            given.error("workers are no nodes, so no probe is about them", null);
            at = null;
          }
          String from = in.read(source, base);
          Double bad = in.read(badAbove, base);
          Double good = in.read(goodBelow, base);
          if (bad != null && good != null && good > bad) {
            in.value()
                .member(goodBelow.name())
                .error("no value is good and bad: it must not be above \"bad_above\"", null);
            good = null;
          }
          Json.Obj options = in.get(prefs, base);
          boolean holds = in.get(onBlind, base);
          Duration pause = in.get(every, base);
          Duration oldest = in.get(maxAge, base);
          ConfigValue age = in.find(maxAge);
          ConfigValue asked = in.find(every);
          if (oldest.compareTo(pause) <= 0 && !ProbeSpec.PUSH.equals(from)) {
            (age != null ? age : asked != null ? asked : in.value())
                .error(
                    "values would be too old before the next ones come: \"max_age\" must be longer"
                        + " than \"every\"",
                    "three times as long lets two answers be missed");
          }
          return at == null || from == null || bad == null || good == null
              ? null
              : new ProbeSpec(
                  base.name(),
                  at,
                  from,
                  options,
                  in.value().path().toString(),
                  pause,
                  oldest,
                  bad,
                  good,
                  holds);
        }
      };

  /** {@code probes}: all of them, in the order of the document. */
  static ValueType<List<ProbeSpec>> probeList() {
    return ValueType.of(
        ProbeKeys::readProbes,
        probes -> Json.Obj.EMPTY,
        "object",
        membersSchema(PROBE.type().schema())
            .replaceFirst(
                ",",
                ", 'maxProperties': "
                    + MOST_PROBES
                    + ", 'propertyNames': {'pattern': '^("
                    + NAME
                    + "\\$|_|//)'},"));
  }

  private static Collection<String> sources(Names names) {
    List<String> sources = new ArrayList<>(names.nodeSources());
    sources.add(ProbeSpec.PUSH);
    return sources;
  }

  private static @Nullable List<ProbeSpec> readProbes(ConfigValue value) {
    Map<String, ConfigValue> members = value.members();
    if (members == null) {
      return null;
    }
    if (members.size() > MOST_PROBES) {
      value.error("expected at most " + MOST_PROBES + " probes, found " + members.size(), null);
      return null;
    }
    List<ProbeSpec> probes = new ArrayList<>();
    members.forEach(
        (name, member) -> {
          int bottom = value.names().levels().bottom();
          ProbeSpec base =
              new ProbeSpec(
                  name, bottom, "", Json.Obj.EMPTY, "", USUAL.every(), USUAL.maxAge(), 0, 0, false);
          ProbeSpec probe = PROBE.read(member, base);
          if (!name.matches(NAME)) {
            member.error(
                "the name of a probe must have 1 to 100 letters (a-z, A-Z), digits, and \"_-.:\","
                    + " and start with a letter, a digit or \"_\"",
                null);
          } else if (probe != null) {
            probes.add(probe);
          }
        });
    return probes;
  }

  /**
   * Returns how limits follow probes, by resource.
   *
   * @param resources the value of {@code resources}, for problems; it is read already
   * @param given the value of {@code probes}; null when there is none
   */
  static Map<String, HealthRule> rules(
      ConfigValue resources,
      List<ResourceKeys.Declared> declared,
      List<ProbeSpec> probes,
      @Nullable ConfigValue given) {
    Map<String, ProbeSpec> byName = byName(probes);
    Set<String> names = names(given);
    Map<String, HealthRule> rules = new HashMap<>();
    for (ResourceKeys.Declared each : declared) {
      ConfigValue at = ResourceKeys.find(resources, each);
      if (at == null) {
        continue;
      }
      boolean mayFollow = mayFollow(at, each.level(), byName, names);
      if (hasRightFloor(at, each) && mayFollow && !each.follows().isEmpty()) {
        rules.put(each.name(), new HealthRule(each.follows(), each.floor()));
      }
    }
    return rules;
  }

  /**
   * Reports what is wrong with the probes that kinds of groups follow.
   *
   * @param groups the value of {@code groups}; it is read already
   * @param given the value of {@code probes}; null when there is none
   */
  static void checkGroups(
      ConfigValue groups,
      List<GroupRule> kinds,
      List<ResourceKeys.Declared> declared,
      List<ProbeSpec> probes,
      @Nullable ConfigValue given) {
    Map<String, ConfigValue> entries = groups.members();
    for (GroupRule kind : kinds) {
      ConfigValue at = entries == null ? null : entries.get(kind.name());
      if (at == null || kind.follows().isEmpty()) {
        continue;
      }
      mayFollow(at, kind.level(), byName(probes), names(given));
      if (declared.stream().anyMatch(each -> each.name().equals(kind.limitName()))) {
        at.error(
            "it follows probes under the name \"" + kind.limitName() + "\", as a resource is named",
            "give the resource or this kind another name");
      }
    }
  }

  private static Map<String, ProbeSpec> byName(List<ProbeSpec> probes) {
    return probes.stream().collect(Collectors.toMap(ProbeSpec::name, probe -> probe));
  }

  /** Returns the names of all probes that are given, right or wrong. */
  private static Set<String> names(@Nullable ConfigValue given) {
    return given != null && given.json() instanceof Json.Obj object
        ? object.members().keySet()
        : Set.of();
  }

  /** Returns whether something of a level may follow its probes; reports why not. */
  private static boolean mayFollow(
      ConfigValue follower, int level, Map<String, ProbeSpec> probes, Set<String> names) {
    Map<String, ConfigValue> members = follower.members();
    ConfigValue follows = members == null ? null : members.get(FOLLOWS);
    boolean good = true;
    Set<String> seen = new HashSet<>();
    for (ConfigValue at :
        follows != null && follows.json() instanceof Json.Arr
            ? Objects.requireNonNull(follows.items())
            : List.<ConfigValue>of()) {
      // Numbers are names, too; anything else is reported already.
      boolean isText = at.json() instanceof Json.Str || at.json() instanceof Json.Num;
      String name = isText ? at.text() : null;
      if (name == null) {
        continue;
      }
      ProbeSpec probe = probes.get(name);
      if (probe == null && names.contains(name)) {
        good = false; // a problem of the probe, which is reported there
      } else if (probe == null) {
        at.error(
            "it follows the probe \"" + name + "\", and there is none of this name",
            Suggestions.hint(name, names));
      } else if (probe.level() != level) {
        at.error(
            "it follows the probe \""
                + name
                + "\", which is about another level, \""
                + at.names().levels().name(probe.level())
                + "\"",
            null);
      } else if (!seen.add(name)) {
        at.warning("it follows the probe \"" + name + "\" twice", "remove one");
      }
      good &= probe != null && probe.level() == level;
    }
    return good;
  }

  private static boolean hasRightFloor(ConfigValue at, ResourceKeys.Declared resource) {
    if (resource.floor() > resource.limit()) {
      at.member(ResourceKeys.FLOOR).error("its floor is above its limit", null);
      return false;
    }
    if (resource.floor() > 0 && resource.follows().isEmpty()) {
      at.member(ResourceKeys.FLOOR)
          .warning("its floor has no effect: it follows no probe", "add \"follows\", or remove it");
    }
    return true;
  }
}
