package io.espalier.core.forecast;

import io.espalier.core.api.view.JobEta.Kind;
import io.espalier.core.config.Resource;
import org.jspecify.annotations.Nullable;

/**
 * A place where tasks of a job wait.
 *
 * @param node -1: it is no node
 * @param level the name of the node's level, or of that of the group's members; empty: neither
 * @param name the queue, the group with its kind, or {@code quarantine}; empty: none of them
 * @param resource null: it is not slots of a resource that are limited
 * @param limit in effect
 * @param slots how many tasks of the job may run there at once, at least 1
 * @param deviationMillis the standard deviation of the time that the work there takes
 */
record EtaPlace(
    Kind kind,
    int node,
    String level,
    String name,
    @Nullable Resource resource,
    double limit,
    double slots,
    double deviationMillis) {
  EtaPlace {
    slots = Math.max(1, slots);
  }

  /** Creates a place that limits all tasks of the job, wherever they are. */
  static EtaPlace ofJob(Kind kind, double limit) {
    return new EtaPlace(kind, -1, "", "", null, limit, limit, 0);
  }

  /** Returns whether starts are limited, and not what runs at once. */
  boolean isRate() {
    return kind == Kind.START_RATE || kind == Kind.LEVEL_START_RATE;
  }
}
