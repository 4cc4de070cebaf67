package io.espalier.core.scheduling;

import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The running tasks: numbers that are used again, with a generation that tells a new user from an
 * old one. Where a running task stands in the tree is in the {@link RunPlaces} of a world.
 */
final class RunTable {
  private int[] generations = new int[64];
  private int[] next = new int[64];
  private @Nullable Charges[] charges = new @Nullable Charges[64];
  private @Nullable NamedPath[] names = new @Nullable NamedPath[64];
  private @Nullable String[] jobNames = new @Nullable String[64];
  private int high;
  private int firstFree = -1;
  private int count;

  /**
   * The path of a running task of which some node or level is gone: top first. Without levels only
   * the node itself is known, and nothing was charged for the path.
   */
  record NamedPath(List<String> levels, List<String> nodes) {
    NamedPath {
      levels = List.copyOf(levels);
      nodes = List.copyOf(nodes);
    }

    boolean isUnknown() {
      return levels.isEmpty();
    }

    String last() {
      return nodes.get(nodes.size() - 1);
    }
  }

  /** Takes a number. */
  int add(Charges charge) {
    int index = firstFree;
    if (index >= 0) {
      firstFree = next[index];
    } else {
      index = high++;
      if (index == generations.length) {
        grow();
      }
      generations[index] = 0;
    }
    // Odd while in use.
    generations[index]++;
    charges[index] = charge;
    count++;
    return index;
  }

  private void grow() {
    int size = generations.length * 2;
    generations = Arrays.copyOf(generations, size);
    next = Arrays.copyOf(next, size);
    charges = Arrays.copyOf(charges, size);
    names = Arrays.copyOf(names, size);
    jobNames = Arrays.copyOf(jobNames, size);
  }

  void remove(int index) {
    generations[index]++;
    charges[index] = null;
    names[index] = null;
    jobNames[index] = null;
    next[index] = firstFree;
    firstFree = index;
    count--;
  }

  long id(int index) {
    return (long) generations[index] << 32 | index;
  }

  /**
   * @throws IllegalArgumentException when it does not run
   */
  int index(long run) {
    if (!isRunning(run)) {
      throw new IllegalArgumentException("not a running task: " + run);
    }
    return (int) run;
  }

  boolean isRunning(long run) {
    int index = (int) run;
    return index >= 0 && index < high && generations[index] == (int) (run >>> 32) && isUsed(index);
  }

  boolean isUsed(int index) {
    return (generations[index] & 1) != 0;
  }

  /** All used numbers are below. */
  int high() {
    return high;
  }

  int count() {
    return count;
  }

  Charges charges(int index) {
    Charges charge = charges[index];
    if (charge == null) {
      throw new IllegalArgumentException("not a running task: " + index);
    }
    return charge;
  }

  void setCharges(int index, Charges charge) {
    charges[index] = charge;
  }

  /** The job of a running task that was adopted while no such job was known; null otherwise. */
  @Nullable String jobName(int index) {
    return jobNames[index];
  }

  void setJobName(int index, @Nullable String name) {
    jobNames[index] = name;
  }

  @Nullable NamedPath names(int index) {
    return names[index];
  }

  void setNames(int index, @Nullable NamedPath path) {
    names[index] = path;
  }
}
