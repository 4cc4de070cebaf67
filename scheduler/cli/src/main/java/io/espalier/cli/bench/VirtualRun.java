package io.espalier.cli.bench;

import io.espalier.core.config.Job;
import io.espalier.core.config.task.Backoff;
import io.espalier.core.forecast.EndQueue;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.scheduling.SchedulingPolicy;
import io.espalier.core.scheduling.spi.SplitMix64;
import io.espalier.core.status.FirstRunStatusCache;
import io.espalier.core.status.ParsedStatus;
import io.espalier.core.status.TaskEvent;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.TaskTransitions;
import java.util.Objects;

/**
 * Runs one point of the experiment in virtual time: the production core, driven like in the
 * scheduler's loop. Only the tasks are simulated: each is a completion that arrives after its
 * duration.
 *
 * <p><b>Time.</b> The scheduler is one server in virtual time. A slice of its loop (drain the
 * arrived completions, apply them by the table of statuses, place up to 256 tasks) takes as long in
 * virtual time as it really took by the {@link WorkClock}. The placed tasks begin only after that,
 * and completions that arrive meanwhile wait for the next slice. A scheduler that is too slow
 * leaves slots empty and loses throughput; when it is idle, virtual time jumps to the next
 * completion. The queue of completions and the drawing of durations belong to the experiment and
 * are not charged.
 *
 * <p>It begins in the middle: all slots are occupied by tasks with the rest of a random duration,
 * so that throughput is steady from the start. Not thread-safe; for single use.
 */
final class VirtualRun {
  /** As in the loop: the maximum number of completions processed before anything is placed. */
  private static final int ENDS_PER_SLICE = 4096;

  private static final int STARTS_PER_SLICE = 256;
  private static final int TIMERS_PER_SLICE = 2_000;

  private static final TaskEvent STARTED = new TaskEvent.Started();
  private static final TaskEvent DONE = new TaskEvent.Ended(ParsedStatus.DONE);
  private static final TaskStatus PLAINLY_DONE = TaskStatus.of(TaskStatus.Main.DONE, 0, 1);
  private static final double NANOS = 1e9;

  private final PaperPoint point;
  private final SchedulingPolicy policy;
  private final WorkClock clock;
  private final long clockOverhead;
  private final SchedulingCore core;
  private final SplitMix64 durations;
  private final int globalJob;
  private final EndQueue ends;
  private final long[] due = new long[ENDS_PER_SLICE];
  private final long[] placed = new long[STARTS_PER_SLICE];
  private final boolean statuses;
  private final FirstRunStatusCache firstStarts = new FirstRunStatusCache();
  private int placedCount;

  /** Virtual time, in nanoseconds. */
  private long now;

  private final long from;
  private final long to;

  private long usedNanos;
  private long ended;
  private long globalEnded;
  private long starts;
  private long slices;
  private long workNanos;
  private long checksum;

  /**
   * @param statuses whether each task gets its statuses by the table of transitions, as in the loop
   */
  VirtualRun(
      PaperPoint point,
      PaperWorld world,
      SchedulingPolicy policy,
      WorkClock clock,
      long seed,
      boolean statuses) {
    this.statuses = statuses;
    this.point = point;
    this.policy = policy;
    this.clock = clock;
    clockOverhead = clock.overheadNanos();
    durations = new SplitMix64(seed ^ 0x5eedL);
    core = new SchedulingCore(seed);
    core.apply(world.config(), world.topology(), 0);
    globalJob = point.hasGlobalJob() ? core.findJob(PaperWorld.globalJob()) : -1;
    ends = new EndQueue(point.slots() + ENDS_PER_SLICE);
    from = (long) (point.warmUpSeconds() * NANOS);
    to = from + (long) (point.measuredSeconds() * NANOS);
  }

  PaperResult run() {
    boolean complete = false;
    while (!complete) {
      placedCount = 0;
      complete = core.round(policy, STARTS_PER_SLICE, this::placed);
      begin(true);
    }
    long workBefore = 0;
    boolean measuring = false;
    while (true) {
      if (complete && ends.nextTime() > now) {
        now = Math.min(to, ends.nextTime());
      }
      if (now >= to) {
        break;
      }
      if (!measuring && now >= from) {
        measuring = true;
        workBefore = core.work();
        starts = 0;
        slices = 0;
      }
      int dueCount = 0;
      while (dueCount < ENDS_PER_SLICE && ends.nextTime() <= now) {
        due[dueCount++] = ends.remove();
      }
      placedCount = 0;
      long before = clock.nanos();
      complete = slice(dueCount);
      long took = Math.max(0, clock.nanos() - before - clockOverhead);
      slices++;
      workNanos += measuring ? took : 0;
      now += took;
      begin(false);
    }
    return result(core.work() - workBefore);
  }

  /** Does what one step of the loop does with the core. */
  private boolean slice(int dueCount) {
    long nowMillis = now / 1_000_000;
    for (int i = 0; i < dueCount; i++) {
      end(due[i], nowMillis);
    }
    boolean timersDone = core.advance(nowMillis, TIMERS_PER_SLICE);
    return core.round(policy, STARTS_PER_SLICE, this::placed) && timersDone;
  }

  private void end(long run, long nowMillis) {
    if (!statuses) {
      core.finish(run, PLAINLY_DONE);
      return;
    }
    int job = core.running().job(run);
    TaskStatus before = core.running().status(run);
    core.finish(run, TaskTransitions.apply(before, DONE, backoff(job), nowMillis).status());
  }

  private void placed(long run) {
    placed[placedCount++] = run;
    if (!statuses) {
      return;
    }
    TaskStatus before = core.running().status(run);
    long nowMillis = now / 1_000_000;
    TaskStatus status =
        before == null
            ? firstStarts.at(nowMillis)
            : TaskTransitions.apply(before, STARTED, backoff(core.running().job(run)), nowMillis)
                .status();
    core.setRunStatus(run, Objects.requireNonNull(status));
  }

  private Backoff backoff(int job) {
    Job config = core.job(job);
    return Objects.requireNonNull(config).backoff();
  }

  /** Starts the tasks of a slice. */
  private void begin(boolean inTheMiddle) {
    for (int i = 0; i < placedCount; i++) {
      long run = placed[i];
      boolean global = core.running().job(run) == globalJob;
      double average = global ? point.globalTaskSeconds() : point.taskSeconds();
      double part = durations.fraction();
      // The rest of a task at a random moment is more often short than long.
      double share = inTheMiddle ? 1 - Math.sqrt(1 - part) : part;
      long end = now + (long) (share * 2 * average * NANOS);
      ends.add(end, run);
      usedNanos += Math.max(0, Math.min(end, to) - Math.max(now, from));
      if (end >= from && end < to) {
        ended++;
        globalEnded += global ? 1 : 0;
      }
      checksum =
          checksum * 0x9e3779b97f4a7c15L + core.running().node(run) * 31L + core.running().job(run);
    }
    starts += placedCount;
  }

  private PaperResult result(long words) {
    double seconds = (to - from) / NANOS;
    double taskTime =
        (ended - globalEnded) * point.taskSeconds() + globalEnded * point.globalTaskSeconds();
    return new PaperResult(
        point,
        seconds,
        ended / seconds,
        taskTime / (point.slots() * seconds),
        usedNanos / NANOS / (point.slots() * seconds),
        globalEnded / seconds,
        starts,
        slices,
        workNanos,
        starts == 0 ? 0 : (double) words / starts,
        checksum);
  }
}
