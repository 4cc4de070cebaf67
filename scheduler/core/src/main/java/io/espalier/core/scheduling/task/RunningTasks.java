package io.espalier.core.scheduling.task;

import io.espalier.core.scheduling.capacity.ResourceCharges;
import io.espalier.core.scheduling.util.LongMap;
import io.espalier.core.status.TaskStatus;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * A table of the running tasks. Their numbers are reused; a generation distinguishes successive
 * users of a number. The {@link RunPlacements} of a scheduling state have the position of each
 * running task in the tree.
 */
public final class RunningTasks {
  /** By number: its generation and, for a free number, the next free number. */
  private int[] generations = new int[128];

  /** By number; free numbers keep their last value. */
  private @Nullable ResourceCharges[] charges = new @Nullable ResourceCharges[64];

  /** By number; null: never tried before. */
  private @Nullable TaskStatus[] statuses = new @Nullable TaskStatus[64];

  /** Names by number; rarely used except after a restart, when all running tasks have names. */
  private final LongMap<NamedPath> names = new LongMap<>();

  private final LongMap<String> jobNames = new LongMap<>();

  private final RunBatches batches = new RunBatches();

  /** The running tasks whose names are obsolete and not yet removed. */
  private BitSet found = new BitSet();

  private int foundFrom;
  private int high;
  private int firstFree = -1;
  private int count;

  /**
   * The path of a running task whose nodes or levels are partly gone, from the top down. Without
   * levels, only the node itself is known, and no node is charged.
   */
  public record NamedPath(List<String> levels, List<String> nodes) {
    public NamedPath {
      levels = List.copyOf(levels);
      nodes = List.copyOf(nodes);
    }

    public boolean isUnknown() {
      return levels.isEmpty();
    }

    public String last() {
      return nodes.get(nodes.size() - 1);
    }
  }

  /** Allocates a number for a running task. */
  public int add(ResourceCharges charge) {
    int index = firstFree;
    if (index >= 0) {
      firstFree = generations[2 * index + 1];
    } else {
      index = high++;
      if (index == charges.length) {
        grow();
      }
    }
    // The generation is odd while the number is in use.
    generations[2 * index]++;
    charges[index] = charge;
    count++;
    return index;
  }

  private void grow() {
    int size = charges.length * 2;
    generations = Arrays.copyOf(generations, 2 * size);
    charges = Arrays.copyOf(charges, size);
    statuses = Arrays.copyOf(statuses, size);
  }

  public void remove(int index) {
    generations[2 * index]++;
    if (statuses[index] != null) {
      statuses[index] = null;
    }
    if (names.size() > 0) {
      names.remove(index);
    }
    if (jobNames.size() > 0) {
      jobNames.remove(index);
    }
    batches.remove(index);
    found.clear(index);
    generations[2 * index + 1] = firstFree;
    firstFree = index;
    count--;
  }

  public long id(int index) {
    return (long) generations[2 * index] << 32 | index;
  }

  /**
   * @throws IllegalArgumentException when the task is not running
   */
  public int index(long run) {
    if (!isRunning(run)) {
      throw new IllegalArgumentException("not a running task: " + run);
    }
    return (int) run;
  }

  public boolean isRunning(long run) {
    int index = (int) run;
    return index >= 0
        && index < high
        && generations[2 * index] == (int) (run >>> 32)
        && isUsed(index);
  }

  public boolean isUsed(int index) {
    return (generations[2 * index] & 1) != 0;
  }

  /** Returns the exclusive upper bound of the numbers in use. */
  public int high() {
    return high;
  }

  public int count() {
    return count;
  }

  /** Returns the batches of which tasks share a charge. */
  public RunBatches batches() {
    return batches;
  }

  /** Returns what a running task is charged by itself, without what it shares with others. */
  public ResourceCharges charges(int index) {
    ResourceCharges charge = charges[index];
    if (charge == null || !isUsed(index)) {
      throw new IllegalArgumentException("not a running task: " + index);
    }
    return charge;
  }

  public void setCharges(int index, ResourceCharges charge) {
    charges[index] = charge;
  }

  /**
   * Returns the status of a running task, initially its status before the start; null: never tried
   * before.
   */
  public @Nullable TaskStatus status(int index) {
    return statuses[index];
  }

  public void setStatus(int index, @Nullable TaskStatus status) {
    statuses[index] = status;
  }

  /**
   * Returns the job name of a running task that was adopted while its job was unknown; otherwise
   * null.
   */
  public @Nullable String jobName(int index) {
    return jobNames.size() == 0 || found.get(index) ? null : jobNames.get(index);
  }

  public void setJobName(int index, @Nullable String name) {
    put(jobNames, index, name);
  }

  public @Nullable NamedPath names(int index) {
    return names.size() == 0 || found.get(index) ? null : names.get(index);
  }

  /** Sets the names of a running task, and ends its {@link #isFound} state. */
  public void setNames(int index, @Nullable NamedPath path) {
    if (found.get(index)) {
      found.clear(index);
      jobNames.remove(index);
    }
    put(names, index, path);
  }

  private static <V> void put(LongMap<V> map, int index, @Nullable V value) {
    if (value == null) {
      map.remove(index);
    } else {
      map.put(index, value);
    }
  }

  /**
   * Marks running tasks that were adopted while their job or node was unknown and whose job and
   * node are known now. Their names become obsolete. {@link #clearFound} must follow.
   */
  public void found(BitSet runs) {
    found.or(runs);
    foundFrom = 0;
  }

  /** Returns whether the task was marked by {@link #found}, so that its data here is obsolete. */
  public boolean isFound(int index) {
    return found.get(index);
  }

  /**
   * Removes obsolete names.
   *
   * @param charges the current charges of a running task
   * @return true when no obsolete names are left
   */
  public boolean clearFound(int limit, IntFunction<ResourceCharges> charges) {
    for (int i = 0; i < limit && !found.isEmpty(); i++) {
      int index = found.nextSetBit(foundFrom);
      if (index < 0) {
        foundFrom = 0;
        continue;
      }
      this.charges[index] = charges.apply(index);
      setNames(index, null);
      foundFrom = index + 1;
    }
    return found.isEmpty();
  }
}
