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
 * The running tasks: numbers that are used again, with a generation that tells a new user from an
 * old one. Where a running task stands in the tree is in the {@link RunPlacements} of a world.
 */
public final class RunningTasks {
  /** By number: its generation, and the next free number after a free one. */
  private int[] generations = new int[128];

  /** Of numbers in use; others keep what they had last. */
  private @Nullable ResourceCharges[] charges = new @Nullable ResourceCharges[64];

  /** Null: never tried before. */
  private @Nullable TaskStatus[] statuses = new @Nullable TaskStatus[64];

  /** Of few running tasks; after a restart of all. */
  private final LongMap<NamedPath> names = new LongMap<>();

  private final LongMap<String> jobNames = new LongMap<>();

  /** Those whose names mean nothing any more and are still to be removed. */
  private BitSet found = new BitSet();

  private int foundFrom;
  private int high;
  private int firstFree = -1;
  private int count;

  /**
   * The path of a running task of which some node or level is gone: top first. Without levels only
   * the node itself is known, and nothing was charged for the path.
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

  /** Takes a number. */
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
    // Odd while in use.
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
    statuses[index] = null;
    if (names.size() > 0) {
      names.remove(index);
    }
    if (jobNames.size() > 0) {
      jobNames.remove(index);
    }
    found.clear(index);
    generations[2 * index + 1] = firstFree;
    firstFree = index;
    count--;
  }

  public long id(int index) {
    return (long) generations[2 * index] << 32 | index;
  }

  /**
   * @throws IllegalArgumentException when it does not run
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

  /** All used numbers are below. */
  public int high() {
    return high;
  }

  public int count() {
    return count;
  }

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

  /** The status of a running task, or that of before its start; null: never tried before. */
  public @Nullable TaskStatus status(int index) {
    return statuses[index];
  }

  public void setStatus(int index, @Nullable TaskStatus status) {
    statuses[index] = status;
  }

  /** The job of a running task that was adopted while no such job was known; null otherwise. */
  public @Nullable String jobName(int index) {
    return jobNames.size() == 0 || found.get(index) ? null : jobNames.get(index);
  }

  public void setJobName(int index, @Nullable String name) {
    put(jobNames, index, name);
  }

  public @Nullable NamedPath names(int index) {
    return names.size() == 0 || found.get(index) ? null : names.get(index);
  }

  /** Also says that the running task is not {@link #isFound} any more. */
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
   * These were adopted while their job or node was not known, and now they are: no names count for
   * them any more. {@link #clearFound} must follow.
   */
  public void found(BitSet runs) {
    found.or(runs);
    foundFrom = 0;
  }

  /** Whether it was {@link #found}, and what is said of it here is of before. */
  public boolean isFound(int index) {
    return found.get(index);
  }

  /**
   * Forgets what does not count any more.
   *
   * @param charges what a running task is charged now
   * @return whether nothing is left to forget
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
