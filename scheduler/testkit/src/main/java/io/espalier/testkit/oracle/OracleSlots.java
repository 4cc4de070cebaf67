package io.espalier.testkit.oracle;

import io.espalier.core.config.Resource;
import io.espalier.core.scheduling.capacity.HealthLimit;
import io.espalier.core.scheduling.capacity.LimitFactor;
import io.espalier.core.scheduling.capacity.RunningCap;
import io.espalier.core.scheduling.gate.Scope;
import io.espalier.core.status.store.LimitOverride;
import io.espalier.testkit.oracle.Oracle.Place;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** What operators, factors and health make of the configured limits, and the caps of jobs. */
public final class OracleSlots {
  private final Oracle oracle;
  private final Map<LimitOverride.Key, Integer> overrides = new HashMap<>();
  private final Map<String, LimitFactor> factors = new TreeMap<>();
  private final Map<LimitOverride.Key, Integer> health = new HashMap<>();
  private final Map<String, RunningCap> caps = new TreeMap<>();

  OracleSlots(Oracle oracle) {
    this.oracle = oracle;
  }

  /** Overrides the limit of a node, or of its whole level if the node is empty. */
  public void override(LimitOverride.Key key, @Nullable Integer limit) {
    if (limit == null) {
      overrides.remove(key);
    } else {
      overrides.put(key, limit);
    }
    oracle.overLimits().changed();
  }

  /**
   * Sets or removes a factor.
   *
   * @param factor null: removes it
   */
  public void factor(String id, @Nullable LimitFactor factor) {
    if (factor == null) {
      factors.remove(id);
    } else {
      factors.put(id, factor);
    }
  }

  /**
   * Sets or removes what health leaves of a limit.
   *
   * @param limit null: removes it, without a node for all nodes of the level
   */
  public void health(LimitOverride.Key key, @Nullable Integer limit) {
    if (limit != null) {
      health.put(key, limit);
    } else if (key.node().isEmpty()) {
      health.keySet().removeIf(each -> each.resource().equals(key.resource()));
    } else {
      health.remove(key);
    }
  }

  /** Sets whether a worker has no room for another start in flight. */
  public void starting(String shard, boolean isFull) {
    oracle.pool().starting(shard, isFull);
  }

  /**
   * Sets or removes a cap of a job or queue.
   *
   * @param cap null: removes it
   */
  public void cap(String id, @Nullable RunningCap cap) {
    if (cap == null) {
      caps.remove(id);
    } else {
      caps.put(id, cap);
    }
  }

  /** Returns the smallest cap of a job or queue; {@link Integer#MAX_VALUE}: it has none. */
  int cap(Scope scope) {
    return caps.values().stream()
        .filter(cap -> cap.scope().equals(scope))
        .mapToInt(RunningCap::most)
        .min()
        .orElse(Integer.MAX_VALUE);
  }

  /** Returns the limit with overrides, factors and health applied. */
  int limit(Place place, Resource resource, int configured) {
    int base = base(place, resource, configured);
    int least = base;
    for (LimitFactor factor : factors.values()) {
      if (factor.concerns(resource.name()) && isIn(place, factor.scope())) {
        BigDecimal share = BigDecimal.valueOf(factor.millionths(), 6);
        BigDecimal left = BigDecimal.valueOf(base).multiply(share);
        least = Math.min(least, left.setScale(0, RoundingMode.CEILING).intValueExact());
      }
    }
    return Math.min(least, health(place, resource.name()));
  }

  /** Returns what health leaves on a node of the limit of this name. */
  int health(Place place, String name) {
    Integer ofNode = health.get(new LimitOverride.Key(place.level(), name, place.node()));
    return ofNode != null
        ? ofNode
        : health.getOrDefault(new LimitOverride.Key(place.level(), name, ""), HealthLimit.WHOLE);
  }

  /** Returns whether a node is in a scope, by any of its paths. */
  private boolean isIn(Place place, Scope scope) {
    return switch (scope.kind()) {
      case ALL -> true;
      case LEVEL -> place.level().equals(scope.level());
      case NODE ->
          oracle.tree().paths(oracle.tree().find(place)).stream()
              .flatMap(List::stream)
              .map(oracle.tree()::placeOf)
              .anyMatch(new Place(scope.level(), scope.name())::equals);
      case JOB, JOB_ON_NODE, QUEUE, WORKER -> false;
    };
  }

  int base(Place place, Resource resource, int configured) {
    String level = place.level();
    Integer ofNode = overrides.get(new LimitOverride.Key(level, resource.name(), place.node()));
    Integer ofLevel = overrides.get(new LimitOverride.Key(level, resource.name(), ""));
    return ofNode != null ? ofNode : ofLevel != null ? ofLevel : configured;
  }
}
