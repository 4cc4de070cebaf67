package io.espalier.worker.process;

import io.espalier.core.running.Launch;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * The environment of tasks: a few well-known variables of ours, and {@code ESPALIER_TASK_*}.
 * Everything else, secrets and {@code ESPALIER_*} flags above all, stays with us (defect L23).
 */
public final class TaskEnvironment {
  /** Variables that are handed on; besides them everything that begins with {@code LC_}. */
  public static final Set<String> HANDED_ON =
      Set.of("PATH", "HOME", "LANG", "LANGUAGE", "TZ", "TMPDIR", "USER", "LOGNAME", "SHELL");

  private static final String DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin";

  private final String path;
  private final List<String> base;

  public TaskEnvironment(Map<String, String> ours) {
    Map<String, String> kept = new TreeMap<>();
    ours.forEach(
        (name, value) -> {
          if (HANDED_ON.contains(name) || name.startsWith("LC_")) {
            kept.put(name, value);
          }
        });
    kept.putIfAbsent("PATH", DEFAULT_PATH);
    this.path = kept.getOrDefault("PATH", DEFAULT_PATH);
    this.base = kept.entrySet().stream().map(e -> e.getKey() + "=" + e.getValue()).toList();
  }

  /** The search path of tasks, also used to find a {@code command[0]} that is a bare word. */
  String path() {
    return path;
  }

  /**
   * Entries {@code NAME=VALUE}.
   *
   * @param cookie by which survivors are recognised
   * @param statusPath where the status line goes
   */
  List<String> of(Launch launch, String cookie, String statusPath) {
    List<String> variables = new ArrayList<>(base);
    variables.add("ESPALIER_TASK_JOB=" + launch.job());
    variables.add("ESPALIER_TASK_NODE=" + launch.node());
    variables.add("ESPALIER_TASK_ATTEMPT=" + launch.attempt());
    variables.add(Survivors.INVOCATION_VARIABLE + "=" + invocationId(launch));
    variables.add("ESPALIER_TASK_TOKEN=" + launch.invocation().token());
    variables.add("ESPALIER_TASK_STATUS_FILE=" + statusPath);
    variables.add(Survivors.COOKIE_VARIABLE + "=" + cookie);
    return variables;
  }

  /** Unique over restarts: the token and the time of the decision. */
  static String invocationId(Launch launch) {
    return launch.invocation().token() + "." + launch.invocation().startMillis();
  }
}
