package io.espalier.server.store.archive;

import io.espalier.core.json.Json;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.WorkerRef;
import io.espalier.core.status.Attempt;
import io.espalier.core.status.StatusLabel;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.store.StatusRow;
import io.espalier.core.topology.NodeNames;
import org.jspecify.annotations.Nullable;

/** The status of a task as JSON, for files and for other schedulers. */
public final class ArchivedStatusLine {
  private ArchivedStatusLine() {}

  /** Writes the status of a task at rest; the name of the job is not part of it. */
  public static Json.Builder of(StatusRow row) {
    TaskStatus status = row.status();
    return Json.object()
        .put("node", row.node())
        .put("status", StatusLabel.of(status.bits()).word())
        .put("bits", status.bits())
        .put("since_ms", status.sinceMillis())
        .put("backoff_sec", status.backoffSeconds())
        .put("position", status.position())
        .put("attempts", status.attempts())
        .put("started_at_ms", row.invocation().startMillis())
        .putIfPresent("data", row.storedData());
  }

  /**
   * Reads what {@link #of} has written.
   *
   * @return the row of a task that this scheduler has run
   * @throws IllegalArgumentException saying what is wrong with it, also when the task is running
   */
  public static StatusRow read(String job, Json.Obj line) {
    String node = text(line, "node");
    String objection = NodeNames.objection(node);
    if (objection != null) {
      throw new IllegalArgumentException("the name of a node " + objection);
    }
    int bits = small(line, "bits");
    int backoff = small(line, "backoff_sec");
    int position = small(line, "position");
    int attempts = small(line, "attempts");
    Json data = line.get("data");
    if (data != null && !(data instanceof Json.Obj)) {
      throw new IllegalArgumentException("data is no object");
    }
    StatusRow row =
        StatusRow.stored(
            job,
            node,
            new Invocation(0, 0, number(line, "started_at_ms")),
            WorkerRef.LOCAL,
            Attempt.UNKNOWN_WAIT,
            (Json.@Nullable Obj) data,
            own ->
                TaskStatus.ofBits(
                    bits, number(line, "since_ms"), backoff, position, attempts, own));
    if (row.status().main() == TaskStatus.Main.RUNNING) {
      throw new IllegalArgumentException("the task is running");
    }
    return row;
  }

  static String text(Json.Obj line, String member) {
    if (line.get(member) instanceof Json.Str text) {
      return text.value();
    }
    throw new IllegalArgumentException(member + " is no text");
  }

  private static int small(Json.Obj line, String member) {
    long number = number(line, member);
    if (number < Integer.MIN_VALUE || number > Integer.MAX_VALUE) {
      throw new IllegalArgumentException(member + " is out of range");
    }
    return (int) number;
  }

  static long number(Json.Obj line, String member) {
    if (line.get(member) instanceof Json.Num number) {
      try {
        return number.value().longValueExact();
      } catch (ArithmeticException e) {
        throw new IllegalArgumentException(member + " is out of range", e);
      }
    }
    throw new IllegalArgumentException(member + " is no number");
  }
}
