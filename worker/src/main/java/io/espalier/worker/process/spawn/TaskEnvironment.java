package io.espalier.worker.process.spawn;

import io.espalier.core.config.task.TaskVariables;
import io.espalier.core.json.Json;
import io.espalier.core.running.InvocationLimits;
import io.espalier.core.running.LaunchSpec;
import io.espalier.worker.process.os.TaskUser;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The environment of tasks: a few well-known variables of ours, the variables of the job, and
 * {@code ESPALIER_TASK_*}. Everything else, above all secrets and {@code ESPALIER_*} flags, stays
 * with us (docs/design/design.md#names-of-jobs-in-paths).
 */
public final class TaskEnvironment {
  /** Variables that are passed on, besides all that begin with {@code LC_}. */
  public static final Set<String> HANDED_ON =
      Set.of("PATH", "HOME", "LANG", "LANGUAGE", "TZ", "TMPDIR", "USER", "LOGNAME", "SHELL");

  /** The variable with the cookie of the supervisor, by which its tasks' processes are found. */
  public static final String COOKIE_VARIABLE = "ESPALIER_TASK_COOKIE";

  /** The variable with the invocation, by which the processes of one task are found. */
  public static final String INVOCATION_VARIABLE = "ESPALIER_TASK_INVOCATION";

  private static final String DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin";

  private final Map<String, String> ours;
  private final Map<String, String> base = new TreeMap<>();

  public TaskEnvironment(Map<String, String> ours) {
    this.ours = Map.copyOf(ours);
    ours.forEach(
        (name, value) -> {
          if (HANDED_ON.contains(name) || name.startsWith("LC_")) {
            base.put(name, value);
          }
        });
    base.putIfAbsent("PATH", DEFAULT_PATH);
  }

  /**
   * Returns what a task sees besides {@code ESPALIER_TASK_*}. A {@code command[0]} that is a bare
   * word is also searched for in its {@code PATH}.
   *
   * @param user the user it becomes; null: no other user
   */
  public Map<String, String> variables(TaskVariables wanted, @Nullable TaskUser user) {
    Map<String, String> variables = new TreeMap<>(base);
    if (!wanted.passed().isEmpty()) {
      ours.forEach(
          (name, value) -> {
            if (wanted.passes(name)) {
              variables.put(name, value);
            }
          });
    }
    if (user != null) {
      variables.put("USER", user.name());
      variables.put("LOGNAME", user.name());
      variables.put("HOME", user.home());
      variables.remove("SHELL");
    }
    variables.putAll(wanted.set());
    return variables;
  }

  /**
   * Returns the entries {@code NAME=VALUE}.
   *
   * @param variables result of {@link #variables}
   * @param cookie value that identifies survivors
   * @param statusPath path for the status line
   * @param nowMillis time of the start, for its deadline
   * @param batchFile the file of the batch that begins with this task; null: it is alone. What
   *     differs between the tasks of a batch is in the file
   */
  public static List<String> of(
      LaunchSpec launch,
      Map<String, String> variables,
      String cookie,
      String statusPath,
      long nowMillis,
      @Nullable Path batchFile) {
    List<String> entries = new ArrayList<>();
    variables.forEach((name, value) -> entries.add(name + "=" + value));
    entries.add("ESPALIER_TASK_JOB=" + launch.job());
    if (batchFile == null) {
      addOwn(launch, entries);
    } else {
      entries.add("ESPALIER_TASK_BATCH=" + batchFile);
    }
    entries.add(INVOCATION_VARIABLE + "=" + invocationId(launch));
    entries.add("ESPALIER_TASK_STATUS_FILE=" + statusPath);
    entries.add(COOKIE_VARIABLE + "=" + cookie);
    InvocationLimits limits = launch.limits();
    long deadline = batchFile == null ? deadlineMillis(limits, nowMillis) : limits.deadlineMillis();
    if (deadline > 0) {
      // Seconds, rounded down, as all times that tasks see.
      entries.add("ESPALIER_TASK_DEADLINE=" + deadline / 1000);
    }
    return entries;
  }

  /** Adds what is true of this task only. */
  private static void addOwn(LaunchSpec launch, List<String> entries) {
    entries.add("ESPALIER_TASK_NODE=" + launch.node());
    if (launch.argument().get("role") instanceof Json.Str role) {
      entries.add("ESPALIER_TASK_ROLE=" + role.value());
    }
    entries.add("ESPALIER_TASK_PARENT=" + parent(launch));
    entries.add("ESPALIER_TASK_ATTEMPT=" + launch.attempt());
    entries.add("ESPALIER_TASK_TOKEN=" + launch.invocation().token());
  }

  /**
   * Returns the node above its own on the path on which it runs; empty for the instance's own task.
   */
  private static String parent(LaunchSpec launch) {
    if (launch.argument().get("path_to_node") instanceof Json.Arr path
        && path.items().size() > 1
        && path.items().get(path.items().size() - 2) instanceof Json.Str parent) {
      return parent.value();
    }
    return "";
  }

  /** Returns when it is stopped at the latest, as far as is known at its start; 0: never. */
  private static long deadlineMillis(InvocationLimits limits, long nowMillis) {
    long byTimeout = limits.timeoutMillis() > 0 ? nowMillis + limits.timeoutMillis() : 0;
    long byDeadline = limits.deadlineMillis();
    return byTimeout == 0 || byDeadline == 0
        ? Math.max(byTimeout, byDeadline)
        : Math.min(byTimeout, byDeadline);
  }

  /** Returns an id that is unique across restarts: the token and the time of the decision. */
  public static String invocationId(LaunchSpec launch) {
    return launch.invocation().token() + "." + launch.invocation().startMillis();
  }
}
