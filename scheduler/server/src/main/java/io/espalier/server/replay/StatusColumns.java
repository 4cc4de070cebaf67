package io.espalier.server.replay;

import io.espalier.core.json.Json;
import io.espalier.core.scheduling.CoreEvent;
import io.espalier.core.status.TaskStatus;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Statuses of tasks of one job, in the order of their nodes, for one line of a recording: the
 * distinct statuses apart from their instants, and one text with three numbers for each task. In
 * place of them, -n gives the next n nodes the status of the task before. A line for each status
 * takes a scheduler several times as long. Not thread-safe.
 */
final class StatusColumns {
  private static final int MOST_TASKS = 4_096;

  /** They are searched one by one. */
  private static final int MOST_KINDS = 32;

  private final List<TaskStatus> kinds = new ArrayList<>();
  private final StringBuilder columns = new StringBuilder();
  private int job;
  private int firstNode;
  private int lastNode;
  private @Nullable TaskStatus last;
  private int count;

  /** Tasks with the status of the last one that are not in the text yet. */
  private int repeated;

  /** Adds a status, unless it does not fit onto the line. */
  boolean add(CoreEvent.StatusSet event) {
    TaskStatus status = event.status();
    boolean follows = count == 0 || (event.job() == job && event.node() > lastNode);
    if (status == null || !follows || count == MOST_TASKS) {
      return false;
    }
    if (event.node() == lastNode + 1 && status.equals(last)) {
      lastNode++;
      repeated++;
      count++;
      return true;
    }
    int kind = kind(status);
    if (kind == kinds.size()) {
      if (kind == MOST_KINDS) {
        return false;
      }
      kinds.add(status);
    }
    if (count == 0) {
      job = event.job();
      firstNode = event.node();
      lastNode = event.node();
    } else {
      endRepeats();
      columns.append(' ');
    }
    columns.append(event.node() - lastNode).append(' ').append(kind).append(' ');
    columns.append(status.sinceMillis() - kinds.get(kind).sinceMillis());
    lastNode = event.node();
    last = status;
    count++;
    return true;
  }

  private void endRepeats() {
    if (repeated > 0) {
      columns.append(' ').append(-repeated);
      repeated = 0;
    }
  }

  private int kind(TaskStatus status) {
    int kind = 0;
    while (kind < kinds.size() && !isLike(kinds.get(kind), status)) {
      kind++;
    }
    return kind;
  }

  /** Returns whether two statuses differ in nothing that is recorded except for their instants. */
  private static boolean isLike(TaskStatus a, TaskStatus b) {
    return a.main() == b.main()
        && a.attempts() == b.attempts()
        && a.backoffSeconds() == b.backoffSeconds()
        && a.position() == b.position()
        && EventLines.flags(a) == EventLines.flags(b);
  }

  /** Returns the line, and begins a new one; null: there is nothing on it. */
  @Nullable Json take() {
    if (count == 0) {
      return null;
    }
    endRepeats();
    List<Json> statuses = kinds.stream().map(EventLines::status).toList();
    Json line =
        new Json.Arr(
            List.of(
                Json.of("statuses"),
                Json.of(job),
                Json.of(firstNode),
                new Json.Arr(statuses),
                Json.of(columns.toString())));
    kinds.clear();
    columns.setLength(0);
    last = null;
    count = 0;
    return line;
  }

  /**
   * Reads such a line.
   *
   * @throws IllegalArgumentException when it is none
   */
  static List<CoreEvent> read(List<Json> line) {
    int job = LineEvents.number(line, 1);
    int node = LineEvents.number(line, 2);
    List<Json> encoded = LineEvents.items(LineEvents.item(line, 3));
    List<TaskStatus> kinds = new ArrayList<>();
    for (int i = 0; i < encoded.size(); i++) {
      TaskStatus kind = LineEvents.status(encoded, i);
      if (kind == null) {
        throw new IllegalArgumentException("expected a status at " + i);
      }
      kinds.add(kind);
    }
    Numbers numbers = new Numbers(LineEvents.text(line, 4));
    List<CoreEvent> events = new ArrayList<>();
    TaskStatus last = null;
    while (numbers.hasNext()) {
      long distance = numbers.next();
      if (distance < 0) {
        if (last == null || distance < events.size() - MOST_TASKS) {
          throw new IllegalArgumentException(
              "expected up to " + MOST_TASKS + " tasks, and " + distance + " only after one");
        }
        for (; distance < 0; distance++) {
          events.add(new CoreEvent.StatusSet(job, ++node, last));
        }
        continue;
      }
      node = Math.toIntExact(node + distance);
      last = status(kinds, numbers);
      events.add(new CoreEvent.StatusSet(job, node, last));
    }
    return events;
  }

  private static TaskStatus status(List<TaskStatus> kinds, Numbers numbers) {
    long kind = numbers.next();
    if (kind < 0 || kind >= kinds.size()) {
      throw new IllegalArgumentException("there is no status " + kind);
    }
    TaskStatus status = kinds.get((int) kind);
    long since = status.sinceMillis() + numbers.next();
    return since == status.sinceMillis() ? status : status.with(s -> s.sinceMillis(since));
  }

  /** Whole numbers between single blanks. */
  private static final class Numbers {
    private final String text;
    private int at;

    Numbers(String text) {
      this.text = text;
    }

    boolean hasNext() {
      return at < text.length();
    }

    long next() {
      if (!hasNext()) {
        throw new IllegalArgumentException("expected three numbers for each task");
      }
      int blank = text.indexOf(' ', at);
      int end = blank < 0 ? text.length() : blank;
      long number = Long.parseLong(text, at, end, 10);
      at = end + 1;
      return number;
    }
  }
}
