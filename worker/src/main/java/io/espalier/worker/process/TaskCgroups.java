package io.espalier.worker.process;

import io.espalier.core.config.task.CgroupLimits;
import io.espalier.core.config.task.SubprocessOptions.Cgroups;
import io.espalier.core.running.LaunchSpec;
import io.espalier.worker.cgroup.CgroupFactory;
import io.espalier.worker.cgroup.CgroupHost;
import io.espalier.worker.cgroup.TaskGroup;
import io.espalier.worker.process.os.FileNames;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides which tasks get control groups, where and under which names, and how to handle a limit
 * that cannot be set. Confined to the supervisor's thread.
 */
final class TaskCgroups implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(TaskCgroups.class);
  private static final DateTimeFormatter START =
      DateTimeFormatter.ofPattern("yyyyMMddHHmmss", Locale.ROOT).withZone(ZoneOffset.UTC);

  private final CgroupHost host;
  private final String shard;
  private final SplittableRandom random;
  private final Map<Cgroups, CgroupFactory> configured = new HashMap<>();
  private final Set<String> warned = new HashSet<>();
  private @Nullable CgroupFactory automatic;

  /**
   * The groups and limits that a task got.
   *
   * @param group null: none
   * @param unmet requested limits that are not in force, each with the cause
   */
  record Made(@Nullable TaskGroup group, boolean killsStrays, List<String> unmet) {}

  TaskCgroups(CgroupHost host, String shard, long seed) {
    this.host = host;
    this.shard = FileNames.encode(shard);
    this.random = new SplittableRandom(seed);
  }

  /** Returns what tasks of this host must do without, for people; empty: nothing. */
  static String limitation(CgroupHost host) {
    boolean usable = host.hierarchies().stream().anyMatch(h -> Files.isWritable(h.own()));
    if (usable) {
      return "";
    }
    return "this host offers no control groups that we may use ("
        + (host.hierarchies().isEmpty()
            ? "none are mounted"
            : "none of " + host.hierarchies().stream().map(h -> h.own()).toList() + " is writable")
        + "): cgroup_limits are not enforced, jobs with \"enforce\": \"required\" are refused, and"
        + " processes that leave the session of their task are found by their environment only";
  }

  /**
   * Returns the groups of a task; null when it needs none.
   *
   * @throws IOException when groups or limits that it needs are not available
   */
  @Nullable Made make(LaunchSpec launch) throws IOException {
    Cgroups options = launch.subprocess().cgroups();
    CgroupLimits limits = launch.subprocess().limits();
    if (options.subsystems().isEmpty() && limits.isEmpty()) {
      return null;
    }
    CgroupFactory site;
    if (!options.subsystems().isEmpty()) {
      site = configured.get(options);
      if (site == null || !site.problems().isEmpty()) {
        // A missing directory may have been created meanwhile.
        site = CgroupFactory.configured(options, host);
        configured.put(options, site);
      }
    } else {
      site = automatic();
    }
    CgroupFactory.Made made = site.create(name(launch), limits);
    if (!made.unmet().isEmpty()) {
      if (limits.required()) {
        List<String> unused = made.group().remove();
        throw new IOException(
            "limits that the job requires cannot be set: "
                + String.join("; ", made.unmet())
                + (unused.isEmpty() ? "" : "; " + String.join("; ", unused)));
      }
      String unmet = String.join("; ", made.unmet());
      if (warned.add(launch.job() + " " + unmet)) {
        log.warn("job {}: limits not set, {}", launch.job(), unmet);
      }
    }
    TaskGroup group = made.group().paths().isEmpty() ? null : made.group();
    return new Made(group, site.killsStrays(), made.unmet());
  }

  private CgroupFactory automatic() {
    if (automatic == null) {
      automatic = CgroupFactory.automatic(host);
      automatic.problems().forEach(problem -> log.warn("control groups: {}", problem));
    }
    return automatic;
  }

  /**
   * Returns the name of a control group (docs/design/bistro.md#control-groups); random enough that
   * workers with the same host and name do not collide.
   */
  private String name(LaunchSpec launch) {
    return shard
        + ":"
        + START.format(Instant.ofEpochMilli(launch.invocation().startMillis()))
        + ":"
        + Long.toHexString(random.nextLong())
        + ":"
        + ProcessHandle.current().pid();
  }

  @Override
  public void close() {
    if (automatic != null) {
      automatic.close();
    }
  }
}
