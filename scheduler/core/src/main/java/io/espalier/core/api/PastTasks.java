package io.espalier.core.api;

import io.espalier.core.event.Event;
import io.espalier.core.event.EventFilter;
import io.espalier.core.event.EventReader;
import io.espalier.core.event.EventSearch;
import io.espalier.core.status.store.StatusRow;
import io.espalier.core.status.store.StatusRowEvents;
import java.util.Comparator;
import java.util.List;
import java.util.Set;

/**
 * The tasks of a job at a time in the past, rebuilt from the events that are kept.
 *
 * @param rows one for each task that has changed up to then, in the order of nodes
 * @param sequence the last event up to then
 * @param sinceMillis the time of the first event that was read; 0: there are none
 * @param complete whether all events up to then were read; otherwise tasks that changed only before
 *     {@code sinceMillis} are missing, and data and checkpoints from before may be
 */
public record PastTasks(List<StatusRow> rows, long sequence, long sinceMillis, boolean complete) {
  /** The maximum number of events that are read for one answer. */
  static final int MOST_EVENTS = 5_000_000;

  /** The maximum number of tasks in one answer. */
  static final int MOST_TASKS = 1_000_000;

  private static final int CHUNK = 1_000;

  public PastTasks {
    rows = List.copyOf(rows);
  }

  /**
   * What to rebuild.
   *
   * @param nodes empty: all
   * @param atMillis the state after all events up to this time
   * @param fromMillis ignores events before this time; 0: none
   */
  public record Question(String job, Set<String> nodes, long atMillis, long fromMillis) {
    public Question {
      nodes = Set.copyOf(nodes);
    }
  }

  /** Whether events of that time are no longer kept, so that nothing is known of it. */
  public boolean isGone() {
    return !complete && sequence == 0;
  }

  /**
   * Rebuilds tasks. Reads all events up to that time, which may take seconds.
   *
   * @param newest the newest sequence
   * @throws RefusedException when there are too many tasks or events
   */
  public static PastTasks of(Question question, EventReader events, long newest) {
    List<Event> oldest = events.after(0, 1);
    if (oldest.isEmpty()) {
      return new PastTasks(List.of(), 0, 0, true);
    }
    Event first = oldest.get(0);
    boolean isWhole = first.sequence() == 1;
    if (question.atMillis() < first.timeMillis()) {
      return new PastTasks(List.of(), 0, first.timeMillis(), isWhole);
    }
    long at = first.sequence() - 1;
    if (question.fromMillis() > first.timeMillis()) {
      at = new EventSearch(events, EventFilter.ALL).before(question.fromMillis(), newest);
      isWhole = false;
    }
    StatusRowEvents.Replay replay =
        new StatusRowEvents.Replay(
            task ->
                task.job().equals(question.job())
                    && (question.nodes().isEmpty() || question.nodes().contains(task.node())));
    long since = replayed(question, events, at, replay);
    List<StatusRow> rows =
        replay.rows().values().stream().sorted(Comparator.comparing(StatusRow::node)).toList();
    return new PastTasks(rows, Math.max(at, replay.sequence()), since, isWhole);
  }

  /** Returns the time of the first event. */
  private static long replayed(
      Question question, EventReader events, long from, StatusRowEvents.Replay replay) {
    long since = question.atMillis();
    long at = from;
    while (true) {
      List<Event> chunk = events.after(at, CHUNK);
      for (Event event : chunk) {
        if (event.timeMillis() > question.atMillis()) {
          return since;
        }
        since = at == from ? event.timeMillis() : since;
        at = event.sequence();
        replay.apply(event);
      }
      if (chunk.isEmpty()) {
        return since;
      }
      refuseTooMuch(question, at - from, replay.rows().size());
    }
  }

  private static void refuseTooMuch(Question question, long read, int tasks) {
    if (read > MOST_EVENTS) {
      throw new RefusedException(
          RefusedException.Reason.CONFLICT,
          "more than 5,000,000 events lie before that time: say from which time on to read them");
    }
    if (tasks > MOST_TASKS) {
      throw new RefusedException(
          RefusedException.Reason.CONFLICT,
          "job " + question.job() + " has more than 1,000,000 tasks: name some of its nodes");
    }
  }
}
