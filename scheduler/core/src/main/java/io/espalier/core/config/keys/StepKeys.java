package io.espalier.core.config.keys;

import static io.espalier.core.config.schema.ValueType.int32;
import static io.espalier.core.config.schema.ValueType.oneOf;
import static io.espalier.core.config.schema.ValueType.optional;
import static io.espalier.core.config.schema.ValueType.seconds;
import static io.espalier.core.config.schema.ValueType.text;

import io.espalier.core.config.Job;
import io.espalier.core.config.schema.ConfigObject;
import io.espalier.core.config.schema.ConfigValue;
import io.espalier.core.config.schema.Key;
import io.espalier.core.config.schema.Section;
import io.espalier.core.config.schema.ValueType;
import io.espalier.core.config.task.CallSpec;
import io.espalier.core.config.task.Program;
import io.espalier.core.config.task.Step;
import io.espalier.core.config.task.Verification;
import io.espalier.core.json.Json;
import io.espalier.core.outcome.Percent;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The keys of the steps of a task (docs/writing-tasks.md#steps). */
public final class StepKeys {
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9_.-]{0,63}");
  private static final Pattern SHARE = Pattern.compile("([0-9]{1,3}(?:\\.[0-9]{1,6})?)%");
  private static final Pattern COUNT = Pattern.compile("[1-9][0-9]{0,8}");

  /** The name of the verification among the steps of a task. */
  public static final String VERIFICATION = "verify";

  private static final Step USUAL =
      new Step("", List.of(), Optional.empty(), false, Optional.empty(), Optional.empty());

  private StepKeys() {}

  /** What runs, and for how long at most: a part of each of the sections below. */
  private static final Section<Step> WORK =
      new Section<>("step", "", USUAL) {
        private final Key<Step, List<String>> command =
            own(
                "command",
                OptionTypes.command(),
                Step::command,
                "What it runs, as `command` of a job.");
        private final Key<Step, Optional<CallSpec>> call =
            own(
                "call",
                optional(CallKeys.CALL.type(), CallKeys.CALL.usual()),
                Step::call,
                "The service that it calls instead.");
        private final Key<Step, Optional<Duration>> timeout =
            own(
                "timeout_sec",
                optional(limit(), Duration.ZERO),
                Step::timeout,
                "Longest time of one run of it; without it, that of the job.");
        private final Key<Step, Optional<Duration>> noOutput =
            own(
                "no_output_timeout_sec",
                optional(limit(), Duration.ZERO),
                Step::noOutput,
                "Longest silence of one run of it; without it, that of the job.");

        @Override
        public Step read(ConfigObject in, Step base) {
          ConfigValue called = in.find(call);
          List<String> given = in.get(command, base);
          Optional<CallSpec> spec = in.get(call, base);
          Optional<Duration> longest = in.get(timeout, base);
          Optional<Duration> silence = in.get(noOutput, base);
          if (called != null && in.has(command)) {
            called.error("it has a command already", "remove \"call\" or \"command\"");
          } else if (called == null && (!in.has(command) || isEmptyList(in.find(command)))) {
            in.value().error("expected \"command\" or \"call\": what it runs", null);
          }
          return new Step("", given, spec, false, longest, silence);
        }
      };

  private static final String EITHER =
      "{'oneOf': [{'required': ['command']}, {'required': ['call']}]}";

  /** One of {@code steps} of a job. */
  public static final Section<Step> STEP =
      new Section<>("steps", "A step of a task: `command` or `call`.", USUAL) {
        private final Key<Step, String> name =
            name("name", "Its name, another one for each step; renaming it makes it another step.");

        {
          include(WORK, step -> step, true);
          rules(EITHER);
        }

        private final Key<Step, Boolean> onFailure =
            own(
                "on_failure",
                oneOf(List.of(false, true), undoes -> undoes ? "undo" : "retry"),
                Step::undoesOnFailure,
                "`retry`: the back-off of the job decides; `undo`: a failure fails the task for"
                    + " good, and what was done is compensated.");

        private Key<Step, String> name(String key, String text) {
          return key(key, stepName(), Step::name, text).required("the name of a step");
        }

        @Override
        public @Nullable Step read(ConfigObject in, Step base) {
          String named = in.read(name, base);
          Step work = WORK.read(in, base);
          boolean undoes = in.get(onFailure, base);
          return named == null || work == null ? null : work.named(named, undoes);
        }
      };

  /** One of {@code compensate} of a job. */
  public static final Section<Step> COMPENSATION =
      new Section<>("compensate", "What undoes a step: `command` or `call`.", USUAL) {
        private final Key<Step, String> step =
            key("step", stepName(), Step::name, "The name of the step that it undoes.")
                .required("the name of a step");

        {
          include(WORK, each -> each, true);
          rules(EITHER);
        }

        @Override
        public @Nullable Step read(ConfigObject in, Step base) {
          String named = in.read(step, base);
          Step work = WORK.read(in, base);
          return named == null || work == null ? null : work.named(named, false);
        }
      };

  /** {@code verify} of a job. */
  public static final Section<Verification> VERIFY =
      new Section<>(
          "verify",
          "What verifies a task that is done: `command` or `call`.",
          new Verification(USUAL, 100, 0, 3)) {
        private final Key<Verification, Verification> on =
            own(
                "on",
                sample(),
                verification -> verification,
                "Which tasks are verified. `all`; a share such as `1%`, rounded up; or a number. The"
                    + " same ones each time, and spread over the nodes above them.");
        private final Key<Verification, Integer> retries =
            own(
                "retries",
                int32(0),
                Verification::retries,
                "How often a verification that fails is tried again, with the back-off of the job,"
                    + " before the task begins again.");

        {
          include(WORK, Verification::step, true);
          rules(EITHER);
        }

        @Override
        public @Nullable Verification read(ConfigObject in, Verification base) {
          Verification sample = in.get(on, base);
          int again = in.get(retries, base);
          Step work = WORK.read(in, base.step());
          return work == null
              ? null
              : new Verification(
                  work.named(VERIFICATION, false), sample.percent(), sample.count(), again);
        }
      };

  private static ValueType<Verification> sample() {
    return ValueType.of(
        value -> {
          String text = value.text();
          if (text == null) {
            return null;
          }
          Matcher share = SHARE.matcher(text);
          double percent = share.matches() ? Double.parseDouble(share.group(1)) : 0;
          boolean isCount = COUNT.matcher(text).matches();
          if (!text.equals("all") && !isCount && !(percent > 0 && percent <= 100)) {
            value.error(
                "expected \"all\", a share from above \"0%\" to \"100%\", or a number of tasks",
                null);
            return null;
          }
          return isCount
              ? new Verification(USUAL, 0, Integer.parseInt(text), 0)
              : new Verification(USUAL, text.equals("all") ? 100 : percent, 0, 0);
        },
        sample ->
            sample.count() > 0
                ? Json.of(sample.count())
                : sample.percent() == 100
                    ? Json.of("all")
                    : Json.of(Percent.text(sample.percent()).replace(" ", "")),
        "`all`, percentage or number",
        ValueType.anyOf(
            "{'const': 'all'}",
            "{'type': 'string', 'pattern': '^([0-9]{1,3}(\\\\.[0-9]{1,6})?%|[1-9][0-9]{0,8})$'}",
            "{'type': 'integer', 'minimum': 1, 'maximum': 999999999}"));
  }

  private static ValueType<String> stepName() {
    return text(
        NAME,
        "expected up to 64 letters, digits, \"_\", \"-\" and \".\", beginning with a letter or"
            + " digit");
  }

  private static ValueType<Duration> limit() {
    return seconds(0.001, ConfigValue.LONGEST_SECONDS);
  }

  /** Reads the program of a job from its keys. */
  static Program program(
      ConfigObject in,
      Job base,
      Key<Job, List<Step>> steps,
      Key<Job, Boolean> hold,
      Key<Job, Boolean> restart,
      Key<Job, List<Step>> compensate,
      Key<Job, Optional<Verification>> verify) {
    List<Step> forwards = in.get(steps, base);
    boolean holds = in.get(hold, base);
    boolean fromFirst = in.get(restart, base);
    List<Step> undone = in.get(compensate, base);
    ConfigValue listed = in.find(steps);
    if (listed != null && isEmptyList(listed)) {
      listed.error("there is no step", "remove \"steps\", or list at least one");
    }
    Set<String> names = uniqueNames(listed, "name", "there is another step of this name");
    if (listed != null) {
      for (ConfigValue each : members(listed, "name")) {
        if (VERIFICATION.equals(each.text())) {
          each.error(
              "\"verify\" is the step that verifies a task",
              "give the step another name, or use the key \"verify\" of the job");
        }
      }
    }
    ConfigValue compensations = in.find(compensate);
    uniqueNames(compensations, "step", "this step has a compensation already");
    List<Step> inOrder = new ArrayList<>();
    for (Step step : forwards) {
      undone.stream().filter(each -> each.name().equals(step.name())).forEach(inOrder::add);
    }
    if (compensations != null) {
      for (ConfigValue each : members(compensations, "step")) {
        String step = each.text();
        if (step != null && !names.contains(step)) {
          each.error(
              "there is no step \"" + step + "\"",
              names.isEmpty() ? "list it in \"steps\"" : each.didYouMean(names));
        }
      }
    }
    return new Program(forwards, holds, fromFirst, inOrder, in.get(verify, base));
  }

  private static boolean isEmptyList(@Nullable ConfigValue list) {
    return list != null && list.json() instanceof Json.Arr array && array.items().isEmpty();
  }

  /** Returns the values of a key in the objects of a list that have it as a text. */
  private static List<ConfigValue> members(ConfigValue list, String key) {
    List<ConfigValue> found = new ArrayList<>();
    if (list.json() instanceof Json.Arr) {
      List<ConfigValue> items = list.items();
      for (ConfigValue item : items == null ? List.<ConfigValue>of() : items) {
        if (item.json() instanceof Json.Obj object && object.get(key) instanceof Json.Str) {
          found.add(item.member(key));
        }
      }
    }
    return found;
  }

  private static Set<String> uniqueNames(@Nullable ConfigValue list, String key, String objection) {
    Set<String> names = new HashSet<>();
    if (list != null) {
      for (ConfigValue each : members(list, key)) {
        String name = each.text();
        if (name != null && !names.add(name)) {
          each.error(objection, null);
        }
      }
    }
    return names;
  }
}
