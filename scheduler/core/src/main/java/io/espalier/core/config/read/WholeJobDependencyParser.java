package io.espalier.core.config.read;

import io.espalier.core.config.WholeJobDependency;
import io.espalier.core.json.Json;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Parses {@code run_only_after_all_nodes_are_done_for}: names of jobs, or objects with more
 * details.
 */
public final class WholeJobDependencyParser {
  public static final String KEY = "run_only_after_all_nodes_are_done_for";

  private WholeJobDependencyParser() {}

  static List<WholeJobDependency> read(ConfigObject in) {
    ConfigValue value = in.find(KEY);
    List<ConfigValue> items = value == null ? null : value.items();
    if (items == null) {
      return List.of();
    }
    Set<WholeJobDependency> jobs = new LinkedHashSet<>();
    for (ConfigValue item : items) {
      WholeJobDependency job = one(item);
      if (job != null) {
        jobs.add(job);
      }
    }
    return new ArrayList<>(jobs);
  }

  private static @Nullable WholeJobDependency one(ConfigValue item) {
    if (!(item.json() instanceof Json.Obj)) {
      String name = item.text();
      return name == null ? null : WholeJobDependency.of(name);
    }
    ConfigObject in = item.fields(ConfigSection.WHOLE_JOB);
    if (in == null) {
      return null;
    }
    ConfigValue job = in.require("job", "the name of the job to wait for");
    String name = job == null ? null : job.text();
    double percent = in.number("done_percent", 100, 0, 100);
    ConfigValue given = in.find("done_percent");
    if (given != null && percent == 0) {
      given.error("0 % is nothing to wait for, expected a number above 0", null);
    }
    List<String> tags = in.texts("tags", List.of());
    return name == null ? null : new WholeJobDependency(name, percent, tags);
  }
}
