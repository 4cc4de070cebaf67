package io.espalier.core.api;

import java.util.List;

/**
 * A page of tasks, in node order.
 *
 * @param next cursor of the next page; empty: there is none
 */
public record TaskPage(List<TaskView> tasks, String next) {
  public TaskPage {
    tasks = List.copyOf(tasks);
  }
}
