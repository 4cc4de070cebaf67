package io.espalier.core.scheduling.capacity;

import io.espalier.core.scheduling.util.LongMap;
import io.espalier.core.scheduling.util.LongQueue;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Where more is in use than the limit, and since when. Kept up to date by those who count slots, at
 * the moment at which a count passes zero: that never happens at a start, so it costs nothing in
 * the ordinary course. A lowered limit may bring millions of places over at once: no call here pays
 * for all of them.
 */
public final class OverLimitTracker {
  /** By resource: place to since when. */
  private final List<LongMap<Long>> ofResource = new ArrayList<>();

  /** By resource: since when to how many places. */
  private final List<TreeMap<Long, int[]>> counts = new ArrayList<>();

  private long now;
  private int size;
  private long work;

  /** Receives every place that goes over; null: nobody asks. */
  private @Nullable LongQueue log;

  public OverLimitTracker(int resources) {
    for (int r = 0; r < resources; r++) {
      ofResource.add(new LongMap<>());
      counts.add(new TreeMap<>());
    }
  }

  /** What is said from now on is so since then. */
  public void at(long nowMillis) {
    now = nowMillis;
  }

  /**
   * Notes the places that go over from now on.
   *
   * @param queue receives {@link #key}s
   */
  public void logTo(@Nullable LongQueue queue) {
    log = queue;
  }

  /** A place of a resource, in one number. */
  static long key(int resource, int place) {
    return (long) resource << 32 | place;
  }

  public static int resource(long key) {
    return (int) (key >>> 32);
  }

  public static int place(long key) {
    return (int) key;
  }

  /** Slots left at a place have changed. */
  public void changed(int resource, int place, int before, int after) {
    // Only where one of them is below zero and the other is not.
    if ((before ^ after) < 0) {
      set(resource, place, after < 0);
    }
  }

  /** The same where it is not known what was before. */
  public void set(int resource, int place, boolean isOver) {
    work++;
    LongMap<Long> places = ofResource.get(resource);
    Long since = places.size() == 0 ? null : places.get(place);
    if (isOver == (since != null)) {
      return;
    }
    if (since != null) {
      places.remove(place);
      count(resource, since, -1);
      size--;
    } else {
      places.put(place, now);
      count(resource, now, 1);
      size++;
      if (log != null) {
        log.add(key(resource, place));
      }
    }
  }

  private void count(int resource, long since, int by) {
    TreeMap<Long, int[]> bySince = counts.get(resource);
    int[] count = bySince.computeIfAbsent(since, millis -> new int[1]);
    count[0] += by;
    if (count[0] == 0) {
      bySince.remove(since);
    }
  }

  public boolean isEmpty() {
    return size == 0;
  }

  public boolean isOver(int resource, int place) {
    return since(resource, place) != null;
  }

  /** Since when; null: it is not over. */
  public @Nullable Long since(int resource, int place) {
    work++;
    return ofResource.get(resource).get(place);
  }

  /** Since when the first of them has been over; {@link Long#MAX_VALUE}: none is. */
  public long first(int resource) {
    TreeMap<Long, int[]> bySince = counts.get(resource);
    return bySince.isEmpty() ? Long.MAX_VALUE : bySince.firstKey();
  }

  /** The number of parts for {@link #visit}. */
  public int parts(int resource) {
    return ofResource.get(resource).parts();
  }

  /**
   * Visits one part of the places that are over, in no order, with since when.
   *
   * @return how many there were
   */
  public int visit(int resource, int part, LongMap.Visitor<? super Long> visitor) {
    int visited = ofResource.get(resource).visit(part, visitor);
    work += visited;
    return visited;
  }

  /** How many places were looked at. */
  public long work() {
    return work;
  }

  /** It is known to have been over since then; nothing where it is not over. */
  public void setSince(int resource, int place, long millis) {
    Long since = since(resource, place);
    if (since != null && since != millis) {
      ofResource.get(resource).put(place, millis);
      count(resource, since, -1);
      count(resource, millis, 1);
    }
  }
}
