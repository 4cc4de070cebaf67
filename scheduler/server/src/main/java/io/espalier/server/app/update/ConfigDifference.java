package io.espalier.server.app.update;

import io.espalier.core.api.plan.ConfigPlan.Difference;
import io.espalier.core.api.plan.ConfigPlan.JobChange;
import io.espalier.core.api.plan.ConfigPlan.Kind;
import io.espalier.core.config.Config;
import io.espalier.core.config.Job;
import io.espalier.core.json.Json;
import io.espalier.server.config.ConfigEditor;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Compares what was written in two configurations. */
final class ConfigDifference {
  private ConfigDifference() {}

  /** Returns the values of the settings that differ; lists are compared as a whole. */
  static List<Difference> settings(Config before, Config after) {
    List<Difference> found = new ArrayList<>();
    compare(List.of(), before.settings().original(), after.settings().original(), found);
    return found;
  }

  private static void compare(
      List<String> path, @Nullable Json before, @Nullable Json after, List<Difference> found) {
    if (before instanceof Json.Obj old && after instanceof Json.Obj next) {
      TreeSet<String> keys = new TreeSet<>(old.members().keySet());
      keys.addAll(next.members().keySet());
      for (String key : keys) {
        List<String> below = new ArrayList<>(path);
        below.add(key);
        compare(below, old.get(key), next.get(key), found);
      }
    } else if (before == null ? after != null : !before.equals(after)) {
      found.add(new Difference(path, before, after));
    }
  }

  /** Returns the jobs that differ, by name. */
  static List<JobChange> jobs(Config before, Config after) {
    Map<String, JobChange> changes = new TreeMap<>();
    Map<Json.Obj, String> removed = new HashMap<>();
    for (Job job : before.jobs().values()) {
      Job next = after.job(job.name());
      if (next == null) {
        changes.put(job.name(), new JobChange(job.name(), Kind.REMOVED, List.of(), ""));
        removed.putIfAbsent(written(job), job.name());
      } else {
        List<String> keys = keys(written(job), written(next));
        if (!keys.isEmpty()) {
          changes.put(job.name(), new JobChange(job.name(), Kind.CHANGED, keys, ""));
        }
      }
    }
    for (Job job : after.jobs().values()) {
      if (before.job(job.name()) == null) {
        String former = removed.getOrDefault(written(job), "");
        changes.put(job.name(), new JobChange(job.name(), Kind.ADDED, List.of(), former));
      }
    }
    return List.copyOf(changes.values());
  }

  private static Json.Obj written(Job job) {
    return ConfigEditor.unstamped(job.original());
  }

  private static List<String> keys(Json.Obj before, Json.Obj after) {
    TreeSet<String> keys = new TreeSet<>(before.members().keySet());
    keys.addAll(after.members().keySet());
    keys.removeIf(key -> Objects.equals(before.get(key), after.get(key)));
    return List.copyOf(keys);
  }
}
