package io.espalier.core.scheduling.task;

import io.espalier.core.config.Job;
import io.espalier.core.scheduling.capacity.LimitTable;
import io.espalier.core.scheduling.gate.GateKind;
import io.espalier.core.scheduling.gate.GateTable;
import io.espalier.core.scheduling.gate.JobGates;
import io.espalier.core.scheduling.gate.Scope;
import io.espalier.core.scheduling.job.JobTable;
import io.espalier.core.scheduling.util.RateLimiterClock;
import io.espalier.core.scheduling.util.TokenBucketMath;
import io.espalier.core.scheduling.util.TokenBuckets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Enforces the jobs' own limits: {@code max_concurrent}, caps, {@code start_rate}, and gates that
 * are a lack of room ({@code max_starting}). They are bits by job, which are written only when a
 * job reaches or leaves a limit.
 */
public final class JobThrottle {
  private final JobTable jobs;
  private final RateLimiterClock clock;
  private final JobGates gates;
  private final LimitTable limits;
  private final GateTable gateTable;
  private final int[] running;

  /** The maximum number of concurrent tasks by job; {@link Integer#MAX_VALUE}: no limit. */
  private final int[] most;

  private final long[] full;

  /** The bits of the jobs with a gate of kind {@code JOB_STARTING}. */
  private final long[] starting;

  private final @Nullable TokenBucketMath[] laws;

  /** Null: no job ever had a rate. */
  private @Nullable TokenBuckets buckets;

  /**
   * @param gates must be told of every job that reaches or leaves a limit; {@link #open} is one of
   *     their sources
   */
  public JobThrottle(
      JobTable jobs,
      RateLimiterClock clock,
      JobGates gates,
      LimitTable limits,
      GateTable gateTable) {
    this.jobs = jobs;
    this.clock = clock;
    this.gates = gates;
    this.limits = limits;
    this.gateTable = gateTable;
    most = new int[jobs.count()];
    running = new int[jobs.count()];
    full = new long[jobs.words];
    starting = new long[jobs.words];
    laws = new @Nullable TokenBucketMath[jobs.count()];
    for (int job = 0; job < laws.length; job++) {
      most[job] = configuredMost(job);
      laws[job] = law(job);
      if (laws[job] != null && buckets == null) {
        buckets = new TokenBuckets(laws.length, j -> laws[j]);
      }
    }
  }

  private @Nullable TokenBucketMath law(int job) {
    Job configured = jobs.job(job);
    return configured == null
        ? null
        : configured.scheduling().startRate().map(TokenBucketMath::of).orElse(null);
  }

  /** Returns the bits of the jobs that may start another task. */
  public long open(int word) {
    long closed = full[word] | starting[word];
    return ~(buckets == null ? closed : closed | buckets.empty(word));
  }

  // ---- tasks at once

  /**
   * Returns the maximum number of concurrent tasks of a job: {@code max_concurrent} or a smaller
   * cap; {@link Integer#MAX_VALUE}: no limit.
   */
  public int most(int job) {
    return most[job];
  }

  private int configuredMost(int job) {
    Job configured = jobs.job(job);
    int configuredMost = configured == null ? 0 : configured.scheduling().maxConcurrent();
    return configuredMost > 0 ? configuredMost : Integer.MAX_VALUE;
  }

  private int allowed(int job) {
    return Math.min(configuredMost(job), limits.mostRunning(Scope.job(jobs.name(job))));
  }

  /** Begins to follow the caps, which may only be read on the scheduler's thread. */
  public void followCaps() {
    for (int job = 0; job < most.length; job++) {
      capChanged(job);
    }
  }

  /** Rereads the caps of a job. */
  public void capChanged(int job) {
    most[job] = allowed(job);
    compare(job);
  }

  public int running(int job) {
    return running[job];
  }

  public boolean isFull(int job) {
    return (full[job >>> 6] & 1L << job) != 0;
  }

  /**
   * Counts a running task of the job, whether it was started here or not.
   *
   * @param job -1: unknown
   */
  public void entered(int job) {
    if (job >= 0) {
      running[job]++;
      compare(job);
    }
  }

  /** Stops counting a running task of the job. */
  public void left(int job) {
    if (job >= 0) {
      running[job]--;
      compare(job);
    }
  }

  private void compare(int job) {
    if (isFull(job) != running[job] >= most[job]) {
      full[job >>> 6] ^= 1L << job;
      gates.changed(job >>> 6);
    }
  }

  // ---- starts in flight

