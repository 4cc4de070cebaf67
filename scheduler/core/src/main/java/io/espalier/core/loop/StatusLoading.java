package io.espalier.core.loop;

import io.espalier.core.scheduling.update.NewTasks;
import io.espalier.core.scheduling.update.UpdatePlan;
import io.espalier.core.status.StatusRow;
import io.espalier.core.status.TaskKey;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What is written of the new tasks of a change from before their stored rows are read until the
 * change is in force. The scheduler is the only writer, and all that it wrote earlier was durable
 * before the reading: so what is written here is newer than any row that was read.
 */
final class StatusLoading {
  private final UpdatePlan change;

  /** Jobs all of whose tasks are new, and those of which only some are. */
  private final Set<String> fresh;

  private final Set<String> jobs;
  private final Map<TaskKey, Written> written = new HashMap<>();

  /**
   * The latest row of one task.
   *
   * @param counted whether its end was counted for its job
   */
  record Written(StatusRow row, boolean counted) {}

  StatusLoading(UpdatePlan change) {
    this.change = change;
    NewTasks news = change.newTasks();
    fresh = Set.copyOf(news.jobs());
    jobs = new HashSet<>(fresh);
    news.nodes().forEach(nodes -> jobs.addAll(nodes.jobs()));
  }

  @SuppressWarnings("ReferenceEquality") // It was read for this change, not for one like it.
  boolean isFor(UpdatePlan other) {
    return change == other;
  }

  boolean isFresh(String job) {
    return fresh.contains(job);
  }

  /** Whether rows of the job are read. */
  boolean concerns(String job) {
    return jobs.contains(job);
  }

  void wrote(StatusRow row, boolean counted) {
    written.put(row.key(), new Written(row, counted));
  }

  @Nullable Written latest(TaskKey task) {
    return written.get(task);
  }

  /** What was written of an earlier job of that name is not for the new one. */
  void forget(String job) {
    written.keySet().removeIf(task -> task.job().equals(job));
  }

  /** The tasks of which something was written so far. */
  List<TaskKey> tasks() {
    return new ArrayList<>(written.keySet());
  }
}
