package io.espalier.core.config.keys;

import static io.espalier.core.config.keys.ValueType.oneOf;
import static io.espalier.core.config.keys.ValueType.optional;
import static io.espalier.core.config.keys.ValueType.seconds;
import static io.espalier.core.config.keys.ValueType.text;

import io.espalier.core.config.Job;
import io.espalier.core.config.task.CallSpec;
import io.espalier.core.config.task.Program;
import io.espalier.core.config.task.Step;
import io.espalier.core.json.Json;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The keys of the steps of a task (docs/writing-tasks.md#steps). */
public final class StepKeys {
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9_.-]{0,63}");
  private static final Step USUAL =
      new Step("", List.of(), Optional.empty(), false, Optional.empty(), Optional.empty());

  private StepKeys() {}

  /** The keys that steps and compensations have in common. */
  private abstract static class Runnable extends Section<Step> {
    private final Key<Step, String> name;
    private final Key<Step, List<String>> command;
    private final Key<Step, Optional<CallSpec>> call;
    private final Key<Step, Optional<Duration>> timeout;
    private final Key<Step, Optional<Duration>> noOutput;

    Runnable(String section, String description, String nameKey, String nameText) {
      super(section, description, USUAL);
      name =
          key(
                  nameKey,
                  text(
                      NAME,
                      "expected up to 64 letters, digits, \"_\", \"-\" and \".\", beginning with a"
                          + " letter or digit"),
                  Step::name,
                  nameText)
              .required("the name of a step");
      command =
          own("command", JobKeys.command(), Step::command, "What it runs, as `command` of a job.");
      call =
          own(
              "call",
              optional(CallKeys.CALL.type(), CallKeys.CALL.usual()),
              Step::call,
              "The service that it calls instead.");
      timeout =
          own(
              "timeout_sec",
              optional(limit(), Duration.ZERO),
              Step::timeout,
              "Longest time of one run of it; without it, that of the job.");
      noOutput =
          own(
              "no_output_timeout_sec",
              optional(limit(), Duration.ZERO),
              Step::noOutput,
              "Longest silence of one run of it; without it, that of the job.");
      rules("{'oneOf': [{'required': ['command']}, {'required': ['call']}]}");
    }

    private static ValueType<Duration> limit() {
      return seconds(0.001, ConfigValue.LONGEST_SECONDS);
    }

    @Override
    @Nullable Step read(ConfigObject in, Step base) {
      String named = in.read(name, base);
      ConfigValue called = in.find(call);
      List<String> given = in.read(command, base);
      CallSpec spec = in.get(call, base).orElse(null);
      boolean undoes = undoesOnFailure(in, base);
      Optional<Duration> longest = in.get(timeout, base);
      Optional<Duration> silence = in.get(noOutput, base);
      if (called != null && in.has(command)) {
        called.error("it has a command already", "remove \"call\" or \"command\"");
      } else if (called == null && (!in.has(command) || (given != null && given.isEmpty()))) {
        in.value().error("expected \"command\" or \"call\": what it runs", null);
      }
      if (named == null) {
        return null;
      }
      return new Step(
          named,
          given == null ? List.of() : given,
          Optional.ofNullable(spec),
          undoes,
          longest,
          silence);
    }

    boolean undoesOnFailure(ConfigObject in, Step base) {
      return false;
    }
  }

  /** One of {@code steps} of a job. */
  public static final Section<Step> STEP =
      new Runnable(
          "steps",
          "A step of a task: `command` or `call`.",
          "name",
          "Its name, another one for each step; renaming it makes it another step.") {
        private final Key<Step, Boolean> onFailure =
            own(
                "on_failure",
                oneOf(List.of(false, true), undoes -> undoes ? "undo" : "retry"),
                Step::undoesOnFailure,
                "`retry`: the back-off of the job decides; `undo`: a failure fails the task for"
                    + " good, and what was done is compensated.");

        @Override
        boolean undoesOnFailure(ConfigObject in, Step base) {
          return in.get(onFailure, base);
        }
      };

  /** One of {@code compensate} of a job. */
  public static final Section<Step> COMPENSATION =
      new Runnable(
          "compensate",
          "What undoes a step: `command` or `call`.",
          "step",
          "The name of the step that it undoes.") {};

  /** Reads the program of a job from its keys. */
  static Program program(
      ConfigObject in,
      Job base,
      Key<Job, List<Step>> steps,
      Key<Job, Boolean> hold,
      Key<Job, Boolean> restart,
      Key<Job, List<Step>> compensate) {
    List<Step> forwards = in.get(steps, base);
    boolean holds = in.get(hold, base);
    boolean fromFirst = in.get(restart, base);
    List<Step> undone = in.get(compensate, base);
    ConfigValue listed = in.find(steps);
    if (listed != null && isEmptyList(listed)) {
      listed.error("there is no step", "remove \"steps\", or list at least one");
    }
    Set<String> names = uniqueNames(listed, "name", "there is another step of this name");
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
    return new Program(forwards, holds, fromFirst, inOrder);
  }

  private static boolean isEmptyList(ConfigValue list) {
    return list.json() instanceof Json.Arr array && array.items().isEmpty();
  }

  /** Returns the values of a key in the objects of a list that have it as a text. */
  private static List<ConfigValue> members(ConfigValue list, String key) {
    List<ConfigValue> found = new ArrayList<>();
    if (list.json() instanceof Json.Arr) {
      List<ConfigValue> items = list.items();
      for (ConfigValue item : items == null ? List.<ConfigValue>of() : items) {
        if (item.json() instanceof Json.Obj object
            && object.get(key) instanceof Json.Str) {
          found.add(item.member(key));
        }
      }
    }
    return found;
  }

  private static Set<String> uniqueNames(
      @Nullable ConfigValue list, String key, String objection) {
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
