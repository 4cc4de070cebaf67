package io.espalier.core.scheduling.reservation;

import io.espalier.core.config.Job;
import io.espalier.core.scheduling.job.JobTable;
import io.espalier.core.scheduling.queue.QueueLimit;
import io.espalier.core.scheduling.queue.QueueState;
import io.espalier.core.scheduling.queue.QueueTable;
import java.util.Arrays;

/** The caps of queues as reservable capacity, where each queue is a place. */
final class QueueCapacity implements ReservableCapacity {
  private final QueueTable queues;
  private final JobTable jobs;
  private final long[] heavy;

  QueueCapacity(QueueTable queues, JobTable jobs) {
    this.queues = queues;
    this.jobs = jobs;
    heavy = new long[jobs.words];
    changed();
  }

  /** Recomputes the heavy jobs, because the limits of queues may have changed. */
  void changed() {
    Arrays.fill(heavy, 0);
    for (int q = 0; q < queues.count(); q++) {
      QueueState queue = queues.queue(q);
      QueueLimit[] caps = queue.caps();
      StarvationAnalysis others = new StarvationAnalysis(caps.length);
      for (int job : queue.jobs) {
        if (jobs.job(job) != null) {
          others.add(needs(caps, job));
        }
      }
      for (int job : queue.jobs) {
        Job configured = jobs.job(job);
        if (configured != null
            && configured.scheduling().reserveAfter().isPresent()
            && others.isStarved(needs(caps, job))) {
          heavy[job >>> 6] |= 1L << job;
        }
      }
    }
  }

  private int[] needs(QueueLimit[] caps, int job) {
    return Arrays.stream(caps).mapToInt(cap -> queues.need(job, cap.resource)).toArray();
  }

  @Override
  public long heavy(int word) {
    return heavy[word];
  }

  @Override
  public long open(int word) {
    return queues.open(word);
  }

  /**
   * Returns all bits: queues come first, because reserving one costs only the other jobs of the
   * queue.
   */
  @Override
  public long before(int word) {
    return -1L;
  }

  @Override
  public int placeFor(int job) {
    int queue = queues.ofJob(job);
    return queues.queue(queue).holder < 0 && isEnough(queue, job) ? queue : -1;
  }

  private boolean isEnough(int queue, int job) {
    // This query comes first, because it applies pending changes.
    queues.open(job >>> 6);
    for (QueueLimit cap : queues.queue(queue).caps()) {
      if (queues.need(job, cap.resource) > cap.cap()) {
        return false;
      }
    }
    return true;
  }

  @Override
  public boolean isKept(int place, int job) {
    return queues.queue(place).holder == job;
  }

  @Override
  public boolean suits(int place, int job) {
    return isKept(place, job) && isEnough(place, job);
  }

  @Override
  public void keep(int place, int job) {
    queues.keepFor(place, job);
  }

  @Override
  public void free(int place, int job) {
    if (isKept(place, job)) {
      queues.keepFor(place, -1);
    }
  }

  @Override
  public int again(String name, int job) {
    int queue = placeFor(job);
    return queue >= 0 && name(queue).equals(name) ? queue : -1;
  }

  @Override
  public String name(int place) {
    return queues.queue(place).name;
  }
}
