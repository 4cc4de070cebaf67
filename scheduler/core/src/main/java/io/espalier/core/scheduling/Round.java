package io.espalier.core.scheduling;

import io.espalier.core.config.Job;
import io.espalier.core.config.task.BatchSpec;
import io.espalier.core.scheduling.queue.QueueState;
import io.espalier.core.scheduling.spi.SplitMix64;
import io.espalier.core.scheduling.state.SchedulingState;
import io.espalier.core.scheduling.state.TaskAllocator;
import io.espalier.core.scheduling.task.RunningTasks;
import io.espalier.core.status.TaskStatus;

/**
 * The view of a scheduling round that a policy works on: it lists the jobs that have a startable
 * task, and starts tasks of these jobs. Jobs are small numbers, valid within the round. A start
 * never opens a job, so one pass over {@link #openJobs} is enough.
 */
public final class Round {
  /**
   * The number of queues above which slices become shorter, because a policy checks each queue per
   * start.
   */
  private static final int FEW_QUEUES = 256;

  private static final int LOOKS_AT_QUEUES = 100_000;

  private final SchedulingState state;
  private final RunningTasks runs;
  private final SplitMix64 random;
  private final Turns turns;
  private final Starter starter;
  private final BatchWaits batchWaits;
  private int left;
  private PlacementListener sink = run -> {};

  /** Starts tasks of an open job. */
  interface Starter {
    /** Returns the running task; negative: there was none that may start, look again. */
    int start(int job);

    /** See {@link TaskAllocator#startBeside}. */
    int startBeside(int first, int under);
  }

  /** The job that had the last turn; survives rounds. */
  static final class Turns {
    int last = -1;
  }

  Round(SchedulingState state, RunningTasks runs, SplitMix64 random, Turns turns, Starter starter) {
    this.state = state;
    this.runs = runs;
    this.random = random;
    this.turns = turns;
    this.starter = starter;
    batchWaits = new BatchWaits(state.jobs);
  }

  BatchWaits batchWaits() {
    return batchWaits;
  }

  /** Tells the waits of batches of a task that is about to end. */
  void ending(int run) {
    int job = state.places.job(run);
    BatchSpec batch = batchWaits.awaited(job);
    if (batch != null) {
      int node = state.places.node(run, batch.level());
      batchWaits.ended(job, batch, node, state.places.worker(run));
    }
  }

  /** Begins the waits of batches, before a policy is asked. */
  void beginWaits(long nowMillis) {
    batchWaits.begin(nowMillis, job -> (state.openJobs(job >>> 6) & 1L << job) != 0);
  }

  void slice(int maxStarts, PlacementListener newSink) {
    int queues = state.queues.count();
    left =
        queues <= FEW_QUEUES
            ? maxStarts
            : Math.min(maxStarts, Math.max(1, LOOKS_AT_QUEUES / queues));
    sink = newSink;
  }

  SchedulingState state() {
    return state;
  }

  /** Returns whether no job is open any more. */
  boolean isComplete() {
    for (int w = 0; w < state.jobs.words; w++) {
      if (open(w) != 0) {
        return false;
      }
    }
    return true;
  }

  private long open(int word) {
    return state.openJobs(word) & ~batchWaits.word(word);
  }

  /** Returns whether no more tasks may be started in this round or slice. */
  public boolean isOver() {
    return left <= 0 || isComplete();
  }

  /** Returns whether a task of the job may start now. */
  public boolean isOpen(int job) {
    return (open(job >>> 6) & 1L << job) != 0;
  }

  /** Returns the open jobs in a seeded random order, as a new array. */
  public int[] openJobs() {
    int count = 0;
    for (int w = 0; w < state.jobs.words; w++) {
      count += Long.bitCount(open(w));
    }
    int[] jobs = new int[count];
    int n = 0;
    for (int w = 0; w < state.jobs.words; w++) {
      for (long bits = open(w); bits != 0; bits &= bits - 1) {
        int at = random.below(n + 1);
        jobs[n++] = jobs[at];
        jobs[at] = (w << 6) + Long.numberOfTrailingZeros(bits);
      }
    }
    return jobs;
  }

  /** Returns whether jobs are to take turns in a random order, in place of that of their names. */
  public boolean isShuffled() {
    return state.config().settings().shuffle();
  }

  /**
   * Returns the open job whose turn is next, or -1. Jobs take turns in name order, across slices
   * and rounds.
   */
  public int nextInTurn() {
    int from = turns.last + 1;
    int job = nextOpen(from);
    if (job < 0) {
      job = nextOpen(0);
    }
    if (job >= 0) {
      turns.last = job;
    }
    return job;
  }

  private int nextOpen(int from) {
    for (int w = from >>> 6; w < state.jobs.words; w++) {
      long bits = open(w);
      if (w == from >>> 6) {
        bits &= -1L << from;
      }
      if (bits != 0) {
        return (w << 6) + Long.numberOfTrailingZeros(bits);
      }
    }
    return -1;
  }

