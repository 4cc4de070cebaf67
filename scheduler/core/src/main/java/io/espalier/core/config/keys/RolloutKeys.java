package io.espalier.core.config.keys;

import static io.espalier.core.config.schema.ValueType.bool;
import static io.espalier.core.config.schema.ValueType.int32;
import static io.espalier.core.config.schema.ValueType.list;
import static io.espalier.core.config.schema.ValueType.number;
import static io.espalier.core.config.schema.ValueType.oneOf;
import static io.espalier.core.config.schema.ValueType.optional;

import io.espalier.core.config.JobOptions;
import io.espalier.core.config.rollout.RolloutSpec;
import io.espalier.core.config.rollout.RolloutStage;
import io.espalier.core.config.schema.ConfigObject;
import io.espalier.core.config.schema.ConfigValue;
import io.espalier.core.config.schema.Key;
import io.espalier.core.config.schema.Names;
import io.espalier.core.config.schema.Section;
import io.espalier.core.config.schema.ValueType;
import io.espalier.core.json.Json;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The keys of {@code rollout} of a job (docs/rollout.md). */
final class RolloutKeys {
  private static final int MOST_STAGES = 20;
  private static final Pattern SHARE = Pattern.compile("([0-9]{1,3}(?:\\.[0-9]{1,6})?) ?%");
  private static final Pattern COUNT = Pattern.compile("[1-9][0-9]{0,8}");

  private static final RolloutSpec USUAL =
      new RolloutSpec(
          List.of(RolloutStage.ALL),
          Optional.empty(),
          Duration.ZERO,
          OptionalDouble.empty(),
          RolloutSpec.USUAL_SAMPLES,
          OptionalDouble.empty(),
          false,
          false,
          List.of());

  /** {@code fail_when} of a roll-out. */
  static final Section<RolloutSpec> FAIL_WHEN =
      new Section<>("fail_when", "When the tasks of a stage halt the job.", USUAL) {
        private final Key<RolloutSpec, OptionalDouble> failedPercent =
            key(
                    "failed_percent",
                    ValueType.optionalDouble(
                        number(0, 100)
                            .checked(
                                percent -> percent < 100,
                                "more than 100 % never fail, expected a number below 100")
                            .says("number from 0, below 100")
                            .inSchema(
                                number(0, 100)
                                    .schema()
                                    .replace("'maximum'", "'exclusiveMaximum'"))),
                    RolloutSpec::failedPercent,
                    "More than so many percent of the stage's tasks have failed, in any attempt;"
                        + " `0`: none may.")
                .own()
                .required("a number from 0, below 100");
        private final Key<RolloutSpec, Integer> minSamples =
            own(
                "min_samples",
                int32(1),
                RolloutSpec::minSamples,
                "Before so many tasks of the stage have ended or failed, the checks say nothing,"
                    + " unless all of them have ended.");

        @Override
        public RolloutSpec read(ConfigObject in, RolloutSpec base) {
          OptionalDouble percent = in.read(failedPercent, base);
          return base.withFailedPercent(percent == null ? OptionalDouble.empty() : percent)
              .withMinSamples(in.get(minSamples, base));
        }
      };

