package io.espalier.core.loop;

import io.espalier.core.scheduling.update.UpdatePlan;
import io.espalier.core.status.store.StatusRow;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A new configuration with its nodes and the stored statuses of the tasks that it adds.
 *
 * @param rows stored rows of {@code plan.newTasks()}, read after {@link LoopInput.WillRead} has
 *     completed
 * @param rowsFollow whether more of them come as {@link LoopInput.StoredRows}, so that a large
 *     store is applied while it is read
 * @param nodesAtMillis time at which the nodes were fetched
 * @param forgotten jobs whose stored data belongs to an earlier job of the same name; {@code rows}
 *     contains none of theirs
 * @param incarnations creation times of the jobs for which another time, or none, is stored
 */
public record PreparedUpdate(
    UpdatePlan plan,
    List<StatusRow> rows,
    boolean rowsFollow,
    long nodesAtMillis,
    Set<String> forgotten,
    Map<String, Long> incarnations) {
  /** Creates an update that comes with all its rows. */
  public PreparedUpdate(
      UpdatePlan plan,
      List<StatusRow> rows,
      long nodesAtMillis,
      Set<String> forgotten,
      Map<String, Long> incarnations) {
    this(plan, rows, false, nodesAtMillis, forgotten, incarnations);
  }

  /** Creates an update in which all stored data belongs to the configured jobs. */
  public PreparedUpdate(UpdatePlan plan, List<StatusRow> rows, long nodesAtMillis) {
    this(plan, rows, nodesAtMillis, Set.of(), Map.of());
  }
}
