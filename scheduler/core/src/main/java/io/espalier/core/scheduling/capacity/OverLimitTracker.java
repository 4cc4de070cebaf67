package io.espalier.core.scheduling.capacity;

import io.espalier.core.scheduling.util.LongMap;
import io.espalier.core.scheduling.util.LongQueue;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Tracks the places where usage exceeds the limit, and since when. The classes that count slots
 * update it when the free slots of a place become negative or cease to be. A start never causes
 * this, so tracking costs nothing in normal operation. A lowered limit may push millions of places
 * over it at once; no single call handles all of them.
 */
public final class OverLimitTracker {
  /** By resource: the start of the excess by place. */
  private final List<LongMap<Long>> ofResource = new ArrayList<>();

  /** By resource: the number of places by the start of the excess. */
  private final List<TreeMap<Long, int[]>> counts = new ArrayList<>();

  private long now;
  private int size;
  private long work;

  /** Receives every place that goes over its limit; may be null. */
  private @Nullable LongQueue log;

  public OverLimitTracker(int resources) {
    for (int r = 0; r < resources; r++) {
      ofResource.add(new LongMap<>());
      counts.add(new TreeMap<>());
    }
  }

  /** Sets the time for the following changes. */
  public void at(long nowMillis) {
    now = nowMillis;
  }

  /**
   * Logs the places that go over their limit from now on.
   *
   * @param queue receives {@link #key}s
   */
  public void logTo(@Nullable LongQueue queue) {
    log = queue;
  }

  /** Encodes a place of a resource in one number. */
  static long key(int resource, int place) {
    return (long) resource << 32 | place;
  }

  public static int resource(long key) {
    return (int) (key >>> 32);
  }

  public static int place(long key) {
    return (int) key;
  }

  /** Handles a change of the free slots at a place. */
  public void changed(int resource, int place, int before, int after) {
    // The signs differ: exactly one of the two is negative.
    if ((before ^ after) < 0) {
      set(resource, place, after < 0);
    }
  }

  /** Sets whether a place is over its limit when its previous state is unknown. */
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

  /** Returns since when a place has been over its limit; null: it is not. */
  public @Nullable Long since(int resource, int place) {
    work++;
    return ofResource.get(resource).get(place);
  }

  /** Returns the earliest start of an excess; {@link Long#MAX_VALUE}: there is none. */
  public long first(int resource) {
    TreeMap<Long, int[]> bySince = counts.get(resource);
    return bySince.isEmpty() ? Long.MAX_VALUE : bySince.firstKey();
  }

  /** Returns the number of parts for {@link #visit}. */
  public int parts(int resource) {
    return ofResource.get(resource).parts();
  }

  /**
   * Visits one part of the places over their limit, unordered, with the start of the excess.
   *
   * @return the number of places in the part
   */
  public int visit(int resource, int part, LongMap.Visitor<? super Long> visitor) {
    int visited = ofResource.get(resource).visit(part, visitor);
    work += visited;
    return visited;
  }

  /** Returns the number of places visited so far. */
  public long work() {
    return work;
  }

  /** Sets since when a place has been over its limit; does nothing when it is not over it. */
  public void setSince(int resource, int place, long millis) {
    Long since = since(resource, place);
    if (since != null && since != millis) {
      ofResource.get(resource).put(place, millis);
      count(resource, since, -1);
      count(resource, millis, 1);
    }
  }
}
