package io.espalier.core.loop;

import io.espalier.core.scheduling.update.UpdatePlan;
import io.espalier.core.status.StatusRow;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A new configuration with its nodes, and the stored statuses of the tasks that it brings.
 *
 * @param rows of {@code change.newTasks()}, read once {@link SchedulerLoop#willRead} has answered
 * @param nodesAtMillis when the nodes were fetched
 * @param forgotten jobs of which something is stored, but of an earlier job of the same name; no
 *     rows of them
 * @param incarnations jobs with the time of their creation, where that is not what is stored
 */
public record PreparedUpdate(
    UpdatePlan change,
    List<StatusRow> rows,
    long nodesAtMillis,
    Set<String> forgotten,
    Map<String, Long> incarnations) {
  /** With the jobs that are stored. */
  public PreparedUpdate(UpdatePlan change, List<StatusRow> rows, long nodesAtMillis) {
    this(change, rows, nodesAtMillis, Set.of(), Map.of());
  }
}
