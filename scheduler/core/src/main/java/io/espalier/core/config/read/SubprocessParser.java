package io.espalier.core.config.read;

import io.espalier.core.config.CgroupLimits;
import io.espalier.core.config.KillRequest;
import io.espalier.core.config.SubprocessOptions;
import io.espalier.core.config.SubprocessOptions.Cgroups;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/** Parses {@code task_subprocess} and {@code kill_subprocess}; each key is inherited separately. */
final class SubprocessParser {
  private static final int LAST_SIGNAL = 64;
  // The largest number that can be expressed in bytes.
  private static final long MOST_MB = 1L << 40;
  private static final int MOST_WEIGHT = 10_000;
  private static final int MOST_PERCENT = 1_000_000;
  // The largest possible kernel.pid_max.
  private static final int MOST_PIDS = 1 << 22;
  private static final Pattern SUBSYSTEM = Pattern.compile("[A-Za-z0-9_,=-]+");

  private SubprocessParser() {}

  static SubprocessOptions read(ConfigObject in, SubprocessOptions inherited) {
    ConfigValue value = in.find("task_subprocess");
    ConfigObject fields = value == null ? null : value.fields(ConfigSection.TASK_SUBPROCESS);
    if (fields == null) {
      return inherited;
    }
    return new SubprocessOptions(
        fields.int32("poll_ms", inherited.pollMillis(), Integer.MIN_VALUE),
        fields.int32(
            "max_log_lines_per_poll_interval",
            inherited.maxLogLinesPerPollInterval(),
            Integer.MIN_VALUE),
        signal(fields, inherited.parentDeathSignal()),
        fields.bool("process_group_leader", inherited.processGroupLeader()),
        fields.bool("use_canary_pipe", inherited.useCanaryPipe()),
        cgroups(fields, inherited.cgroups()),
        ProcessAttributesParser.read(fields, inherited.attributes()),
        TaskVariablesParser.read(fields, inherited.variables()),
        limits(fields, inherited.limits()));
  }

  private static int signal(ConfigObject fields, int inherited) {
    ConfigValue value = fields.find("parent_death_signal");
    Integer signal = value == null ? null : value.int32(0);
    if (value == null || signal == null) {
      return inherited;
    }
    if (signal > LAST_SIGNAL) {
      value.warning("there is no such signal, they go from 1 to " + LAST_SIGNAL, null);
    }
    return signal;
  }

  private static Cgroups cgroups(ConfigObject in, Cgroups inherited) {
    ConfigValue value = in.find("cgroups");
    ConfigObject fields = value == null ? null : value.fields(ConfigSection.CGROUPS);
    if (fields == null) {
      return inherited;
    }
    return new Cgroups(
        path(fields, "root", inherited.root()),
        path(fields, "slice", inherited.slice()),
        subsystems(fields, inherited.subsystems()),
        fields.bool("kill_without_freezer", inherited.killWithoutFreezer()));
  }

  private static CgroupLimits limits(ConfigObject in, CgroupLimits inherited) {
    ConfigValue value = in.find("cgroup_limits");
    ConfigObject fields = value == null ? null : value.fields(ConfigSection.CGROUP_LIMITS);
    if (fields == null) {
      return inherited;
    }
    Map<String, Boolean> enforce = new LinkedHashMap<>();
    enforce.put(CgroupLimits.REQUIRED, true);
    enforce.put(CgroupLimits.IF_AVAILABLE, false);
    return new CgroupLimits(
        fields.limit("memory_mb", inherited.memoryMb(), 1, MOST_MB),
        fields.limit("memory_swap_mb", inherited.memorySwapMb(), 0, MOST_MB),
        fields.limit("cpu_weight", inherited.cpuWeight(), 1, MOST_WEIGHT),
        fields.limit("cpu_quota_percent", inherited.cpuQuotaPercent(), 1, MOST_PERCENT),
        fields.limit("pids_max", inherited.pidsMax(), 1, MOST_PIDS),
        fields.limit("io_weight", inherited.ioWeight(), 1, MOST_WEIGHT),
        fields.oneOf("enforce", inherited.required(), enforce));
  }

  private static String path(ConfigObject fields, String key, String inherited) {
    ConfigValue value = fields.find(key);
    String path = value == null ? null : value.text();
    if (value == null || path == null) {
      return inherited;
    }
    if (List.of(path.split("/")).contains("..") || hasControls(path)) {
      value.error("a path must not hold \"..\" or control characters", null);
      return inherited;
    }
    return path;
  }

  private static List<String> subsystems(ConfigObject fields, List<String> inherited) {
    ConfigValue value = fields.find("subsystems");
    List<ConfigValue> items = value == null ? null : value.items();
    if (items == null) {
      return inherited;
    }
    List<String> names = new ArrayList<>();
    for (ConfigValue item : items) {
      String name = item.text();
      if (name != null && !SUBSYSTEM.matcher(name).matches()) {
        item.error("expected the name of a cgroup subsystem, such as \"freezer\"", null);
      } else if (name != null) {
        names.add(name);
      }
    }
    return names;
  }

  static boolean hasControls(String text) {
    return text.chars().anyMatch(Character::isISOControl);
  }

  static KillRequest readKill(ConfigObject in, KillRequest inherited) {
    ConfigValue value = in.find("kill_subprocess");
    ConfigObject fields = value == null ? null : value.fields(ConfigSection.KILL_SUBPROCESS);
    if (fields == null) {
      return inherited;
    }
    Map<String, KillRequest.Method> methods = new LinkedHashMap<>();
    for (KillRequest.Method method : KillRequest.Method.values()) {
      methods.put(method.label(), method);
    }
    return new KillRequest(
        fields.oneOf("method", inherited.method(), methods),
        fields.int32("kill_wait_ms", inherited.waitMillis(), Integer.MIN_VALUE));
  }

  /** Parses {@code kill_orphan_tasks_after_sec}. */
  static Optional<Duration> readKillOrphans(ConfigObject in, Optional<Duration> inherited) {
    ConfigValue value = in.find("kill_orphan_tasks_after_sec");
    return value == null ? inherited : value.killOrphansAfter(inherited);
  }
}
