package io.espalier.core.loop;

import io.espalier.core.scheduling.Change;
import io.espalier.core.status.StatusRow;
import java.util.List;

/**
 * A new configuration with its nodes, and the stored statuses of the tasks that it brings.
 *
 * @param rows of {@code change.newTasks()}, read after everything up to then was durable
 * @param nodesAtMillis when the nodes were fetched
 */
public record PreparedChange(Change change, List<StatusRow> rows, long nodesAtMillis) {}
