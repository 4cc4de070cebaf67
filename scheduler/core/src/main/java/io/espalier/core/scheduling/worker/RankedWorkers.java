package io.espalier.core.scheduling.worker;

import java.util.Arrays;

/**
 * The workers of the pool in the selector's order, as a whole and by host. The trees ({@link
 * WorkerTreap}) also have the bits of the requirement classes that fit. So one bit tells whether a
 * class fits on any worker, and the selected worker is found in the depth of a tree.
 *
 * <p>{@link #place} must be called whenever the rank of a worker or the classes that fit on it
 * change. When the order rotates, a search begins after the last worker taken, of all workers or of
 * the host.
 */
final class RankedWorkers {
  private final int words;
  private final WorkerTreap all;
  private final WorkerTreap byHost;
  private int root = -1;
  private long cursorRank = Long.MIN_VALUE;
  private int cursor = -1;

  // By host.
  private int[] roots = new int[0];
  private long[] hostCursorRanks = new long[0];
  private int[] hostCursors = new int[0];

  // By worker.
  private int[] hostOf = new int[0];
  private long[] fits = new long[0];
  private long[] ranks = new long[0];

  private final class Ranks implements WorkerTreap.Ranks {
    @Override
    public long rank(int worker) {
      return ranks[worker];
    }

    @Override
    public long fit(int worker, int word) {
      return fits[worker * words + word];
    }
  }

  /**
   * @param words the number of words for the bits of all classes
   */
  RankedWorkers(int words) {
    this.words = words;
    all = new WorkerTreap(words, new Ranks());
    byHost = new WorkerTreap(words, new Ranks());
  }

  /** Grows the arrays to a number of workers. */
  void grow(int size) {
    int old = hostOf.length;
    hostOf = Arrays.copyOf(hostOf, size);
    Arrays.fill(hostOf, old, size, -1);
    fits = Arrays.copyOf(fits, size * words);
    ranks = Arrays.copyOf(ranks, size);
    all.grow(size);
    byHost.grow(size);
  }

  /** Grows the arrays to a number of hosts. */
  void growHosts(int high) {
    int old = roots.length;
    if (high > old) {
      int size = Math.max(16, high * 2);
      roots = Arrays.copyOf(roots, size);
      hostCursors = Arrays.copyOf(hostCursors, size);
      hostCursorRanks = Arrays.copyOf(hostCursorRanks, size);
      Arrays.fill(roots, old, size, -1);
    }
  }

  /**
   * Resets the search position of a host that has no workers yet; its number may have belonged to
   * another host.
   */
  void usesHost(int host) {
    if (roots[host] < 0) {
      hostCursors[host] = -1;
      hostCursorRanks[host] = Long.MIN_VALUE;
    }
  }

  // ---- updates

  /** Returns whether a worker has this rank and these bits already. */
  boolean isUpToDate(int worker, long rank, long[] fit) {
    boolean same = hostOf[worker] >= 0 && rank == ranks[worker];
    for (int w = 0; same && w < words; w++) {
      same = fits[worker * words + w] == fit[w];
    }
    return same;
  }

  /**
   * Inserts a worker, or updates its rank and bits.
   *
   * @param fit the bits of the classes that fit on it
   */
  void place(int worker, int host, long rank, long[] fit) {
    boolean isNew = hostOf[worker] < 0;
    if (!isNew && rank != ranks[worker]) {
      takeOut(worker);
      isNew = true;
    }
    System.arraycopy(fit, 0, fits, worker * words, words);
    if (isNew) {
      ranks[worker] = rank;
      hostOf[worker] = host;
      root = all.insert(root, worker);
      roots[host] = byHost.insert(roots[host], worker);
    } else {
      all.update(worker);
      byHost.update(worker);
    }
  }

  private void takeOut(int worker) {
    int host = hostOf[worker];
    root = all.remove(root, worker);
    roots[host] = byHost.remove(roots[host], worker);
  }

  /** Removes a worker, which must be present. */
  void remove(int worker) {
    takeOut(worker);
    hostOf[worker] = -1;
    Arrays.fill(fits, worker * words, (worker + 1) * words, 0);
  }

  /** Takes over the position of the previous state's last search over all workers. */
  void goOnAfter(RankedWorkers before) {
    cursor = before.cursor;
    cursorRank = before.cursorRank;
  }

  /**
   * Selects the worker for a task of a class.
   *
   * @param host -1: any
   * @param rotates whether to search from the last worker taken
   * @return the worker, or -1 when the class fits on none
   */
  int choose(int host, int needClass, boolean rotates) {
    int worker =
        host < 0
            ? choose(all, root, needClass, rotates, cursorRank, cursor)
            : choose(
                byHost, roots[host], needClass, rotates, hostCursorRanks[host], hostCursors[host]);
    if (worker >= 0 && host < 0) {
      cursor = worker;
      cursorRank = ranks[worker];
    } else if (worker >= 0) {
      hostCursors[host] = worker;
      hostCursorRanks[host] = ranks[worker];
    }
    return worker;
  }

  private static int choose(
      WorkerTreap forest, int top, int needClass, boolean rotates, long rank, int last) {
    if (rotates) {
      int next = forest.firstAfter(top, needClass, rank, last);
      if (next >= 0) {
        return next;
      }
    }
    return forest.first(top, needClass);
  }

  /**
   * Returns the first worker after a number on which a class fits, and then from the first, where
   * all workers have the rank 0; -1 when it fits on none.
   *
   * @param host -1: any
   */
  int after(int host, int needClass, int number) {
    return host < 0
        ? choose(all, root, needClass, true, 0, number)
        : choose(byHost, roots[host], needClass, true, 0, number);
  }

  // ---- queries

  /** Returns the host of a worker; -1: the worker is not present. */
  int hostOf(int worker) {
    return hostOf[worker];
  }

  /** Returns the bits of the classes that fit on any worker. */
  long fit(int word) {
    return all.fit(root, word);
  }

  /** Returns the bits of the classes that fit on any worker of a host. */
  long fitOn(int host, int word) {
    return byHost.fit(roots[host], word);
  }

  long work() {
    return all.work() + byHost.work();
  }

  /**
   * Checks the shape, order and bits of the trees.
   *
   * @param size the expected number of workers
   * @throws IllegalStateException when a tree is inconsistent
   */
  void check(int size) {
    int inHosts = 0;
    for (int top : roots) {
      inHosts += byHost.check(top);
    }
    if (all.check(root) != size || inHosts != size) {
      throw new IllegalStateException("workers are missing in the worker index");
    }
  }
}
