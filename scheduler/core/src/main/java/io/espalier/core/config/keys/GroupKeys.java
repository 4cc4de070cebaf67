package io.espalier.core.config.keys;

import static io.espalier.core.config.schema.ValueType.int32;
import static io.espalier.core.config.schema.ValueType.membersSchema;
import static io.espalier.core.config.schema.ValueType.number;
import static io.espalier.core.config.schema.ValueType.texts;

import io.espalier.core.config.GroupRule;
import io.espalier.core.config.schema.ConfigObject;
import io.espalier.core.config.schema.ConfigValue;
import io.espalier.core.config.schema.Key;
import io.espalier.core.config.schema.Section;
import io.espalier.core.config.schema.ValueType;
import io.espalier.core.json.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The keys of redundancy groups. */
final class GroupKeys {
  /** The maximum number of kinds, because each is a label of metrics. */
  private static final int MOST_KINDS = 100;

  private static final String NAME = "[A-Za-z0-9_][A-Za-z0-9_.:-]{0,199}";

  private GroupKeys() {}

  /** One entry of {@code groups}. */
  static final Section<GroupRule> GROUP =
      new Section<>(
          "groups",
          "Nodes that stand in for each other, such as the replicas of a database: only some of"
              + " them may be busy at once.",
          new GroupRule("", 0, "", 0, 0)) {
        private final Key<GroupRule, Integer> level =
            key(
                    "level",
                    ValueType.level(),
                    GroupRule::level,
                    "The level whose nodes are the members. The lowest one if absent.")
                .own();
        private final Key<GroupRule, String> by =
            key(
                    "by",
                    ValueType.text(
                        Pattern.compile("attribute:.+|tag:([^*]+[*]?|[*])"),
                        "expected \"attribute:NAME\", \"tag:TAG\" or \"tag:PREFIX*\""),
                    GroupRule::by,
                    "`attribute:NAME`: nodes with the same value of this attribute are a group."
                        + " `tag:TAG`: the nodes with this tag are. `tag:PREFIX*`: each tag that"
                        + " begins so is a group. A node that has none is in no group.")
                .own()
                .required("what makes a group: \"attribute:NAME\", \"tag:TAG\" or \"tag:PREFIX*\"");
        private final Key<GroupRule, Integer> maxConcurrent =
            own(
                "max_concurrent",
                int32(1),
                GroupRule::maxConcurrent,
                "How many members of a group may have running tasks, on them or below them, at"
                    + " once. Either this or `max_fraction`.");
        private final Key<GroupRule, Double> maxFraction =
            own(
                "max_fraction",
                number(0, 1)
                    .checked(
                        part -> part > 0,
                        "expected a number above 0, up to 1",
                        "a group always has at least one member at work")
                    .says("number above 0, up to 1"),
                GroupRule::maxFraction,
                "The same as a part of the members of the group, rounded down, but at least one.");
        private final Key<GroupRule, List<String>> follows =
            own(
                ProbeKeys.FOLLOWS,
                texts(),
                GroupRule::follows,
                "[Probes](probes.md) of the level: while the value of a member is bad, or too old,"
                    + " [nothing starts in its group](groups.md#groups-that-follow-probes).");

        {
          rules("{'oneOf': [{'required': ['max_concurrent']}, {'required': ['max_fraction']}]}");
        }

        @Override
        public @Nullable GroupRule read(ConfigObject in, GroupRule base) {
          String of = in.read(by, base);
          Integer at =
              in.find(level) == null ? Integer.valueOf(base.level()) : in.read(level, base);
          ConfigValue given = in.find(level);
          if (at != null && given != null && at == in.value().names().levels().worker()) {
            given.error("workers are no nodes, so they are in no group", null);
            at = null;
          }
          ConfigValue most = in.find(maxConcurrent);
          ConfigValue part = in.find(maxFraction);
          if (most != null && part != null) {
            part.error("the group has a \"max_concurrent\" already", "remove one of the two");
          } else if (most == null && part == null) {
            in.value()
                .error(
                    "nothing says how many members may be busy at once",
                    "add \"max_concurrent\": 1, or a \"max_fraction\"");
          }
          Integer limit = most == null ? Integer.valueOf(0) : in.read(maxConcurrent, base);
          Double fraction = part == null ? Double.valueOf(0) : in.read(maxFraction, base);
          boolean isOne = (most == null) != (part == null);
          return of == null || at == null || limit == null || fraction == null || !isOne
              ? null
              : new GroupRule(base.name(), at, of, limit, fraction, in.get(follows, base));
        }
      };

  /** {@code groups}: all kinds, in the order of the document. */
  static ValueType<List<GroupRule>> groupList() {
    return ValueType.of(
        GroupKeys::readGroups,
        groups -> Json.Obj.EMPTY,
        "object",
        membersSchema(GROUP.type().schema())
            .replaceFirst(
                ",",
                ", 'maxProperties': "
                    + MOST_KINDS
                    + ", 'propertyNames': {'pattern': '^("
                    + NAME
                    + "\\$|_|//)'},"));
  }

  private static @Nullable List<GroupRule> readGroups(ConfigValue value) {
    Map<String, ConfigValue> members = value.members();
    if (members == null) {
      return null;
    }
    if (members.size() > MOST_KINDS) {
      value.error(
          "expected at most " + MOST_KINDS + " kinds of groups, found " + members.size(), null);
      return null;
    }
    List<GroupRule> rules = new ArrayList<>();
    members.forEach(
        (name, member) -> {
          int bottom = value.names().levels().bottom();
          GroupRule rule = GROUP.read(member, new GroupRule(name, bottom, "", 0, 0));
          if (!name.matches(NAME)) {
            member.error(
                "the name of a kind of groups must have 1 to 200 letters (a-z, A-Z), digits, and"
                    + " \"_-.:\", and start with a letter, a digit or \"_\"",
                null);
          }
          if (rule != null) {
            rules.add(rule);
          }
        });
    return rules;
  }
}
