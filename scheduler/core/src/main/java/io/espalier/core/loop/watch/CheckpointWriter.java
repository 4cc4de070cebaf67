package io.espalier.core.loop.watch;

import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import io.espalier.core.loop.state.LiveTasks.Live;
import io.espalier.core.running.Progress;
import io.espalier.core.status.Checkpoints;
import io.espalier.core.status.RetryCounts;
import io.espalier.core.status.TaskStatus;
import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.function.Consumer;

/**
 * Publishes the progress that live tasks report at once for monitors, and stores it as their
 * checkpoint, together with what they have counted. A task writes to the store at most once a
 * second, less often the larger its checkpoint is; what is not written yet is written with its end.
 */
public final class CheckpointWriter {
  static final long WRITE_MILLIS = 1_000;

  /**
   * Each multiple of this many characters makes the writes of a checkpoint rarer by one interval.
   */
  private static final int USUAL_LENGTH = 4_096;

  private final PriorityQueue<Live> due =
      new PriorityQueue<>(Comparator.comparingLong((Live task) -> task.nextCheckpointMillis));

  public void heard(Live task, Progress progress, long nowMillis, Consumer<Live> write) {
    task.heard(progress, nowMillis);
    if (!progress.isEmpty()) {
      updateCheckpoint(task, progress);
    } else if (task.counters.equals(task.countersWritten)) {
      return;
    }
    if (task.checkpointIsDue) {
      return;
    }
    task.checkpointIsDue = true;
    if (task.nextCheckpointMillis <= nowMillis) {
      write(task, nowMillis, write);
    } else {
      due.add(task);
    }
  }

  private static void updateCheckpoint(Live task, Progress progress) {
    TaskStatus status =
        task.status.withCheckpoint(Checkpoints.updated(task.status.checkpoint(), progress));
    RetryCounts retries = status.retries();
    // Stored with the checkpoint, so that it survives a fail-over.
    if (!retries.gotOn() && Checkpoints.gotOn(task.checkpointAtStart(), status.checkpoint())) {
      status = status.withRetries(retries.withGotOn(true));
    }
    task.status = status;
  }

  /** Writes the checkpoints that are due. */
  public void step(long nowMillis, Consumer<Live> write) {
    while (!due.isEmpty() && due.element().nextCheckpointMillis <= nowMillis) {
      Live task = due.remove();
      // The checkpoint of a task that has ended was written with its end.
      if (task.checkpointIsDue) {
        write(task, nowMillis, write);
      }
    }
  }

  /** When the next write is due; {@link Long#MAX_VALUE} when none is. */
  public long nextMillis() {
    return due.isEmpty() ? Long.MAX_VALUE : due.element().nextCheckpointMillis;
  }

  private static void write(Live task, long nowMillis, Consumer<Live> write) {
    Json.Obj checkpoint = task.status.checkpoint();
    int length = checkpoint == null ? 0 : JsonWriter.compact(checkpoint).length();
    task.checkpointIsDue = false;
    task.nextCheckpointMillis = nowMillis + WRITE_MILLIS * (1 + length / USUAL_LENGTH);
    write.accept(task);
  }
}
