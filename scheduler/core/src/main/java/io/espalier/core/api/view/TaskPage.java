package io.espalier.core.api.view;

import java.util.List;

/**
 * A page of tasks, in node order.
 *
 * @param next cursor of the next page; empty: this is the last one
 */
public record TaskPage(List<TaskView> tasks, String next) {
  public TaskPage {
    tasks = List.copyOf(tasks);
  }
}
