package io.espalier.testkit.cluster;

import io.espalier.core.json.Json;
import io.espalier.core.protocol.RunId;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.status.TaskKey;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * What is known of the steps of tasks: no step begins before the one before it has ended, and none
 * runs again after its end was acknowledged, unless its task was compensated or commanded to run
 * again, or begins with the first step. Steps are named by one letter each, in order, from {@code
 * a} on.
 */
final class SimulatedSteps {
  private static final String COMPENSATION = "compensate ";
  private static final String FIRST = "a";

  /** Jobs whose attempts begin with the first step. */
  private final Predicate<String> restarts;

  private final Map<RunId, String> steps = new HashMap<>();
  private final Map<TaskKey, Set<String>> ended = new HashMap<>();

  /** The same over all attempts that began with the first step. */
  private final Map<TaskKey, Set<String>> everEnded = new HashMap<>();

  private final Map<TaskKey, Set<String>> acknowledged = new HashMap<>();

  SimulatedSteps(Predicate<String> restarts) {
    this.restarts = restarts;
  }

  /** Returns the step of a launch, such as {@code a} or {@code compensate a}; empty: none. */
  static String of(LaunchSpec launch) {
    if (!(launch.argument().get("step") instanceof Json.Str step)) {
      return "";
    }
    boolean undoes = Json.of("compensate").equals(launch.argument().get("phase"));
    return (undoes ? COMPENSATION : "") + step.value();
  }

  /** Returns whether an invocation was of a step before another one. */
  boolean isBefore(RunId run, String step) {
    String own = of(run);
    return isStep(own) && own.compareTo(step) < 0;
  }

  String of(RunId run) {
    return steps.getOrDefault(run, "");
  }

  /** A step has begun; returns what is wrong with that, or null. */
  @Nullable String started(TaskKey task, RunId run, String step) {
    if (step.isEmpty()) {
      return null;
    }
    steps.put(run, step);
    if (step.startsWith(COMPENSATION)) {
      acknowledged.remove(task);
      return null;
    }
    if (!isStep(step)) {
      return null;
    }
    if (step.equals(FIRST) && restarts.test(task.job())) {
      // All that follows it is done again, in order.
      acknowledged.remove(task);
      ended.remove(task);
    }
    if (acknowledged.getOrDefault(task, Set.of()).contains(step)) {
      return "step " + step + " runs again after its end was acknowledged: " + run;
    }
    char before = (char) (step.charAt(0) - 1);
    return before >= 'a' && !ended.getOrDefault(task, Set.of()).contains(String.valueOf(before))
        ? "step " + step + " begins before the one before it has ended: " + run
        : null;
  }

  private static boolean isStep(String name) {
    return name.length() == 1;
  }

  void died(RunId run, boolean done) {
    String step = of(run);
    if (done && !step.isEmpty()) {
      TaskKey task = new TaskKey(run.job(), run.node());
      ended.computeIfAbsent(task, key -> new HashSet<>()).add(step);
      everEnded.computeIfAbsent(task, key -> new HashSet<>()).add(step);
    }
  }

  void acknowledged(RunId run, boolean done) {
    String step = of(run);
    if (done && !step.isEmpty() && !step.startsWith(COMPENSATION)) {
      acknowledged
          .computeIfAbsent(new TaskKey(run.job(), run.node()), task -> new HashSet<>())
          .add(step);
    }
  }

  /** An operator has acted on a task, or what was stored of it is gone. */
  void restart(TaskKey task) {
    acknowledged.remove(task);
  }

  void restart(String job) {
    acknowledged.keySet().removeIf(task -> task.job().equals(job));
  }

  /** A store is lost, or set back: a task goes on after a step that ended in an earlier attempt. */
  void restart() {
    acknowledged.clear();
    everEnded.forEach((task, steps) -> ended.put(task, new HashSet<>(steps)));
  }
}
