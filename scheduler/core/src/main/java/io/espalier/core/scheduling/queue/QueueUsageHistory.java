package io.espalier.core.scheduling.queue;

import io.espalier.core.scheduling.job.JobTable;
import java.util.HashMap;
import java.util.Map;

/**
 * What queues have used, by name: kept while one world follows another, while a queue is not
 * configured, and over restarts.
 */
public final class QueueUsageHistory {
  /** Less than this is forgotten where there is no such queue. */
  private static final double FORGOTTEN = QueueState.LEAST_PRIORITY / 1000;

  private final Map<String, Past> past = new HashMap<>();

  /**
   * @param lastJob whose turn it was last; empty: nobody's
   */
  private record Past(double value, long atMillis, double balance, String lastJob) {}

  /** A value from elsewhere, such as before a restart: nothing was held since. */
  public void put(String queue, double value, long atMillis) {
    past.put(queue, new Past(value, atMillis, 0, ""));
  }

  void keep(QueueState queue, JobTable jobs, long nowMillis) {
    String last = queue.last < 0 ? "" : jobs.name(queue.last);
    past.put(queue.name, new Past(queue.usage.at(nowMillis), nowMillis, queue.balance, last));
  }

  /** Gives a queue of the next world what is known of it. */
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

  /** The value alone, if there is one. */
  void restoreKnown(QueueState queue, long nowMillis, long halfLifeMillis) {
    Past known = past.remove(queue.name);
    if (known != null) {
      queue.usage.setValue(value(known, nowMillis, halfLifeMillis), nowMillis);
    }
  }

  private static double value(Past known, long nowMillis, long halfLifeMillis) {
    return DecayedUsage.after(known.value(), 0, nowMillis - known.atMillis(), halfLifeMillis);
  }

  /** Another half-life holds from now on: until now it was this one. */
  void settle(long nowMillis, long halfLifeMillis) {
    past.replaceAll(
        (queue, known) ->
            new Past(
                value(known, nowMillis, halfLifeMillis),
                Math.max(nowMillis, known.atMillis()),
                known.balance(),
                known.lastJob()));
  }

  /** Forgets what is worth nothing any more. */
  void prune(long nowMillis, long halfLifeMillis) {
    past.values().removeIf(known -> value(known, nowMillis, halfLifeMillis) < FORGOTTEN);
  }

  /** What is known of queues that are not configured, as of now. */
  Map<String, Double> values(long nowMillis, long halfLifeMillis) {
    Map<String, Double> values = new HashMap<>();
    past.forEach((name, known) -> values.put(name, value(known, nowMillis, halfLifeMillis)));
    values.values().removeIf(value -> value < FORGOTTEN);
    return values;
  }
}
