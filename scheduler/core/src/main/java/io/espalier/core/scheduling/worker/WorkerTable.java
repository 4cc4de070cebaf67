package io.espalier.core.scheduling.worker;

import io.espalier.core.running.WorkerInfo;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A table of numbered workers: those of the pool, and those that running tasks are still charged
 * to. The number of any other worker is reused. Numbers stay valid across updates.
 */
public final class WorkerTable {
  /** Where tasks run. */
  public enum Mode {
    /** The workers were never set: tasks need no worker. */
    NONE,
    /** On the scheduler's own host, which has resources but no filters or placement. */
    LOCAL,
    POOL
  }

  private final Map<String, Integer> numbers = new HashMap<>();
  private @Nullable String[] shards = new @Nullable String[16];
  private @Nullable WorkerInfo[] infos = new @Nullable WorkerInfo[16];
  private boolean[] held = new boolean[16];
  private int[] runs = new int[16];
  private int[] next = new int[16];
  private int firstFree = -1;
  private int high;
  private Mode mode = Mode.NONE;

  public Mode mode() {
    return mode;
  }

  public void setMode(Mode newMode) {
    mode = newMode;
  }

  /** Returns the number of a shard, or -1. */
  public int find(String shard) {
    return numbers.getOrDefault(shard, -1);
  }

  /** Returns the number of a shard; allocates one if necessary. */
  public int number(String shard) {
    Integer known = numbers.get(shard);
    if (known != null) {
      return known;
    }
    int number = firstFree;
    if (number >= 0) {
      firstFree = next[number];
    } else {
      number = high++;
      if (number == runs.length) {
        int size = runs.length * 2;
        shards = Arrays.copyOf(shards, size);
        infos = Arrays.copyOf(infos, size);
        held = Arrays.copyOf(held, size);
        runs = Arrays.copyOf(runs, size);
        next = Arrays.copyOf(next, size);
      }
    }
    numbers.put(shard, number);
    shards[number] = shard;
    return number;
  }

  /** Returns the exclusive upper bound of the numbers. */
  public int high() {
    return high;
  }

  /** Returns the info of a worker; null: not in the pool. */
  public @Nullable WorkerInfo info(int worker) {
    return infos[worker];
  }

  public String shard(int worker) {
    String shard = shards[worker];
    return shard == null ? "" : shard;
  }

  /**
   * Sets the info of a worker.
   *
   * @param info null: takes it out of the pool
   * @return whether that changes anything for placement
   */
  public boolean setInfo(int worker, @Nullable WorkerInfo info) {
    WorkerInfo old = infos[worker];
    infos[worker] = info;
    return old == null || info == null || !isSame(old, info);
  }

  /** Returns whether a gate keeps a worker of the pool from taking tasks for now. */
  public boolean isHeld(int worker) {
    return held[worker];
  }

  public void setHeld(int worker, boolean isHeld) {
    held[worker] = isHeld;
  }

  /** Returns whether two infos of a worker are equal for placement. */
  private static boolean isSame(WorkerInfo old, WorkerInfo next) {
    return old.takesTasks() == next.takesTasks()
        && old.maxTasks() == next.maxTasks()
        && old.host().equals(next.host())
        && old.address().equals(next.address())
        && old.labels().equals(next.labels())
        && old.physical().equals(next.physical());
  }

  /** Returns whether the worker is in the pool or has running tasks. */
  public boolean isUsed(int worker) {
    return shards[worker] != null;
  }

  /** Returns the number of tasks charged to the worker. */
  public int runs(int worker) {
    return runs[worker];
  }

  /** Charges a task to the worker. */
  public void started(int worker) {
    runs[worker]++;
  }

  public void ended(int worker) {
    runs[worker]--;
    dropIfIdle(worker);
  }

  /** Frees the number of a worker that has left the pool and runs no task. */
  public void dropIfIdle(int worker) {
    String shard = shards[worker];
    if (infos[worker] == null && runs[worker] == 0 && shard != null) {
      numbers.remove(shard);
      shards[worker] = null;
      next[worker] = firstFree;
      firstFree = worker;
    }
  }

  /** Returns the numbers of the workers in the pool, ascending. */
  public List<Integer> pool() {
    List<Integer> all = new ArrayList<>();
    for (int worker = 0; worker < high; worker++) {
      if (infos[worker] != null) {
        all.add(worker);
      }
    }
    return all;
  }
}
