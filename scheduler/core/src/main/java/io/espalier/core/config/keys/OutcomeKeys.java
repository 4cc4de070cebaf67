package io.espalier.core.config.keys;

import static io.espalier.core.config.schema.ValueType.anyOf;
import static io.espalier.core.config.schema.ValueType.int32;
import static io.espalier.core.config.schema.ValueType.number;
import static io.espalier.core.config.schema.ValueType.optional;

import io.espalier.core.config.schema.ConfigObject;
import io.espalier.core.config.schema.ConfigValue;
import io.espalier.core.config.schema.Key;
import io.espalier.core.config.schema.Section;
import io.espalier.core.config.schema.ValueType;
import io.espalier.core.config.task.OutcomeRules;
import io.espalier.core.json.Json;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/** The keys {@code fail_job_when} and {@code succeed_job_when}. */
public final class OutcomeKeys {
  /** {@code fail_job_when} of the settings or a job, which is inherited as a whole. */
  public static final Section<OutcomeRules> FAIL_JOB_WHEN =
      new Section<>(
          "fail_job_when",
          "When a job as a whole has failed: it starts nothing more until it is forgiven, rerun or"
              + " resumed.",
          OutcomeRules.DEFAULT) {
        private final Key<OutcomeRules, OptionalInt> failedTasks =
            own(
                "failed_tasks",
                ValueType.optionalInt(optional(int32(1), 1)),
                OutcomeRules::failedTasks,
                "The job has failed when so many tasks have failed for good, or more.");
        private final Key<OutcomeRules, OptionalDouble> failedPercent =
            own(
                "failed_pct",
                ValueType.optionalDouble(
                    number(0, 100)
                        .says("number from 0, below 100")
                        .inSchema(
                            number(0, 100).schema().replace("'maximum'", "'exclusiveMaximum'"))),
                OutcomeRules::failedPercent,
                "The job has failed when more than so many percent of the tasks that have ended,"
                    + " done or failed, have failed. Exactly so many are allowed; `0`: none.");
        private final Key<OutcomeRules, Integer> minSamples =
            own(
                "min_samples",
                int32(1),
                OutcomeRules::minSamples,
                "Before so many tasks have ended, `failed_pct` says nothing.");
        private final Key<OutcomeRules, Optional<Duration>> window =
            own(
                "window",
                optional(OptionTypes.window(), Duration.ZERO),
                OutcomeRules::window,
                "Only tasks that ended within this time count, to within a 64th of it, and the rule"
                    + " is looked at when one ends. A task that ends twice counts twice.");

        {
          rules("{'anyOf': [{'required': ['failed_tasks']}, {'required': ['failed_pct']}]}");
        }

        @Override
        public OutcomeRules read(ConfigObject in, OutcomeRules inherited) {
          OutcomeRules rules =
              new OutcomeRules(
                  in.get(failedTasks, usual()),
                  in.get(failedPercent, usual()),
                  in.get(minSamples, usual()),
                  in.get(window, usual()),
                  inherited.donePercent());
          ConfigValue share = in.find(failedPercent);
          ConfigValue samples = in.find(minSamples);
          if (share != null && rules.failedPercent().orElse(0) == 100) {
            share.error("more than 100 % never fail, expected a number below 100", null);
          }
          if (share == null && !in.has(failedTasks)) {
            in.value()
                .error(
                    "nothing makes the job fail, expected \"failed_tasks\" or \"failed_pct\"",
                    "write false if it is never to fail");
          }
          if (samples != null && share == null) {
            samples.warning("this means nothing without \"failed_pct\"", null);
          }
          return rules;
        }
      };

  /** {@code succeed_job_when} of the settings or a job. */
  public static final Section<Double> SUCCEED_JOB_WHEN =
      new Section<>(
          "succeed_job_when",
          "When a job as a whole has succeeded; what is left then is not started any more.",
          OutcomeRules.DEFAULT.donePercent()) {
        private final Key<Double, Double> donePercent =
            key(
                    "done_pct",
                    percentToReach(),
                    percent -> percent,
                    "Percent of the job's tasks that must be done. Tasks that filters exclude or on"
                        + " disabled nodes do not count.")
                .own()
                .required("a number above 0, at most 100");

        @Override
        public @Nullable Double read(ConfigObject in, Double base) {
          return in.read(donePercent, base);
        }
      };

  private OutcomeKeys() {}

  /** {@code fail_job_when}, or {@code false}: never. */
  static ValueType<OutcomeRules> failWhen() {
    ValueType<OutcomeRules> section = FAIL_JOB_WHEN.type();
    return new ValueType<>(
        (value, base) ->
            value.isFalse() ? FAIL_JOB_WHEN.usual() : section.reader().read(value, base),
        (rules, inherited, names) ->
            rules.canFail()
                ? section.writer().write(rules, FAIL_JOB_WHEN.usual(), names)
                : Json.Bool.FALSE,
        "object or `false`",
        ValueType.anyOf(section.schema(), "{'const': false}"));
  }

  /** A percentage of an object, {@code false} for the usual one, or "never". */
  static ValueType<Double> succeedWhen() {
    double usual = SUCCEED_JOB_WHEN.usual();
    return new ValueType<>(
        (value, base) -> {
          if (value.isFalse()) {
            return usual;
          }
          if (!(value.json() instanceof Json.Str word)) {
            return SUCCEED_JOB_WHEN.read(value, base);
          }
          if (!word.value().equals("never")) {
            value.error(
                "expected an object with \"done_pct\", false, or \"never\"",
                "\"never\" is for a job that is to stay open whatever is done");
          }
          return OutcomeRules.NEVER;
        },
        (percent, inherited, names) ->
            percent == OutcomeRules.NEVER
                ? Json.of("never")
                : percent == usual
                    ? Json.Bool.FALSE
                    : SUCCEED_JOB_WHEN.write(percent, percent, names),
        "object, `\"never\"` or `false`",
        anyOf(SUCCEED_JOB_WHEN.type().schema(), "{'enum': [false, 'never']}"));
  }

  /** A percentage above 0. */
  static ValueType<Double> percentToReach() {
    return number(0, 100)
        .checked(percent -> percent > 0, "0 % is nothing to wait for, expected a number above 0")
        .says("number above 0, at most 100")
        .inSchema(number(0, 100).schema().replace("'minimum'", "'exclusiveMinimum'"));
  }
}
