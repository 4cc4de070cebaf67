package io.espalier.core.loop.rollout;

import io.espalier.core.config.Job;
import io.espalier.core.config.rollout.RolloutSpec;
import io.espalier.core.config.task.TaskVariables;
import io.espalier.core.json.Json;
import io.espalier.core.rollout.RolloutOrder;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Whether a changed job begins its stages again. */
final class RolloutFingerprint {
  private RolloutFingerprint() {}

  /** Returns a number for what the tasks of a job run, and in which stages. */
  static long of(Job job, RolloutSpec spec) {
    StringBuilder text = new StringBuilder();
    for (String key : List.of("command", "call", "steps", "compensate", "config")) {
      text.append(key).append('=').append(job.original().get(key)).append('\n');
    }
    text.append(job.original().get("task_subprocess")).append('\n');
    text.append(inherited(job));
    spec.stages().forEach(stage -> text.append(stage.text()).append(' '));
    text.append(spec.spread().orElse(-1));
    return RolloutOrder.hash(job.name(), text.toString());
  }

  /** Returns the variables of its tasks that a job has from the settings; empty: none. */
  private static String inherited(Job job) {
    Json own = job.original().get("task_subprocess");
    Json.Obj said = own instanceof Json.Obj object ? object : Json.Obj.EMPTY;
    TaskVariables all = job.subprocess().variables();
    List<String> passed = said.get("pass_environment") == null ? all.passed() : List.of();
    Map<String, String> set = new TreeMap<>(all.set());
    if (said.get("environment") instanceof Json.Obj environment) {
      set.keySet().removeAll(environment.members().keySet());
    }
    return passed.isEmpty() && set.isEmpty() ? "" : passed + " " + set + "\n";
  }
}
