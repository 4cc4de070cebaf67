package io.espalier.core.loop.command;

import io.espalier.core.api.RefusedException;
import io.espalier.core.config.Config;
import io.espalier.core.config.Job;
import io.espalier.core.config.Levels;
import io.espalier.core.loop.state.LiveTasks.Live;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.status.store.Brake;
import io.espalier.core.status.store.Brake.Target;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** Finds what a brake names: a job, queue, set or node. */
final class BrakeTargets {
  private final SchedulingCore core;

  BrakeTargets(SchedulingCore core) {
    this.core = core;
  }

  /**
   * @throws RefusedException when there is nothing of that name
   */
  void check(Brake.Key key) {
    Config config = core.config();
    switch (key.target()) {
      case ALL -> {}
      case JOB -> {
        if (core.findJob(key.name()) < 0) {
          throw LimitOverrideCommands.unknown(
              "there is no job", key.name(), config.jobs().keySet());
        }
      }
      case QUEUE -> {
        Set<String> queues = new TreeSet<>();
        config.settings().rules().queues().forEach(queue -> queues.add(queue.name()));
        config.jobs().values().forEach(job -> queues.add(job.scheduling().queue()));
        if (!queues.contains(key.name())) {
          throw LimitOverrideCommands.unknown("there is no queue", key.name(), queues);
        }
      }
      case SET -> {
        Set<String> sets = new TreeSet<>();
        config.jobs().values().forEach(job -> sets.add(job.set()));
        sets.remove("");
        if (!sets.contains(key.name())) {
          throw LimitOverrideCommands.unknown("there is no set", key.name(), sets);
        }
      }
      case NODE -> {
        int level = core.topology().levels().find(key.level());
        if (level < 0 || core.topology().find(level, key.name()) < 0) {
          throw LimitOverrideCommands.unknown(
              "level " + key.level() + " has no node", key.name(), List.of());
        }
      }
    }
  }

  /**
   * Completes the key of a node without a level, for a brake that may be set. The node itself may
   * be gone.
   *
   * @throws RefusedException as {@link #located}
   */
  Brake.Key braked(Brake.Key key, Collection<Brake.Key> set) {
    List<Brake.Key> same =
        set.stream()
            .filter(each -> each.target() == Target.NODE && each.name().equals(key.name()))
            .toList();
    return key.target() == Target.NODE && key.level().isEmpty() && same.size() == 1
        ? same.get(0)
        : located(key);
  }

  /**
   * Completes the key of a node without a level.
   *
   * @throws RefusedException when no level, or more than one, has a node of that name
   */
  Brake.Key located(Brake.Key key) {
    if (key.target() != Target.NODE || !key.level().isEmpty()) {
      return key;
    }
    Levels levels = core.topology().levels();
    List<String> having = new ArrayList<>();
    for (int level = 0; level < levels.worker(); level++) {
      if (core.topology().find(level, key.name()) >= 0) {
        having.add(levels.name(level));
      }
    }
    if (having.size() > 1) {
      throw new RefusedException(
          RefusedException.Reason.CONFLICT,
          "several levels have a node " + key.name() + ": name one of " + having);
    }
    if (having.isEmpty()) {
      throw LimitOverrideCommands.unknown("there is no node", key.name(), List.of());
    }
    return new Brake.Key(Target.NODE, having.get(0), key.name());
  }

  /** Returns whether a running task is what a brake slows down, or below it. */
  boolean isBelow(Brake.Key key, Live task) {
    Job job = core.config().job(task.key.job());
    return switch (key.target()) {
      case ALL -> true;
      case JOB -> key.name().equals(task.key.job());
      case QUEUE -> job != null && key.name().equals(job.scheduling().queue());
      case SET -> job != null && key.name().equals(job.set());
      case NODE -> isBelow(core.running().levels(task.run), core.running().path(task.run), key);
    };
  }

  private static boolean isBelow(List<String> levels, List<String> path, Brake.Key key) {
    int at = levels.indexOf(key.level());
    return at >= 0 && path.get(at).equals(key.name());
  }
}
