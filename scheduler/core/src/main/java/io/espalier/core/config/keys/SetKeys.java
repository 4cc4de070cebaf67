package io.espalier.core.config.keys;

import static io.espalier.core.config.schema.ValueType.membersSchema;

import io.espalier.core.config.SetRule;
import io.espalier.core.config.schema.ConfigObject;
import io.espalier.core.config.schema.ConfigValue;
import io.espalier.core.config.schema.Key;
import io.espalier.core.config.schema.Section;
import io.espalier.core.config.schema.ValueType;
import io.espalier.core.json.Json;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The keys of sets of jobs. */
final class SetKeys {
  private static final int MOST_SETS = 10_000;
  private static final String SET_NAME = "[A-Za-z0-9_][A-Za-z0-9_.:-]{0,199}";

  private SetKeys() {}

  /** One set in {@code sets}. */
  static final Section<SetRule> SET =
      new Section<>("sets", "The rule of a set of jobs.", new SetRule(0)) {
        private final Key<SetRule, Integer> failedJobs =
            own(
                "fail_when_failed_jobs",
                ValueType.most(),
                SetRule::failWhenFailedJobs,
                "When so many jobs of the set have failed, all its other jobs that have not ended"
                    + " fail too: they start nothing more, until an operator resumes them.");

        @Override
        public SetRule read(ConfigObject in, SetRule base) {
          return new SetRule(in.get(failedJobs, base));
        }
      };

  /** The name of a set of jobs. */
  static ValueType<String> setName() {
    return ValueType.text(
        Pattern.compile(SET_NAME),
        "the name of a set must have 1 to 200 letters (a-z, A-Z), digits, and \"_-.:\", and start"
            + " with a letter, a digit or \"_\"");
  }

  /** {@code sets}: rules by the name of the set. */
  static ValueType<Map<String, SetRule>> setRules() {
    return ValueType.of(
        SetKeys::readSets,
        rules -> Json.Obj.EMPTY,
        "object",
        membersSchema(SET.type().schema())
            .replaceFirst(
                ",",
                ", 'maxProperties': "
                    + MOST_SETS
                    + ", 'propertyNames': {'pattern': '^("
                    + SET_NAME
                    + "\\$|_|//)'},"));
  }

  private static @Nullable Map<String, SetRule> readSets(ConfigValue value) {
    Map<String, ConfigValue> members = value.members();
    if (members == null) {
      return null;
    }
    if (members.size() > MOST_SETS) {
      value.error("expected at most " + MOST_SETS + " sets, found " + members.size(), null);
      return null;
    }
    Map<String, SetRule> rules = new HashMap<>();
    members.forEach(
        (name, member) -> {
          SetRule rule = SET.read(member, SET.usual());
          if (!name.matches(SET_NAME)) {
            member.error(
                "the name of a set must have 1 to 200 letters (a-z, A-Z), digits, and \"_-.:\","
                    + " and start with a letter, a digit or \"_\"",
                null);
          }
          if (rule != null) {
            rules.put(name, rule);
          }
        });
    return rules;
  }
}