  /** {@code rollout} of a job. */
  static final Section<RolloutSpec> ROLLOUT =
      new Section<>("rollout", "Stages. Each begins when the one before has passed.", USUAL) {
        private final Key<RolloutSpec, List<RolloutStage>> stages =
            key(
                    "stages",
                    list(stage(), RolloutStage.ALL),
                    RolloutSpec::stages,
                    "How many tasks each stage has together with those before it: a number, or a"
                        + " share such as `1%` of the tasks that are left when the roll-out begins,"
                        + " rounded up. They ascend, and the last is `100%`.")
                .own()
                .required("a list such as [1, \"1%\", \"10%\", \"100%\"]");
        private final Key<RolloutSpec, Optional<Integer>> spread =
            own(
                "spread",
                optional(ValueType.level(), 0),
                RolloutSpec::spread,
                "The level over whose nodes each stage is spread: a stage of n tasks touches n of"
                    + " them, or all. Without it, the level above the tasks.");
        private final Key<RolloutSpec, Duration> soak =
            own(
                "soak",
                OptionTypes.span(0),
                RolloutSpec::soak,
                "How long the job waits after the last task of a stage has ended: seconds, or a"
                    + " time such as `10m`.");
        private final Key<RolloutSpec, Optional<RolloutSpec>> failWhen =
            own(
                "fail_when",
                optional(FAIL_WHEN.type(), USUAL),
                spec -> spec.failedPercent().isPresent() ? Optional.of(spec) : Optional.empty(),
                "How many tasks of a stage may fail. Beyond that the job is halted: nothing more"
                    + " starts, and what runs goes on.");
        private final Key<RolloutSpec, OptionalDouble> maxP95Ratio =
            own(
                "max_p95_ratio",
                ValueType.optionalDouble(number(1, 1_000_000)),
                RolloutSpec::maxP95Ratio,
                "The job is halted when the 95th percentile of the durations of a stage is more"
                    + " than so many times that of the stage before.");
        private final Key<RolloutSpec, List<String>> probes =
            own(
                "probes",
                list(probe(), ""),
                RolloutSpec::probes,
                "[Probes](probes.md) that halt the job when a node has a bad value after tasks of"
                    + " the roll-out have started below it. A stage waits for their values before"
                    + " the next one opens.");
        private final Key<RolloutSpec, Boolean> approve =
            own(
                "approve",
                bool(),
                RolloutSpec::approve,
                "Whether a person opens each further stage, with `espalier promote`.");
        private final Key<RolloutSpec, Boolean> goesOn =
            own(
                "on_change",
                oneOf(List.of(false, true), goes -> goes ? "continue" : "restart"),
                RolloutSpec::goesOn,
                "What a change of what the tasks run, or of the stages, means. `restart`: the"
                    + " stages begin again, for the tasks that are left; `continue`: nothing.");

        @Override
        public @Nullable RolloutSpec read(ConfigObject in, RolloutSpec base) {
          List<RolloutStage> read = in.read(stages, base);
          Optional<RolloutSpec> failing = in.get(failWhen, base);
          RolloutSpec spec =
              new RolloutSpec(
                  read == null || read.isEmpty() ? base.stages() : read,
                  in.get(spread, base),
                  in.get(soak, base),
                  failing.map(RolloutSpec::failedPercent).orElse(OptionalDouble.empty()),
                  failing.map(RolloutSpec::minSamples).orElse(RolloutSpec.USUAL_SAMPLES),
                  in.get(maxP95Ratio, base),
                  in.get(approve, base),
                  in.get(goesOn, base),
                  in.get(probes, base));
          ConfigValue given = in.find(stages);
          int before = in.value().problems().errors();
          if (given != null && read != null) {
            check(given, read);
          }
          return read == null || in.value().problems().errors() > before ? null : spec;
        }
      };

  private RolloutKeys() {}

  private static ValueType<String> probe() {
    ValueType<String> known = ValueType.known("probe", Names::probes);
    return ValueType.of(
        value -> value.names().areKnown() ? known.reader().read(value, "") : value.text(),
        Json::of,
        known.words(),
        known.schema());
  }

  private static void check(ConfigValue given, List<RolloutStage> stages) {
    List<ConfigValue> items = given.items();
    if (items == null || items.size() != stages.size()) {
      return; // one of them has an error
    }
    if (stages.isEmpty()) {
      given.error("there is no stage", "write [1, \"1%\", \"10%\", \"100%\"]");
      return;
    }
    if (stages.size() > MOST_STAGES) {
      given.error("these are more than " + MOST_STAGES + " stages", null);
    }
    double count = 0;
    double percent = 0;
    for (int i = 0; i < stages.size(); i++) {
      RolloutStage stage = stages.get(i);
      double before = stage.isPercent() ? percent : count;
      if (stage.amount() <= before) {
        items
            .get(i)
            .error(
                "the stage is not larger than the ones before it",
                "each stage contains the ones before it");
      }
      percent = stage.isPercent() ? stage.amount() : percent;
      count = stage.isPercent() ? count : stage.amount();
    }
    if (!stages.get(stages.size() - 1).equals(RolloutStage.ALL)) {
      items.get(items.size() - 1).error("the last stage is not everything", "end with \"100%\"");
    }
  }

  /** Returns whether the tasks of a job are not below the level over which they are spread. */
  static boolean isSpreadBelow(JobOptions options) {
    return options
        .scheduling()
        .rollout()
        .flatMap(RolloutSpec::spread)
        .filter(level -> level >= options.level())
        .isPresent();
  }

  private static ValueType<RolloutStage> stage() {
    return ValueType.of(
        value -> {
          String text = value.text();
          if (text == null) {
            return null;
          }
          Matcher share = SHARE.matcher(text);
          double percent = share.matches() ? Double.parseDouble(share.group(1)) : 0;
          if (COUNT.matcher(text).matches()) {
            return new RolloutStage(Integer.parseInt(text), false);
          }
          if (percent > 0 && percent <= 100) {
            return new RolloutStage(percent, true);
          }
          value.error(
              "expected a number of tasks from 1, or a share from above \"0%\" to \"100%\"", null);
          return null;
        },
        stage -> stage.isPercent() ? Json.of(stage.text()) : Json.of((long) stage.amount()),
        "number or percentage",
        ValueType.anyOf(
            "{'type': 'string', 'pattern': '^([0-9]{1,3}(\\\\.[0-9]{1,6})? ?%|[1-9][0-9]{0,8})$'}",
            "{'type': 'integer', 'minimum': 1, 'maximum': 999999999}"));
  }
}
