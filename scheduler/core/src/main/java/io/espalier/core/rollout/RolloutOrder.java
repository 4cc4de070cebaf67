package io.espalier.core.rollout;

import java.util.Arrays;

/**
 * The order in which the tasks of a job take their turn in stages: first one task below each
 * parent, then a second one below each that has two, and so on. So a stage of n tasks is spread
 * over as many parents as possible, and contains the stages before it. Which parent and which task
 * comes first is decided by hashes of the names, so it differs from job to job and is the same each
 * time.
 *
 * <p>Tasks are added one by one; then {@link #first} is called once. For one thread at a time.
 */
public final class RolloutOrder {
  private static final long TOP = 0xffff_ffff_0000_0000L;

  private long[] hashes = new long[64];
  private int[] parents = new int[64];
  private int size;
  private int parentCount;

  /** Returns a hash of a name for a job: never 0, the same in all releases and on all machines. */
  public static long hash(String job, String name) {
    long hash = mixed(mixed(0x9e37_79b9_7f4a_7c15L, job), "\n");
    hash = mixed(hash, name);
    hash = (hash ^ (hash >>> 30)) * 0xbf58_476d_1ce4_e5b9L;
    hash = (hash ^ (hash >>> 27)) * 0x94d0_49bb_1331_11ebL;
    hash ^= hash >>> 31;
    return hash == 0 ? 1 : hash;
  }

  private static long mixed(long before, String text) {
    long hash = before;
    for (int i = 0; i < text.length(); i++) {
      hash = (hash ^ text.charAt(i)) * 0x100_0000_01b3L;
    }
    return hash;
  }

  /**
   * Adds a task.
   *
   * @param hash its {@link #hash}
   * @param parent a number of its parent, from 0; negative: it has none, and counts as one itself
   */
  public void add(long hash, int parent) {
    if (size == hashes.length) {
      hashes = Arrays.copyOf(hashes, 2 * size);
      parents = Arrays.copyOf(parents, 2 * size);
    }
    hashes[size] = hash;
    parents[size++] = parent;
    parentCount = Math.max(parentCount, parent + 1);
  }

  /** Returns the number of tasks. */
  public int size() {
    return size;
  }

  /** Returns the hashes of the first {@code count} tasks, or of all, in their order. */
  public long[] first(int count) {
    int groups = parentCount;
    for (int i = 0; i < size; i++) {
      parents[i] = parents[i] < 0 ? groups++ : parents[i];
    }
    int[] starts = new int[groups + 1];
    for (int i = 0; i < size; i++) {
      starts[parents[i] + 1]++;
    }
    for (int group = 0; group < groups; group++) {
      starts[group + 1] += starts[group];
    }
    int[] ends = starts.clone();
    long[] grouped = new long[size];
    for (int i = 0; i < size; i++) {
      grouped[ends[parents[i]]++] = hashes[i];
    }
    // By the hash of its first task, which is as good as one of its own name.
    long[] order = new long[groups];
    int active = 0;
    for (int group = 0; group < groups; group++) {
      if (starts[group] < starts[group + 1]) {
        Arrays.sort(grouped, starts[group], starts[group + 1]);
        order[active++] = ((grouped[starts[group]] * 0x9e37_79b9_7f4a_7c15L) & TOP) | group;
      }
    }
    Arrays.sort(order, 0, active);
    long[] first = new long[Math.min(count, size)];
    int filled = 0;
    for (int rank = 0; filled < first.length; rank++) {
      int kept = 0;
      for (int i = 0; i < active && filled < first.length; i++) {
        int group = (int) order[i];
        first[filled++] = grouped[starts[group] + rank];
        if (starts[group] + rank + 1 < starts[group + 1]) {
          order[kept++] = order[i];
        }
      }
      active = kept;
    }
    return first;
  }
}
