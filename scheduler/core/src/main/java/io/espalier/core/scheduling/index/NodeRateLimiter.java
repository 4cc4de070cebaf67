package io.espalier.core.scheduling.index;

import io.espalier.core.config.StartRate;
import io.espalier.core.scheduling.util.LongQueue;
import io.espalier.core.scheduling.util.RateLimiterClock;
import io.espalier.core.scheduling.util.TokenBucketMath;
import io.espalier.core.scheduling.util.TokenBuckets;
import io.espalier.core.topology.Topology;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Limits how often tasks start below each node of some levels, with one token bucket per node. A
 * start takes a token from each node of its path; a node without a token is closed for all jobs.
 * Levels without a rate cost nothing.
 */
public final class NodeRateLimiter implements NodeCondition {
  private final RateLimiterClock clock;

  /** The levels with a rate, top first. */
  private final int[] levels;

  private final int[] starts;
  private final int[] ends;
  private final TokenBucketMath[] laws;
  private final TokenBuckets[] buckets;

  /** By level: the index into {@link #levels}; -1: no rate. */
  private final int[] byLevel;

  /** Records every node that is charged while the next state is being built. */
  private @Nullable LongQueue log;

  /**
   * @param rates the rates by level index
   */
  public NodeRateLimiter(Topology topology, Map<Integer, StartRate> rates, RateLimiterClock clock) {
    this.clock = clock;
    int count = rates.size();
    levels = new int[count];
    starts = new int[count];
    ends = new int[count];
    laws = new TokenBucketMath[count];
    buckets = new TokenBuckets[count];
    byLevel = new int[topology.levels().count()];
    Arrays.fill(byLevel, -1);
    int i = 0;
    for (Map.Entry<Integer, StartRate> rate : new TreeMap<>(rates).entrySet()) {
      TokenBucketMath law = TokenBucketMath.of(rate.getValue());
      levels[i] = rate.getKey();
      byLevel[levels[i]] = i;
      starts[i] = topology.levelStart(levels[i]);
      ends[i] = topology.levelEnd(levels[i]);
      laws[i] = law;
      buckets[i] = new TokenBuckets(ends[i] - starts[i], b -> law);
      i++;
    }
  }

  /** Returns whether any level has a rate. */
  public boolean limitsAny() {
    return levels.length > 0;
  }

  public void logTo(@Nullable LongQueue queue) {
    log = queue;
  }

  @Override
  public long mask(int node, int level, int word) {
    return isHeld(node, level) ? 0 : -1L;
  }

  /** Returns whether starts below a node wait for a token. */
  public boolean isHeld(int node, int level) {
    int i = byLevel[level];
    return i >= 0 && buckets[i].isEmpty(node - starts[i]);
  }

  /** Returns the number of nodes that wait for a token. */
  public int heldCount() {
    int count = 0;
    for (TokenBuckets some : buckets) {
      count += some.emptyCount();
    }
    return count;
  }

  /** Returns when a waiting node gains a token, in wall-clock time. */
  public long heldUntil(int node, int level) {
    int i = byLevel[level];
    return i < 0 ? 0 : clock.wallTick(buckets[i].due(node - starts[i]));
  }

  /**
   * Takes a token for a start from each node of its path.
   *
   * @param path the node per level, -1 for none
   */
  public void started(int[] path, StartableIndex index) {
    for (int i = levels.length - 1; i >= 0; i--) {
      int node = path[levels[i]];
      if (node >= 0) {
        if (log != null) {
          log.add(node);
        }
        if (buckets[i].charge(node - starts[i], clock.now())) {
          index.refresh(node, levels[i]);
        }
      }
    }
  }

  // ---- time

  /**
   * Opens the nodes that have a token again.
   *
   * @return the number of timers handled
   */
  public int advance(int limit, StartableIndex index) {
    long tick = clock.lastTick();
    int done = 0;
    for (int i = 0; i < buckets.length; i++) {
      while (done < limit && buckets[i].isDue(tick)) {
        done++;
        int bucket = buckets[i].poll(tick);
        if (bucket >= 0) {
          index.refresh(starts[i] + bucket, levels[i]);
        }
      }
    }
    return done;
  }

  public boolean isDue() {
    for (TokenBuckets some : buckets) {
      if (some.isDue(clock.lastTick())) {
        return true;
      }
    }
    return false;
  }

  public long nextMillis() {
    long next = Long.MAX_VALUE;
    for (TokenBuckets some : buckets) {
      next = Math.min(next, some.next());
    }
    return clock.wallTick(next);
  }

  // ---- migration

  /** Returns the number of nodes with a bucket. */
  public int count() {
    int count = 0;
    for (int i = 0; i < levels.length; i++) {
      count += ends[i] - starts[i];
    }
    return count;
  }

  /** Returns the node of the n-th bucket. */
  public int node(int n) {
    int i = 0;
    int left = n;
    while (left >= ends[i] - starts[i]) {
      left -= ends[i] - starts[i];
      i++;
    }
    return starts[i] + left;
  }

  /**
   * Takes over the tokens of a node, up to the new burst. A node that had no rate begins without
   * tokens.
   *
   * @param level the level of the node
   * @param oldNode -1: the node is new
   * @param newSince the time at which new buckets were empty
   * @return whether the node's mask has changed
   */
  public boolean takeOver(
      int node, int level, NodeRateLimiter old, int oldNode, int oldLevel, long newSince) {
    int i = byLevel[level];
    if (i < 0) {
      return false;
    }
    TokenBucketMath law = laws[i];
    int from = oldNode < 0 ? -1 : old.byLevel[oldLevel];
    if (from < 0) {
      return buckets[i].put(node - starts[i], law.nothing(newSince), true);
    }
    int bucket = oldNode - old.starts[from];
    long spent = law.convert(old.buckets[from].spent(bucket), old.laws[from], clock.now());
    boolean isEmpty =
        old.buckets[from].isEmpty(bucket)
            || (!law.equals(old.laws[from]) && law.isEmpty(spent, clock.now()));
    return buckets[i].put(node - starts[i], spent, isEmpty);
  }

  public long byteSize() {
    long size = 0;
    for (TokenBuckets some : buckets) {
      size += some.byteSize();
    }
    return size;
  }

  /**
   * Checks for a node that is open without a token, or closed without a timer.
   *
   * @throws IllegalStateException with the first such node
   */
  public void check() {
    for (int i = 0; i < levels.length; i++) {
      if (!buckets[i].isSound()) {
        throw new IllegalStateException("a node without a token has no timer");
      }
      for (int node = starts[i]; node < ends[i]; node++) {
        if (laws[i].isEmpty(buckets[i].spent(node - starts[i]), clock.now())
            && !isHeld(node, levels[i])) {
          throw new IllegalStateException("node " + node + " is open without a token");
        }
      }
    }
  }
}