  /**
   * Rereads the gate of a job that is a lack of room; it is read on the scheduler's thread only.
   */
  public void gateChanged(int job) {
    if (hasGate(job) != isStarting(job)) {
      starting[job >>> 6] ^= 1L << job;
      gates.changed(job >>> 6);
    }
  }

  private boolean hasGate(int job) {
    return !gateTable.areOpen(GateKind.JOB_STARTING)
        && gateTable.get(GateKind.JOB_STARTING, Scope.job(jobs.name(job))) != null;
  }

  private boolean isStarting(int job) {
    return (starting[job >>> 6] & 1L << job) != 0;
  }

  // ---- starts over time

  /** Takes a token for a start of the job. */
  public void started(int job) {
    if (buckets != null && buckets.charge(job, clock.now())) {
      gates.changed(job >>> 6);
    }
  }

  /** Returns whether the job waits for a token. */
  public boolean isHeld(int job) {
    return buckets != null && buckets.isEmpty(job);
  }

  /** Returns the number of jobs that wait for a token. */
  public int heldCount() {
    return buckets == null ? 0 : buckets.emptyCount();
  }

  /** Returns when a waiting job may start a task, in wall-clock time. */
  public long heldUntil(int job) {
    return buckets == null ? 0 : clock.wallTick(buckets.due(job));
  }

  /**
   * Opens the jobs that have a token again.
   *
   * @return the number of timers handled
   */
  public int advance(int limit) {
    int done = 0;
    while (done < limit && isDue()) {
      done++;
      int job = buckets == null ? -1 : buckets.poll(clock.lastTick());
      if (job >= 0) {
        gates.changed(job >>> 6);
      }
    }
    return done;
  }

  public boolean isDue() {
    return buckets != null && buckets.isDue(clock.lastTick());
  }

  public long nextMillis() {
    return buckets == null ? Long.MAX_VALUE : clock.wallTick(buckets.next());
  }

  // ---- changes

  /** Rereads the limits of the jobs after an in-place update. */
  public void reread() {
    JobThrottle before = new JobThrottle(this);
    for (int job = 0; job < laws.length; job++) {
      capChanged(job);
      laws[job] = law(job);
      if (laws[job] != null && buckets == null) {
        buckets = new TokenBuckets(laws.length, j -> laws[j]);
      }
    }
    goOnAfter(before);
  }

  /** Copies the state before an in-place update. */
  private JobThrottle(JobThrottle other) {
    jobs = other.jobs;
    clock = other.clock;
    gates = other.gates;
    limits = other.limits;
    gateTable = other.gateTable;
    running = other.running;
    most = other.most;
    full = other.full;
    starting = other.starting;
    laws = Arrays.copyOf(other.laws, other.laws.length);
    buckets = other.buckets;
  }

  /**
   * Takes over the tokens of the jobs with the same names, up to the new burst. A job that had no
   * rate begins without tokens, as after a start of the scheduler.
   */
  public void goOnAfter(JobThrottle old) {
    if (buckets == null) {
      return;
    }
    long now = clock.now();
    for (int job = 0; job < laws.length; job++) {
      TokenBucketMath law = laws[job];
      int before = law == null ? -1 : old.jobs.find(jobs.name(job));
      TokenBucketMath oldLaw = before < 0 ? null : old.laws[before];
      if (law == null) {
        buckets.put(job, 0, false);
      } else if (oldLaw == null || old.buckets == null) {
        buckets.put(job, law.nothing(now), true);
      } else if (buckets != old.buckets || !law.equals(oldLaw)) {
        long spent = law.convert(old.buckets.spent(before), oldLaw, now);
        buckets.put(job, spent, old.buckets.isEmpty(before) || law.isEmpty(spent, now));
      }
    }
    gates.changed();
  }

  /**
   * Compares the counts with those of the placements.
   *
   * @throws IllegalStateException with the first difference
   */
  public void check(RunPlacements places) {
    for (int job = 0; job < laws.length; job++) {
      boolean isFull = places.ofJob(job) >= allowed(job);
      TokenBucketMath law = laws[job];
      boolean isEmpty =
          law != null && buckets != null && law.isEmpty(buckets.spent(job), clock.now());
      if (running[job] != places.ofJob(job)
          || isFull != isFull(job)
          || hasGate(job) != isStarting(job)
          || (isEmpty && !isHeld(job))
          || (law == null && isHeld(job))) {
        throw new IllegalStateException("the caps of job " + job + " are wrong");
      }
    }
    if (buckets != null && !buckets.isSound()) {
      throw new IllegalStateException("a job without a token has no timer");
    }
  }
}