  // ---- queues

  /** Returns the number of known queues, with or without jobs. Queues are numbered from 0. */
  public int queueCount() {
    return state.queues.count();
  }

  /** Returns the number of the job's queue. */
  public int queue(int job) {
    return state.queues.ofJob(job);
  }

  /** Returns whether queues are prioritized by their weights rather than their factors. */
  public boolean isByWeight() {
    return state.queues.isByWeight();
  }

  /** Returns the weight of a queue: positive, 1 by default. */
  public double weight(int queue) {
    return state.queues.queue(queue).weight();
  }

  /**
   * Returns the effective priority of a queue; a lower value entitles it to more. With factors, it
   * is the factor times the recent usage, with a floor, so it is positive; it stays constant within
   * a slice. With weights, it is the usage projected one half-life ahead with the slots now in use,
   * divided by the weight; it grows with each start.
   */
  public double effectivePriority(int queue) {
    return state.queues.effective(queue);
  }

  /** Returns whether a job of the queue is open. */
  public boolean isQueueOpen(int queue) {
    return nextOpen(state.queues.queue(queue), 0) >= 0;
  }

  /**
   * Returns the open job of a queue whose turn is next, or -1. The jobs of a queue take turns in
   * name order, across slices and rounds.
   */
  public int nextInTurn(int queue) {
    QueueState queueState = state.queues.queue(queue);
    int job = nextOpen(queueState, queueState.last + 1);
    if (job < 0) {
      job = nextOpen(queueState, 0);
    }
    if (job >= 0) {
      queueState.last = job;
    }
    return job;
  }

  private int nextOpen(QueueState queue, int from) {
    for (int i = 0; i < queue.words.length; i++) {
      int word = queue.words[i];
      if (word >= from >>> 6) {
        long bits = open(word) & queue.members[i];
        if (word == from >>> 6) {
          bits &= -1L << from;
        }
        if (bits != 0) {
          return (word << 6) + Long.numberOfTrailingZeros(bits);
        }
      }
    }
    return -1;
  }

  /**
   * Returns a value that the policy has stored for a queue, such as starts owed to it; initially 0.
   */
  public double balance(int queue) {
    return state.queues.queue(queue).balance;
  }

  /** Stores a value for a queue; it survives slices, rounds and updates. */
  public void setBalance(int queue, double balance) {
    state.queues.queue(queue).balance = balance;
  }

  // ---- jobs

  public String name(int job) {
    return state.jobs.name(job);
  }

  public double priority(int job) {
    Job configured = state.jobs.job(job);
    return configured == null ? 0 : configured.priority();
  }

  /**
   * Returns the number of tasks that are not done, failed, avoided or disabled; running tasks are
   * included.
   */
  public long remaining(int job) {
    return state.tasks.remaining(job);
  }

  /** Returns the most tasks that {@link #place} starts at once; 1: no job has batches. */
  public int mostAtOnce() {
    return state.jobs.largestBatch();
  }

  /**
   * Starts one task of the job; the node order determines which. If the job has batches, starts
   * with it those that run in one process with it.
   *
   * @return how many were started; 0 when the job is not open or the round is over
   */
  public int place(int job) {
    while (left > 0 && isOpen(job)) {
      left--;
      int run = starter.start(job);
      if (run >= 0) {
        Job configured = state.jobs.job(job);
        BatchSpec batch = configured == null ? null : configured.scheduling().batch().orElse(null);
        if (batch != null) {
          batchWaits.started(job);
          return placeBatch(run, batch);
        }
        sink.placed(runs.id(run), 0);
        return 1;
      }
    }
    return 0;
  }

  /**
   * Returns whether the last attempt of a task that was just started has failed. It may have ended
   * its process and with it the others of its batch, so now it runs alone.
   */
  private boolean hasFailedBefore(int run) {
    TaskStatus before = runs.status(run);
    return before != null && before.main() == TaskStatus.Main.ERROR;
  }

  private int placeBatch(int first, BatchSpec batch) {
    long number = runs.id(first);
    int most = hasFailedBefore(first) ? 1 : batch.max();
    sink.placed(number, number);
    int placed = 1;
    while (placed < most && left > 0) {
      int run = starter.startBeside(first, batch.level());
      if (run == TaskAllocator.NO_MORE) {
        break;
      }
      left--;
      if (run >= 0) {
        placed++;
        sink.placed(runs.id(run), number);
      }
    }
    return placed;
  }

  /**
   * Calls {@link #place}.
   *
   * @return whether anything was started
   */
  public boolean placeOne(int job) {
    return place(job) > 0;
  }

  /** Returns the seeded random generator of the core. */
  public SplitMix64 random() {
    return random;
  }
}
