package io.espalier.core.config.keys;

import static io.espalier.core.config.schema.ValueType.number;
import static io.espalier.core.config.schema.ValueType.optional;
import static io.espalier.core.config.schema.ValueType.texts;

import io.espalier.core.config.Job;
import io.espalier.core.config.JobFilter;
import io.espalier.core.config.Levels;
import io.espalier.core.config.label.LabelExpression;
import io.espalier.core.config.label.LabelSyntaxException;
import io.espalier.core.config.schema.ConfigObject;
import io.espalier.core.config.schema.ConfigValue;
import io.espalier.core.config.schema.Key;
import io.espalier.core.config.schema.Section;
import io.espalier.core.config.schema.ValueType;
import io.espalier.core.json.Json;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The keys {@code filters} and {@code workers}: where a job may run. */
public final class JobFilterKeys {
  private static final Pattern NO_PATTERN = Pattern.compile("");

  /** A level's filter in {@code filters} of a job. */
  public static final Section<JobFilter> FILTER =
      new Section<>(
          "filters",
          "Which nodes of the level the job may use: all conditions must hold.",
          JobFilter.ALL) {
        private final Key<JobFilter, Set<String>> whitelist =
            names("whitelist", JobFilter::whitelist, "Only nodes of these names; empty: all.");
        private final Key<JobFilter, Optional<Pattern>> whitelistRegex =
            regex(
                "whitelist_regex",
                filter -> filter.whitelistRegex(),
                "What must be found anywhere in the name. One that takes more than 100,000 steps on"
                    + " a name (of `blacklist_regex`, too) makes the job invalid.");
        private final Key<JobFilter, Set<String>> blacklist =
            names("blacklist", JobFilter::blacklist, "No nodes of these names.");
        private final Key<JobFilter, Optional<Pattern>> blacklistRegex =
            regex(
                "blacklist_regex",
                filter -> filter.blacklistRegex(),
                "What must not be found in the name.");
        private final Key<JobFilter, Set<String>> tagWhitelist =
            names(
                "tag_whitelist",
                JobFilter::tagWhitelist,
                "Only nodes that have one of these tags; empty: all.");
        private final Key<JobFilter, Double> fraction =
            key(
                    "fraction_of_nodes",
                    number(0, 1),
                    JobFilter::fraction,
                    "The share of nodes: the same ones each time, others for other jobs, and all of"
                        + " a smaller share are in a greater one. The hash is documented with the"
                        + " class `FilterEvaluator` and never changes. 0 is none; in Bistro it was"
                        + " all.")
                .writtenUnless(1.0);

        private Key<JobFilter, Set<String>> names(
            String key, Function<JobFilter, Set<String>> getter, String text) {
          ValueType<Set<String>> type =
              texts().as(LinkedHashSet::new, set -> List.copyOf(new TreeSet<>(set)));
          return key(key, type.says("list of names"), getter, text).writtenUnless(Set.of());
        }

        private Key<JobFilter, Optional<Pattern>> regex(
            String key, Function<JobFilter, @Nullable Pattern> getter, String text) {
          ValueType<Optional<Pattern>> type =
              optional(ValueType.regex(), NO_PATTERN)
                  .as(
                      found -> found.filter(pattern -> !pattern.pattern().isEmpty()),
                      found -> found);
          return key(key, type, filter -> Optional.ofNullable(getter.apply(filter)), text)
              .writtenUnless(Optional.empty());
        }

        @Override
        public JobFilter read(ConfigObject in, JobFilter base) {
          return new JobFilter(
              in.get(whitelist, base),
              in.get(whitelistRegex, base).orElse(null),
              in.get(blacklist, base),
              in.get(blacklistRegex, base).orElse(null),
              in.get(tagWhitelist, base),
              in.get(fraction, base));
        }
      };

  private JobFilterKeys() {}

  /** {@code filters} of a job. */
  static ValueType<Map<Integer, JobFilter>> filters() {
    return new ValueType<>(
        (value, base) -> {
          Map<String, ConfigValue> members = value.members();
          if (members == null) {
            return null;
          }
          Map<Integer, JobFilter> filters = new HashMap<>();
          members.forEach(
              (name, member) -> {
                Integer level = member.levelOfKey(name);
                int before = member.problems().errors();
                JobFilter filter = FILTER.read(member, JobFilter.ALL);
                if (level != null
                    && filter != null
                    && member.problems().errors() == before
                    && !filter.isTrivial()) {
                  filters.put(level, filter);
                }
              });
          return filters;
        },
        (filters, inherited, names) -> {
          Levels levels = names.levels();
          Json.Builder out = Json.object();
          new TreeMap<>(filters)
              .forEach(
                  (level, filter) -> {
                    if (!filter.withLabels(LabelExpression.ANY).isTrivial()) {
                      out.put(levels.name(level), FILTER.write(filter, filter, names));
                    }
                  });
          return out.build();
        },
        "object",
        ValueType.membersSchema(FILTER.type().schema()));
  }

  /** Returns the condition of the filter of workers, the only one that has any. */
  static LabelExpression labels(Job job) {
    return job.filters().values().stream()
        .map(JobFilter::labels)
        .filter(labels -> !labels.equals(LabelExpression.ANY))
        .findFirst()
        .orElse(LabelExpression.ANY);
  }

  /** Adds the condition on workers to the filters of a job. */
  static Map<Integer, JobFilter> withLabels(
      Map<Integer, JobFilter> filters, LabelExpression labels, int workerLevel) {
    if (labels.equals(LabelExpression.ANY)) {
      return filters;
    }
    Map<Integer, JobFilter> all = new HashMap<>(filters);
    all.merge(
        workerLevel,
        JobFilter.ALL.withLabels(labels),
        (filter, onlyLabels) -> filter.withLabels(labels));
    return all;
  }

  /** A condition on labels of workers. */
  static ValueType<LabelExpression> labels() {
    return ValueType.of(
        value -> {
          String text = value.text();
          if (text == null) {
            return null;
          }
          try {
            return text.isEmpty() ? LabelExpression.ANY : LabelExpression.parse(text);
          } catch (LabelSyntaxException e) {
            value.error("not a condition on labels: " + e.getMessage(), e.hint());
            return null;
          }
        },
        labels -> Json.of(labels.toString()),
        "condition",
        "{'type': 'string', 'maxLength': " + LabelExpression.LONGEST + "}");
  }
}
