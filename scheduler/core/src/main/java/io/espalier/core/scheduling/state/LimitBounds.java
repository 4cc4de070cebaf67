package io.espalier.core.scheduling.state;

import io.espalier.core.config.Resource;
import io.espalier.core.config.Settings;
import io.espalier.core.scheduling.capacity.ConfiguredLimits;
import io.espalier.core.scheduling.capacity.LimitTable;
import io.espalier.core.scheduling.capacity.OverLimitTracker;
import io.espalier.core.scheduling.job.JobTable;
import io.espalier.core.status.store.LimitOverride;
import io.espalier.core.topology.Topology;
import java.time.Duration;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What the limits of all nodes are together: the largest and the smallest one of a resource, by
 * configuration or override, which jobs need more than that, and how long usage may exceed it. For
 * the thread of the core; nothing here is asked per start.
 */
public final class LimitBounds {
  private final Topology topology;
  private final JobTable jobs;
  private final LimitTable table;
  private Settings settings;
  private ConfiguredLimits configured;

  /** The jobs that need more than any node has now; null: to be recomputed. */
  private @Nullable BitSet tooLarge;

  /** See {@link #beyondSomeLimit}; null: to be recomputed. */
  private @Nullable BitSet beyondSome;

  /** By resource: the largest limit of any override; null: not yet known. */
  private @Nullable Map<String, Integer> largestOverrides;

  LimitBounds(
      Topology topology,
      JobTable jobs,
      LimitTable table,
      Settings settings,
      ConfiguredLimits configured) {
    this.topology = topology;
    this.jobs = jobs;
    this.table = table;
    this.settings = settings;
    this.configured = configured;
  }

  /** Takes the settings and limits of a configuration; {@link #changed} must follow. */
  void replace(Settings next, ConfiguredLimits nextConfigured) {
    settings = next;
    configured = nextConfigured;
  }

  /** Handles limits, overrides or needs that have changed. */
  void changed() {
    tooLarge = null;
    beyondSome = null;
    largestOverrides = null;
  }

  /** Returns the limits without overrides. */
  ConfiguredLimits configured() {
    return configured;
  }

  /**
   * Returns the largest limit of any node, by configuration or override; it may be a slight
   * overestimate.
   */
  public int largest(Resource resource) {
    return withOverrides(configured.largest(resource.index()), resource);
  }

  private int withOverrides(int largest, Resource resource) {
    Map<String, Integer> known = largestOverrides;
    if (known == null) {
      known = new HashMap<>();
      for (LimitOverride override : table.overrides()) {
        known.merge(override.resource(), override.limit(), Math::max);
      }
      largestOverrides = known;
    }
    return Math.max(largest, known.getOrDefault(resource.name(), largest));
  }

  /** Returns whether a job needs more than any node has now. Takes constant time. */
  boolean isTooLarge(int job) {
    BitSet found = tooLarge;
    if (found == null) {
      found = new BitSet();
      for (Resource resource : settings.resources().all()) {
        int most = mostNow(resource);
        for (int j = 0; j < jobs.count(); j++) {
          if (needs(j, resource) > most) {
            found.set(j);
          }
        }
      }
      tooLarge = found;
    }
    return found.get(job);
  }

  /**
   * Returns the jobs that need more of a resource than the limit of some node is, by configuration
   * or override; there may be a few too many. A resource of which no node has any does not count: a
   * limit of 0 everywhere is a deliberate stop. Takes constant time; must not be modified.
   */
  public BitSet beyondSomeLimit() {
    BitSet found = beyondSome;
    if (found == null) {
      found = new BitSet();
      for (Resource resource : settings.resources().all()) {
        int least = isStop(resource) ? Integer.MAX_VALUE : leastNow(resource);
        for (int j = 0; j < jobs.count(); j++) {
          if (needs(j, resource) > least) {
            found.set(j);
          }
        }
      }
      beyondSome = found;
    }
    return found;
  }

  /** Returns whether no node has any of a resource, which stops all jobs that need it. */
  public boolean isStop(Resource resource) {
    return mostNow(resource) == 0;
  }

  /** Returns the smallest limit of any node; it may be a slight underestimate. */
  private int leastNow(Resource resource) {
    int least = configured.smallest(resource.index());
    if (least < 0) {
      return Integer.MAX_VALUE;
    }
    for (LimitOverride override : table.overrides()) {
      if (override.resource().equals(resource.name())) {
        least = Math.min(least, override.limit());
      }
    }
    return least;
  }

  /**
   * Returns the slots of a node resource that each task of a job needs; 0 for a worker resource.
   */
  public int needs(int job, Resource resource) {
    return resource.level() < topology.levels().worker() && resource.level() <= jobs.levels[job]
        ? jobs.needs[job][resource.index()]
        : 0;
  }

  /**
   * Returns the largest limit in effect on any node. It is like {@link #largest}, except that the
   * override of a whole level may lower it; {@link Integer#MAX_VALUE}: there are no nodes.
   */
  private int mostNow(Resource resource) {
    int largest = configured.largest(resource.index());
    if (largest < 0) {
      return Integer.MAX_VALUE;
    }
    String level = topology.levels().name(resource.level());
    LimitOverride all = table.ofLevel(level, resource.name());
    return withOverrides(all == null ? largest : all.limit(), resource);
  }

  /**
   * Returns how long usage may exceed the limit of a resource before tasks are killed; -1: forever.
   */
  public long killAfterMillis(Resource resource) {
    Duration after = settings.rules().killOverLimit().get(resource.name());
    return after == null ? -1 : after.toMillis();
  }

  /**
   * Returns when the first tasks must be killed because usage exceeds a limit; {@link
   * Long#MAX_VALUE}: none.
   */
  public long nextKillMillis(OverLimitTracker over) {
    long next = Long.MAX_VALUE;
    if (!over.isEmpty() && !settings.rules().killOverLimit().isEmpty()) {
      for (Resource resource : settings.resources().all()) {
        long delay = killAfterMillis(resource);
        long first = over.first(resource.index());
        if (delay >= 0 && first != Long.MAX_VALUE) {
          next = Math.min(next, first + delay);
        }
      }
    }
    return next;
  }
}
