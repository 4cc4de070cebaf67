package io.espalier.core.scheduling.worker;

import java.util.Arrays;

/**
 * The workers of the pool in the selector's order, all of them and those of each host, with the
 * need classes that fit on each above them ({@link WorkerTreap}): so whether a class fits somewhere
 * is one bit, and the worker that the selector takes is found in the depth of a tree.
 *
 * <p>It knows what it is told: {@link #place} must be called whenever the rank of a worker or what
 * fits on it changes. Where the order rotates a search goes on behind the worker that was taken
 * last, of all or of the host.
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
   * @param words how many words the bits of all classes take
   */
  RankedWorkers(int words) {
    this.words = words;
    all = new WorkerTreap(words, new Ranks());
    byHost = new WorkerTreap(words, new Ranks());
  }

  /** Makes room for so many workers. */
  void grow(int size) {
    int old = hostOf.length;
    hostOf = Arrays.copyOf(hostOf, size);
    Arrays.fill(hostOf, old, size, -1);
    fits = Arrays.copyOf(fits, size * words);
    ranks = Arrays.copyOf(ranks, size);
    all.grow(size);
    byHost.grow(size);
  }

  /** Makes room for hosts with numbers below that. */
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

  /** The number of a host that had no workers is used for it, perhaps after another one. */
  void usesHost(int host) {
    if (roots[host] < 0) {
      hostCursors[host] = -1;
      hostCursorRanks[host] = Long.MIN_VALUE;
    }
  }

  // ---- changing

  /** Whether a worker stands where it should, with the bits it should have. */
  boolean isUpToDate(int worker, long rank, long[] fit) {
    boolean same = hostOf[worker] >= 0 && rank == ranks[worker];
    for (int w = 0; same && w < words; w++) {
      same = fits[worker * words + w] == fit[w];
    }
    return same;
  }

  /**
   * Puts a worker in its place.
   *
   * @param fit bits of the classes that fit on it
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

  /** A worker that is in the order leaves it. */
  void remove(int worker) {
    takeOut(worker);
    hostOf[worker] = -1;
    Arrays.fill(fits, worker * words, (worker + 1) * words, 0);
  }

  /** Takes over where the last search of all workers ended. */
  void goOnAfter(RankedWorkers before) {
    cursor = before.cursor;
    cursorRank = before.cursorRank;
  }

  /**
   * The worker to take for a task of a class.
   *
   * @param host -1: any
   * @param rotates whether to go on behind the one that was taken last
   * @return -1: none fits
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

  // ---- questions

  /** How many workers there is room for. */
  int size() {
    return hostOf.length;
  }

  /** The host of a worker; -1: it is not in the order. */
  int hostOf(int worker) {
    return hostOf[worker];
  }

  /** Bits of the classes that fit on some worker. */
  long fit(int word) {
    return all.fit(root, word);
  }

  /** Bits of the classes that fit on some worker of a host. */
  long fitOn(int host, int word) {
    return byHost.fit(roots[host], word);
  }

  long work() {
    return all.work() + byHost.work();
  }

  /**
   * Checks shape, order and bits of the trees.
   *
   * @param size how many workers there are
   * @throws IllegalStateException when something is wrong
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
