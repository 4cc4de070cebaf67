package io.espalier.core.scheduling.worker;

import io.espalier.core.running.WorkerInfo;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The workers, numbered: those of the pool and those that tasks are still charged to. Numbers are
 * used again once a worker is neither. They hold over changes of the configuration.
 */
public final class WorkerTable {
  /** What runs tasks. */
  public enum Mode {
    /** Nobody said: no task asks for a worker. */
    NONE,
    /** The scheduler's own host: it has resources, but neither filters nor placement choose it. */
    LOCAL,
    POOL
  }

  private final Map<String, Integer> numbers = new HashMap<>();
  private @Nullable String[] shards = new @Nullable String[16];
  private @Nullable WorkerInfo[] infos = new @Nullable WorkerInfo[16];
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

  /** The number of a shard, or -1. */
  public int find(String shard) {
    return numbers.getOrDefault(shard, -1);
  }

  /** The number of a shard, a new one if need be. */
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
        runs = Arrays.copyOf(runs, size);
        next = Arrays.copyOf(next, size);
      }
    }
    numbers.put(shard, number);
    shards[number] = shard;
    return number;
  }

  /** All numbers are below. */
  public int high() {
    return high;
  }

  /** Null: not in the pool. */
  public @Nullable WorkerInfo info(int worker) {
    return infos[worker];
  }

  public String shard(int worker) {
    String shard = shards[worker];
    return shard == null ? "" : shard;
  }

  public void setInfo(int worker, @Nullable WorkerInfo info) {
    infos[worker] = info;
  }

  /** Whether it is in the pool or runs something. */
  public boolean isUsed(int worker) {
    return shards[worker] != null;
  }

  /** How many tasks are charged to it. */
  public int runs(int worker) {
    return runs[worker];
  }

  /** A task is charged to it. */
  public void started(int worker) {
    runs[worker]++;
  }

  public void ended(int worker) {
    runs[worker]--;
    dropIfIdle(worker);
  }

  /** Frees the number of a worker that has left and runs nothing. */
  public void dropIfIdle(int worker) {
    String shard = shards[worker];
    if (infos[worker] == null && runs[worker] == 0 && shard != null) {
      numbers.remove(shard);
      shards[worker] = null;
      next[worker] = firstFree;
      firstFree = worker;
    }
  }

  /** The numbers of the pool, ascending. */
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
