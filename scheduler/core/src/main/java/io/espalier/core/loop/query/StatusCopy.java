package io.espalier.core.loop.query;

import io.espalier.core.scheduling.query.TaskQueries;
import io.espalier.core.status.TaskStatus;
import org.jspecify.annotations.Nullable;

/**
 * The copied statuses of the tasks of one job: a byte for each task, and an object only for those
 * that are not plainly done. Objects for all of them would be so large that the collector of the
 * scheduler has to look for garbage in its whole heap.
 */
final class StatusCopy {
  private static final byte NONE = 0;
  private static final byte DONE = 1;
  private static final byte OTHER = 2;

  /** An array of this size is small for every collector. */
  private static final int CHUNK = 4_096;

  private final byte[] kinds;

  /** Of each {@link #CHUNK} tasks those statuses that are neither absent nor plainly done. */
  private final @Nullable TaskStatus[] @Nullable [] others;

  StatusCopy(int tasks) {
    kinds = new byte[tasks];
    others = new TaskStatus[tasks / CHUNK + 1][];
  }

  @SuppressWarnings("ReferenceEquality") // Only that object takes no room.
  void set(int task, @Nullable TaskStatus status) {
    if (status == null) {
      kinds[task] = NONE;
    } else if (status == TaskQueries.PLAINLY_DONE) {
      kinds[task] = DONE;
    } else {
      kinds[task] = OTHER;
      @Nullable TaskStatus[] chunk = others[task / CHUNK];
      if (chunk == null) {
        chunk = new TaskStatus[CHUNK];
        others[task / CHUNK] = chunk;
      }
      chunk[task % CHUNK] = status;
    }
  }

  @Nullable TaskStatus get(int task) {
    @Nullable TaskStatus[] chunk = kinds[task] == OTHER ? others[task / CHUNK] : null;
    return chunk != null
        ? chunk[task % CHUNK]
        : kinds[task] == DONE ? TaskQueries.PLAINLY_DONE : null;
  }

  /** Returns the first task from this one on that has a status, or the number of tasks. */
  int next(int from) {
    int task = from;
    while (task < kinds.length && kinds[task] == NONE) {
      task++;
    }
    return task;
  }

  int size() {
    return kinds.length;
  }
}
