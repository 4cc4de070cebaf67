package io.espalier.core.config.read;

import io.espalier.core.config.JobScheduling;
import io.espalier.core.config.QueueSpec;
import io.espalier.core.config.RoleFilter;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;

/** Parses the scheduling options of a job. */
final class JobSchedulingParser {
  private static final String MAX_CONCURRENT = "max_concurrent";

  private JobSchedulingParser() {}

  /**
   * Parses the options of a job, or of the settings' defaults.
   *
   * @param queues configured queues
   */
  static JobScheduling read(ConfigObject in, JobScheduling inherited, List<QueueSpec> queues) {
    return new JobScheduling(
        QueuesParser.readQueue(in, inherited.queue(), queues),
        maxConcurrent(in, inherited.maxConcurrent()),
        in.knows("start_rate") ? StartRateParser.ofJob(in) : inherited.startRate(),
        ReserveAfterParser.read(in, inherited.reserveAfter()),
        roles(in, inherited.roles()));
  }

  private static List<String> roles(ConfigObject in, List<String> inherited) {
    // Only jobs have roles; the settings' defaults do not.
    ConfigValue value = in.knows("roles") ? in.find("roles") : null;
    List<ConfigValue> items = value == null ? null : value.items();
    if (items == null) {
      return inherited;
    }
    Set<String> roles = new LinkedHashSet<>();
    for (ConfigValue item : items) {
      String role = item.text();
      String objection = role == null ? null : RoleFilter.objection(role);
      if (objection != null) {
        item.error("a role " + objection, null);
      } else if (role != null) {
        roles.add(role);
      }
    }
    return List.copyOf(roles);
  }

  /** Parses the limit of a job; {@code false} means unlimited. */
  private static int maxConcurrent(ConfigObject in, int inherited) {
    if (!in.knows(MAX_CONCURRENT)) {
      return inherited;
    }
    OptionalInt most = in.limit(MAX_CONCURRENT, OptionalInt.empty(), 1, Integer.MAX_VALUE);
    return most.orElse(0);
  }
}
