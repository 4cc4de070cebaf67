package io.espalier.cli.client.top;

import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The choices of the user of {@code top}. Immutable; a key creates a new state.
 *
 * @param nodes whether the selection is in the nodes instead of the jobs
 * @param job index of the selected job, as sorted
 * @param node index of the selected node
 * @param opened the job or node whose details are shown; null: none
 * @param frozen whether the picture is frozen
 */
record TopState(
    Sort sort, boolean nodes, int job, int node, @Nullable Subject opened, boolean frozen) {
  static final TopState START = new TopState(Sort.NAME, false, 0, 0, null, false);

  /**
   * An opened job or node; it stays opened wherever it moves in its list.
   *
   * @param level of a node; empty: a job
   */
  record Subject(String level, String name) {}

  /** Orders of the jobs, in the order in which the key selects them. */
  enum Sort {
    NAME("name"),
    RUNNING("running"),
    FAILED("failed"),
    RATE("rate"),
    LEFT("time left");

    private final String title;

    Sort(String title) {
      this.title = title;
    }

    String title() {
      return title;
    }

    List<TopData.Job> sorted(List<TopData.Job> jobs) {
      return jobs.stream().sorted(order().thenComparing(TopData.Job::name)).toList();
    }

    private Comparator<TopData.Job> order() {
      return switch (this) {
        case NAME -> Comparator.comparing(TopData.Job::name);
        case RUNNING -> Comparator.comparingLong(TopData.Job::running).reversed();
        case FAILED -> Comparator.comparingLong(TopData.Job::failed).reversed();
        case RATE -> Comparator.comparingDouble(TopData.Job::rate).reversed();
        case LEFT -> Comparator.comparingLong(TopData.Job::secondsLeft);
      };
    }

    Sort next() {
      return switch (this) {
        case NAME -> RUNNING;
        case RUNNING -> FAILED;
        case FAILED -> RATE;
        case RATE -> LEFT;
        case LEFT -> NAME;
      };
    }
  }

  /** The meaning of a key. */
  enum Key {
    QUIT,
    UP,
    DOWN,
    PAGE_UP,
    PAGE_DOWN,
    OTHER_LIST,
    SORT,
    FREEZE,
    OPEN,
    BACK,
    NONE
  }

  /**
   * Returns the state after a key, with the selection within the lists. {@link Key#QUIT} and {@link
   * Key#BACK} close what is open; the caller decides whether to leave.
   */
  TopState after(Key key, TopData data) {
    return switch (key) {
      case UP -> moved(-1, data);
      case DOWN -> moved(1, data);
      case PAGE_UP -> moved(-10, data);
      case PAGE_DOWN -> moved(10, data);
      case OTHER_LIST -> new TopState(sort, !nodes, job, node, null, frozen);
      case SORT -> new TopState(sort.next(), nodes, 0, node, null, frozen);
      case FREEZE -> new TopState(sort, nodes, job, node, opened, !frozen);
      case OPEN -> new TopState(sort, nodes, job, node, open() ? null : selected(data), frozen);
      case QUIT, BACK -> new TopState(sort, nodes, job, node, null, frozen);
      case NONE -> moved(0, data);
    };
  }

  boolean open() {
    return opened != null;
  }

  private @Nullable Subject selected(TopData data) {
    if (nodes) {
      return node < data.hot().size()
          ? new Subject(data.hot().get(node).level(), data.hot().get(node).name())
          : null;
    }
    return job < data.jobs().size()
        ? new Subject("", sort.sorted(data.jobs()).get(job).name())
        : null;
  }

  private TopState moved(int by, TopData data) {
    return new TopState(
        sort,
        nodes,
        within(nodes ? job : job + by, data.jobs().size()),
        within(nodes ? node + by : node, data.hot().size()),
        opened,
        frozen);
  }

  private static int within(int index, int size) {
    return Math.max(0, Math.min(index, size - 1));
  }
}
