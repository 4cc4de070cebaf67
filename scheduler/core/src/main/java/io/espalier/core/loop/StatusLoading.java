package io.espalier.core.loop;

import io.espalier.core.scheduling.update.NewTasks;
import io.espalier.core.scheduling.update.UpdatePlan;
import io.espalier.core.status.TaskKey;
import io.espalier.core.status.store.StatusRow;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The rows that were written for the new tasks of an update, from before their stored rows are read
 * until the update is in force. The scheduler is the only writer, and everything that it wrote
 * earlier was durable before the read: the rows collected here are therefore newer than any row
 * that was read.
 */
final class StatusLoading {
  private final UpdatePlan change;

  /** Jobs whose tasks are all new, and all jobs with at least one new task. */
  private final Set<String> fresh;

  private final Set<String> jobs;
  private final Map<TaskKey, Written> written = new HashMap<>();

  /**
   * The latest row of one task.
   *
   * @param counted whether the row is already counted for its job
   */
  record Written(StatusRow row, boolean counted) {}

  StatusLoading(UpdatePlan change) {
    this.change = change;
    NewTasks news = change.newTasks();
    fresh = Set.copyOf(news.jobs());
    jobs = new HashSet<>(fresh);
    news.nodes().forEach(nodes -> jobs.addAll(nodes.jobs()));
  }

  @SuppressWarnings("ReferenceEquality") // Rows are read for this very update, not for an equal
  // one.
  boolean isFor(UpdatePlan other) {
    return change == other;
  }

  boolean isFresh(String job) {
    return fresh.contains(job);
  }

  /** Returns true when rows of the job are read. */
  boolean concerns(String job) {
    return jobs.contains(job);
  }

  void wrote(StatusRow row, boolean counted) {
    written.put(row.key(), new Written(row, counted));
  }

  @Nullable Written latest(TaskKey task) {
    return written.get(task);
  }

  /** Discards what was written for an earlier job of that name. */
  void forget(String job) {
    written.keySet().removeIf(task -> task.job().equals(job));
  }

  /** The tasks for which a row was written so far. */
  List<TaskKey> tasks() {
    return new ArrayList<>(written.keySet());
  }
}
