package io.espalier.core.scheduling;

import io.espalier.core.scheduling.capacity.HealthLimit;
import io.espalier.core.scheduling.capacity.LimitFactor;
import io.espalier.core.scheduling.capacity.RunningCap;
import io.espalier.core.scheduling.update.LiveState;
import io.espalier.core.status.store.LimitOverride;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.Consumer;

/**
 * Changes limits while the core runs: overrides, factors, what health leaves, and caps of running
 * tasks. None of them kills a task.
 *
 * <p>{@link SchedulingCore#limits} returns it; use it on the thread of the core.
 */
public final class LimitChanges {
  private final LiveState live;
  private final Consumer<CoreEvent> recorder;

  LimitChanges(LiveState live, Consumer<CoreEvent> recorder) {
    this.live = live;
    this.recorder = recorder;
  }

  /**
   * Overrides the configured limit of a resource, on one node or on all nodes of a level that have
   * no override of their own. It replaces an older override of the same target. It kills no task:
   * where usage exceeds the new limit, tasks that need the resource do not start until usage falls.
   * An override of an unknown level, resource or node is kept until the target exists. {@link
   * SchedulingCore#stepLimits} must follow.
   */
  public void override(LimitOverride override) {
    live.state().limitTable.put(override);
    live.overrideChanged(override.key());
    recorder.accept(new CoreEvent.Overridden(override));
  }

  /** Ends an override; {@link SchedulingCore#stepLimits} must follow. */
  public void endOverride(LimitOverride.Key key) {
    live.state().limitTable.removeOverride(key);
    live.overrideChanged(key);
    recorder.accept(new CoreEvent.OverrideEnded(key));
  }

  /**
   * Lowers limits to a share of themselves; it replaces an older factor of the same id. It kills no
   * task, and usage beyond what is left is not over the limit. A factor for an unknown level or
   * node is kept until that exists. The caller must remove it at its end. {@link
   * SchedulingCore#stepLimits} must follow.
   */
  public void setFactor(LimitFactor factor) {
    setFactors(List.of(factor));
  }

  /** Does what {@link #setFactor} does for each; costs one pass over all factors. */
  public void setFactors(Collection<LimitFactor> factors) {
    List<LimitFactor> changed = new ArrayList<>();
    for (LimitFactor factor : factors) {
      LimitFactor before = live.state().limitTable.put(factor);
      if (before != null && !before.hasTargetOf(factor)) {
        changed.add(before);
      }
      changed.add(factor);
    }
    live.factorsChanged(changed);
    factors.forEach(factor -> recorder.accept(new CoreEvent.FactorSet(factor)));
  }

  /**
   * Removes a factor, if there is one of that id; {@link SchedulingCore#stepLimits} must follow.
   */
  public void removeFactor(String id) {
    removeFactors(List.of(id));
  }

  /** Does what {@link #removeFactor} does for each; costs one pass over all factors. */
  public void removeFactors(Collection<String> ids) {
    List<LimitFactor> removed = new ArrayList<>();
    for (String id : ids) {
      LimitFactor before = live.state().limitTable.removeFactor(id);
      if (before != null) {
        removed.add(before);
      }
    }
    live.factorsChanged(removed);
    ids.forEach(id -> recorder.accept(new CoreEvent.FactorRemoved(id)));
  }

  /**
   * Sets what health leaves of a limit; it replaces an older one of the same resource and node. It
   * kills no task, and usage beyond it is not over the limit. One for an unknown level, resource or
   * node is kept until that exists. {@link SchedulingCore#stepLimits} must follow.
   */
  public void setHealth(HealthLimit health) {
    HealthLimit before = live.state().limitTable.put(health);
    // Of a probe that is asked every few seconds, mostly only the reason changes.
    if (before == null || before.limit() != health.limit()) {
      live.healthChanged(health);
      recorder.accept(new CoreEvent.HealthSet(health));
    }
  }

  /**
   * Removes what health leaves of a limit; {@link SchedulingCore#stepLimits} must follow.
   *
   * @param node empty: for the whole level, and for each of its nodes
   */
  public void removeHealth(String level, String resource, String node) {
    if (live.state().limitTable.removeHealth(resource, node)) {
      live.healthChanged(new HealthLimit(level, resource, node, 0, "", 0));
      recorder.accept(new CoreEvent.HealthRemoved(level, resource, node));
    }
  }

  /**
   * Caps the number of tasks of a job or queue that run at once; it replaces an older cap of the
   * same id, and kills no task. A cap of an unknown job or queue is kept until that exists. The
   * caller must remove it at its end.
   */
  public void setCap(RunningCap cap) {
    live.capsChanged(live.state().limitTable.put(cap), cap);
    recorder.accept(new CoreEvent.CapSet(cap));
  }

  /** Removes a cap, if there is one of that id. */
  public void removeCap(String id) {
    live.capsChanged(live.state().limitTable.removeCap(id), null);
    recorder.accept(new CoreEvent.CapRemoved(id));
  }
}
