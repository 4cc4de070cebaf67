package io.espalier.core.api.view;

import java.util.List;

/**
 * A page of tasks, in node order.
 *
 * @param next cursor of the next page; empty: this is the last one
 * @param total number of tasks on all pages; {@link #NOT_COUNTED}: nobody asked
 */
public record TaskPage(List<TaskView> tasks, String next, long total) {
  public static final long NOT_COUNTED = -1;

  public TaskPage {
    tasks = List.copyOf(tasks);
  }
}
