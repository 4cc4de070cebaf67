package io.espalier.worker.call;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Counts unanswered requests, and keeps what waits for others to be answered. Each service has a
 * lane with a bound of its own, so that one which does not answer delays no other; what waits in a
 * lane goes in order, and lanes take turns. Each operation takes constant time. Not thread-safe.
 *
 * @param <T> what waits
 */
final class RequestLanes<T> {
  private final int mostOfOne;
  private final int mostOfAll;
  private final Map<String, Lane<T>> lanes = new HashMap<>();

  /** The lanes in which something waits that may be sent as far as their own bound goes. */
  private final LinkedHashSet<Lane<T>> ready = new LinkedHashSet<>();

  private int unanswered;

  private static final class Lane<T> {
    final ArrayDeque<T> waiting = new ArrayDeque<>();
    int unanswered;
  }

  /**
   * @param mostOfOne requests that one service may leave unanswered
   * @param mostOfAll requests that all of them together may
   */
  RequestLanes(int mostOfOne, int mostOfAll) {
    this.mostOfOne = mostOfOne;
    this.mostOfAll = mostOfAll;
  }

  /** Returns whether a request of a service may be sent now. */
  boolean hasRoom(String service) {
    Lane<T> lane = lanes.get(service);
    return unanswered < mostOfAll && (lane == null || lane.unanswered < mostOfOne);
  }

  /** Notes that a request is sent. */
  void sent(String service) {
    Lane<T> lane = lane(service);
    lane.unanswered++;
    unanswered++;
    settle(service, lane);
  }

  /** Notes that a request was answered. */
  void answered(String service) {
    Lane<T> lane = lane(service);
    lane.unanswered--;
    unanswered--;
    settle(service, lane);
  }

  /** Adds something that waits. */
  void add(String service, T waiting) {
    Lane<T> lane = lane(service);
    lane.waiting.add(waiting);
    settle(service, lane);
  }

  /** Removes what may be sent next; null: nothing waits that may be sent. */
  @Nullable T next() {
    if (unanswered >= mostOfAll || ready.isEmpty()) {
      return null;
    }
    Lane<T> lane = ready.iterator().next();
    T next = lane.waiting.remove();
    ready.remove(lane);
    if (!lane.waiting.isEmpty()) {
      ready.add(lane);
    }
    return next;
  }

  private Lane<T> lane(String service) {
    return lanes.computeIfAbsent(service, name -> new Lane<>());
  }

  private void settle(String service, Lane<T> lane) {
    if (lane.waiting.isEmpty() || lane.unanswered >= mostOfOne) {
      ready.remove(lane);
    } else {
      ready.add(lane);
    }
    if (lane.waiting.isEmpty() && lane.unanswered == 0) {
      lanes.remove(service);
    }
  }
}
