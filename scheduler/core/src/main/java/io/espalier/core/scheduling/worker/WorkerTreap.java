package io.espalier.core.scheduling.worker;

import java.util.Arrays;

/**
 * Search trees over workers, ordered by rank and then by number. Each subtree has the bits of the
 * requirement classes that fit on any of its workers, so the first fitting worker is found in the
 * depth of the tree, for every class. A worker is in at most one tree. A tree is named by its root;
 * -1 is the empty tree.
 *
 * <p>The trees are treaps. They are balanced by priorities that are hashes of the worker numbers,
 * so their shape depends only on their contents.
 */
final class WorkerTreap {
  private final int words;
  private final Ranks ranks;
  private int[] left = new int[0];
  private int[] right = new int[0];
  private int[] parent = new int[0];

  /** By worker: the classes that fit on any worker of its subtree. */
  private long[] below = new long[0];

  private long work;

  /** The rank and fitting classes of each worker. */
  interface Ranks {
    long rank(int worker);

    /** Returns the bits of the classes that fit on the worker. */
    long fit(int worker, int word);
  }

  /**
   * @param words the number of words for the bits of all classes
   */
  WorkerTreap(int words, Ranks ranks) {
    this.words = words;
    this.ranks = ranks;
  }

  void grow(int size) {
    int old = left.length;
    left = Arrays.copyOf(left, size);
    right = Arrays.copyOf(right, size);
    parent = Arrays.copyOf(parent, size);
    below = Arrays.copyOf(below, size * words);
    Arrays.fill(left, old, size, -1);
    Arrays.fill(right, old, size, -1);
    Arrays.fill(parent, old, size, -1);
  }

  long work() {
    return work;
  }

  /** Returns the bits of the classes that fit on any worker of a tree. */
  long fit(int root, int word) {
    return root < 0 ? 0 : below[root * words + word];
  }

  private static int priority(int worker) {
    int z = (worker + 1) * 0x9e3779b9;
    z = (z ^ (z >>> 16)) * 0x85ebca6b;
    z = (z ^ (z >>> 13)) * 0xc2b2ae35;
    return z ^ (z >>> 16);
  }

  private boolean isBefore(int a, int b) {
    return isBefore(a, ranks.rank(b), b);
  }

  private boolean isBefore(int a, long rank, int worker) {
    long own = ranks.rank(a);
    return own < rank || (own == rank && a < worker);
  }

  /** Recomputes the bits of a worker's subtree; returns whether they changed. */
  private boolean gather(int worker) {
    work++;
    boolean changed = false;
    int l = left[worker];
    int r = right[worker];
    for (int w = 0; w < words; w++) {
      long bits = ranks.fit(worker, w);
      bits |= l < 0 ? 0 : below[l * words + w];
      bits |= r < 0 ? 0 : below[r * words + w];
      changed |= below[worker * words + w] != bits;
      below[worker * words + w] = bits;
    }
    return changed;
  }

  /** Updates the bits after the classes that fit on a worker, but not its rank, have changed. */
  void update(int worker) {
    gatherFrom(worker);
  }

  private void gatherFrom(int lowest) {
    int at = lowest;
    while (at >= 0 && gather(at)) {
      at = parent[at];
    }
  }

  /** Inserts a worker and returns the new root. */
  int insert(int root, int worker) {
    left[worker] = -1;
    right[worker] = -1;
    int above = -1;
    int at = root;
    while (at >= 0) {
      work++;
      above = at;
      at = isBefore(worker, at) ? left[at] : right[at];
    }
    parent[worker] = above;
    gather(worker);
    if (above < 0) {
      return worker;
    }
    if (isBefore(worker, above)) {
      left[above] = worker;
    } else {
      right[above] = worker;
    }
    while (parent[worker] >= 0 && priority(parent[worker]) < priority(worker)) {
      rotateUp(worker);
    }
    gatherFrom(parent[worker]);
    return parent[worker] < 0 ? worker : root;
  }

  /** Removes a worker and returns the new root. */
  int remove(int root, int worker) {
    int newRoot = root;
    while (left[worker] >= 0 || right[worker] >= 0) {
      int l = left[worker];
      int r = right[worker];
      int up = l < 0 || (r >= 0 && priority(r) > priority(l)) ? r : l;
      rotateUp(up);
      if (newRoot == worker) {
        newRoot = up;
      }
    }
    int above = parent[worker];
    parent[worker] = -1;
    if (above < 0) {
      return -1;
    }
    if (left[above] == worker) {
      left[above] = -1;
    } else {
      right[above] = -1;
    }
    gatherFrom(above);
    return newRoot;
  }

  /** Rotates a worker with its parent; does not update the bits above the two. */
  private void rotateUp(int worker) {
    int above = parent[worker];
    int top = parent[above];
    int moved;
    if (left[above] == worker) {
      moved = right[worker];
      left[above] = moved;
      right[worker] = above;
    } else {
      moved = left[worker];
      right[above] = moved;
      left[worker] = above;
    }
    if (moved >= 0) {
      parent[moved] = above;
    }
    parent[above] = worker;
    parent[worker] = top;
    if (top >= 0) {
      if (left[top] == above) {
        left[top] = worker;
      } else {
        right[top] = worker;
      }
    }
    gather(above);
    gather(worker);
  }

  /** Returns the first worker of a tree on which a class fits, or -1. */
  int first(int root, int needClass) {
    int word = needClass >>> 6;
    long bit = 1L << needClass;
    int at = root;
    if (at < 0 || (below[at * words + word] & bit) == 0) {
      return -1;
    }
    while (true) {
      work++;
      int l = left[at];
      if (l >= 0 && (below[l * words + word] & bit) != 0) {
        at = l;
      } else if ((ranks.fit(at, word) & bit) != 0) {
        return at;
      } else {
        at = right[at];
      }
    }
  }

  /** Returns the first such worker after a position in the order, or -1. */
  int firstAfter(int root, int needClass, long rank, int worker) {
    int word = needClass >>> 6;
    if (root < 0 || (below[root * words + word] & 1L << needClass) == 0) {
      return -1;
    }
    work++;
    boolean behind = !isBefore(root, rank, worker) && root != worker;
    if (!behind) {
      return firstAfter(right[root], needClass, rank, worker);
    }
    int found = firstAfter(left[root], needClass, rank, worker);
    if (found >= 0) {
      return found;
    }
    return (ranks.fit(root, word) & 1L << needClass) != 0 ? root : first(right[root], needClass);
  }

  /**
   * Checks the order, shape and bits of a tree.
   *
   * @return the number of workers in the tree
   * @throws IllegalStateException when the tree is inconsistent
   */
  int check(int root) {
    if (root < 0) {
      return 0;
    }
    int size = 1;
    for (int child : new int[] {left[root], right[root]}) {
      if (child >= 0) {
        size += check(child);
        if (parent[child] != root
            || priority(child) > priority(root)
            || isBefore(child, root) != (child == left[root])) {
          throw new IllegalStateException("the tree of workers is out of order at " + child);
        }
      }
    }
    for (int w = 0; w < words; w++) {
      long bits = ranks.fit(root, w) | fit(left[root], w) | fit(right[root], w);
      if (bits != below[root * words + w]) {
        throw new IllegalStateException("the tree of workers is inconsistent at " + root);
      }
    }
    return size;
  }
}
