package io.espalier.core.scheduling;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Where more is in use than the limit, and since when. Kept up to date by those who count slots, at
 * the moment at which a count passes zero: that never happens at a start, so it costs nothing in
 * the ordinary course.
 */
final class OverLimits {
  /** By resource: places in the order in which they went over, each with when. */
  private final List<LinkedHashMap<Integer, Long>> ofResource = new ArrayList<>();

  private long now;
  private int size;

  OverLimits(int resources) {
    for (int r = 0; r < resources; r++) {
      ofResource.add(new LinkedHashMap<>());
    }
  }

  /** What is said from now on is so since then. */
  void at(long nowMillis) {
    now = nowMillis;
  }

  /** Slots left at a place have changed. */
  void changed(int resource, int place, int before, int after) {
    // Only where one of them is below zero and the other is not.
    if ((before ^ after) < 0) {
      set(resource, place, after < 0);
    }
  }

  /** The same where it is not known what was before. */
  void set(int resource, int place, boolean isOver) {
    Map<Integer, Long> places = ofResource.get(resource);
    if (!isOver) {
      size -= !places.isEmpty() && places.remove(place) != null ? 1 : 0;
    } else if (places.putIfAbsent(place, now) == null) {
      size++;
    }
  }

  boolean isEmpty() {
    return size == 0;
  }

  int size() {
    return size;
  }

  boolean isOver(int resource, int place) {
    return ofResource.get(resource).containsKey(place);
  }

  /** In the order in which they went over, by place; not to be changed. */
  Map<Integer, Long> of(int resource) {
    return ofResource.get(resource);
  }

  /** Since when the first of them has been over; {@link Long#MAX_VALUE}: none is. */
  long first(int resource) {
    Map<Integer, Long> places = ofResource.get(resource);
    return places.isEmpty() ? Long.MAX_VALUE : places.values().iterator().next();
  }

  /** Takes over since when, of a place that was over in another world, too. */
  void since(int resource, Map<Integer, Long> older) {
    LinkedHashMap<Integer, Long> places = ofResource.get(resource);
    places.replaceAll((place, since) -> older.getOrDefault(place, since));
    // What this world saw first may have been before what the other one saw meanwhile.
    List<Map.Entry<Integer, Long>> sorted = new ArrayList<>();
    places.forEach((place, since) -> sorted.add(Map.entry(place, since)));
    sorted.sort(Map.Entry.comparingByValue());
    places.clear();
    sorted.forEach(entry -> places.put(entry.getKey(), entry.getValue()));
  }
}
