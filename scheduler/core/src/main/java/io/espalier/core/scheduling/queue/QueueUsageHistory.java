package io.espalier.core.scheduling.queue;

import io.espalier.core.scheduling.job.JobTable;
import java.util.HashMap;
import java.util.Map;

/**
 * The past usage of queues by name. It survives migrations to another state, restarts, and times
 * when a queue is not configured.
 */
public final class QueueUsageHistory {
  /** The value below which the usage of a queue that does not exist is dropped. */
  private static final double FORGOTTEN = QueueState.LEAST_PRIORITY / 1000;

  private final Map<String, Past> past = new HashMap<>();

  /**
   * @param lastJob the job that had the last turn; empty: none
   */
  private record Past(double value, long atMillis, double balance, String lastJob) {}

  /**
   * Stores a value restored from elsewhere, for example after a restart; the queue counts as idle
   * since then.
   */
  public void put(String queue, double value, long atMillis) {
    past.put(queue, new Past(value, atMillis, 0, ""));
  }

  void keep(QueueState queue, JobTable jobs, long nowMillis) {
    String last = queue.last < 0 ? "" : jobs.name(queue.last);
    past.put(queue.name, new Past(queue.usage.at(nowMillis), nowMillis, queue.balance, last));
  }

  /** Restores a queue of the next state. */
  void restore(QueueState queue, JobTable jobs, long nowMillis, long halfLifeMillis) {
    Past known = past.get(queue.name);
    if (known == null) {
      queue.usage.setValue(0, nowMillis);
      return;
    }
    restoreKnown(queue, nowMillis, halfLifeMillis);
    queue.balance = known.balance();
    for (int j : queue.jobs) {
      if (jobs.job(j) != null && jobs.name(j).compareTo(known.lastJob()) <= 0) {
        queue.last = j;
      }
    }
  }

  /** Restores only the value, if there is one. */
  void restoreKnown(QueueState queue, long nowMillis, long halfLifeMillis) {
    Past known = past.remove(queue.name);
    if (known != null) {
      queue.usage.setValue(value(known, nowMillis, halfLifeMillis), nowMillis);
    }
  }

  private static double value(Past known, long nowMillis, long halfLifeMillis) {
    return DecayedUsage.after(known.value(), 0, nowMillis - known.atMillis(), halfLifeMillis);
  }

  /**
   * Decays all values by this half-life up to now, because another half-life applies from now on.
   */
  void settle(long nowMillis, long halfLifeMillis) {
    past.replaceAll(
        (queue, known) ->
            new Past(
                value(known, nowMillis, halfLifeMillis),
                Math.max(nowMillis, known.atMillis()),
                known.balance(),
                known.lastJob()));
  }

  /** Drops negligible values. */
  void prune(long nowMillis, long halfLifeMillis) {
    past.values().removeIf(known -> value(known, nowMillis, halfLifeMillis) < FORGOTTEN);
  }

  /** Returns the current values of queues that are not configured. */
  Map<String, Double> values(long nowMillis, long halfLifeMillis) {
    Map<String, Double> values = new HashMap<>();
    past.forEach((name, known) -> values.put(name, value(known, nowMillis, halfLifeMillis)));
    values.values().removeIf(value -> value < FORGOTTEN);
    return values;
  }
}
