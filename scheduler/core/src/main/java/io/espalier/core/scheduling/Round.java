package io.espalier.core.scheduling;

import io.espalier.core.config.Job;
import io.espalier.core.scheduling.queue.QueueState;
import io.espalier.core.scheduling.spi.SplitMix64;
import io.espalier.core.scheduling.state.SchedulingState;
import io.espalier.core.scheduling.task.RunningTasks;

/**
 * What a policy may do: look at the jobs that have a task which may start now, and start one of
 * such a job. Jobs are small numbers, valid within the round. Starts only ever close jobs, so one
 * pass over {@link #openJobs} is enough.
 */
public final class Round {
  /**
   * Sharing out a start costs a policy a look at each queue: with more of them slices are shorter.
   */
  private static final int FEW_QUEUES = 256;

  private static final int LOOKS_AT_QUEUES = 100_000;

  private final SchedulingState world;
  private final RunningTasks runs;
  private final SplitMix64 random;
  private final Turns turns;
  private final Starter starter;
  private int left;
  private PlacementListener sink = run -> {};

  /** Starts a task of an open job. */
  interface Starter {
    int start(int job);
  }

  /** Whose turn it was last: survives rounds. */
  static final class Turns {
    int last = -1;
  }

  Round(SchedulingState world, RunningTasks runs, SplitMix64 random, Turns turns, Starter starter) {
    this.world = world;
    this.runs = runs;
    this.random = random;
    this.turns = turns;
    this.starter = starter;
  }

  void slice(int maxStarts, PlacementListener newSink) {
    int queues = world.queues.count();
    left =
        queues <= FEW_QUEUES
            ? maxStarts
            : Math.min(maxStarts, Math.max(1, LOOKS_AT_QUEUES / queues));
    sink = newSink;
  }

  SchedulingState world() {
    return world;
  }

  /** Whether nothing is open any more. */
  boolean isComplete() {
    for (int w = 0; w < world.jobs.words; w++) {
      if (open(w) != 0) {
        return false;
      }
    }
    return true;
  }

  private long open(int word) {
    return world.openJobs(word);
  }

  /** Nothing more may be started, or not in this slice. */
  public boolean isOver() {
    return left <= 0 || isComplete();
  }

  /** Whether some task of the job may start now. */
  public boolean isOpen(int job) {
    return (open(job >>> 6) & 1L << job) != 0;
  }

  /** The open jobs in a seeded random order; a new array. */
  public int[] openJobs() {
    int count = 0;
    for (int w = 0; w < world.jobs.words; w++) {
      count += Long.bitCount(open(w));
    }
    int[] jobs = new int[count];
    int n = 0;
    for (int w = 0; w < world.jobs.words; w++) {
      for (long bits = open(w); bits != 0; bits &= bits - 1) {
        int at = random.below(n + 1);
        jobs[n++] = jobs[at];
        jobs[at] = (w << 6) + Long.numberOfTrailingZeros(bits);
      }
    }
    return jobs;
  }

  /**
   * The open job whose turn it is, or -1: jobs take turns in the order of their names, over slices
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
    for (int w = from >>> 6; w < world.jobs.words; w++) {
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

  /** Queues that are known, with jobs or without: numbers from 0 to one less. */
  public int queueCount() {
    return world.queues.count();
  }

  /** The number of the queue that the job belongs to. */
  public int queue(int job) {
    return world.queues.ofJob(job);
  }

  /** Whether the weights of queues decide what is due to them, and not their factors. */
  public boolean isByWeight() {
    return world.queues.isByWeight();
  }

  /** The weight of a queue; more than 0, and 1 where none is configured. */
  public double weight(int queue) {
    return world.queues.queue(queue).weight();
  }

  /**
   * The effective priority of a queue: the lower, the more is due to it. With factors, its factor
   * times what it has used lately, with a floor, so more than 0; the same throughout a slice. With
   * weights, what it will have used lately in one half-life, if it goes on holding what it holds,
   * through its weight; grows with each of its starts.
   */
  public double effectivePriority(int queue) {
    return world.queues.effective(queue);
  }

  /** Whether some job of the queue is open. */
  public boolean isQueueOpen(int queue) {
    return nextOpen(world.queues.queue(queue), 0) >= 0;
  }

  /**
   * The open job of a queue whose turn it is, or -1: the jobs of a queue take turns in the order of
   * their names, over slices and rounds.
   */
  public int nextInTurn(int queue) {
    QueueState state = world.queues.queue(queue);
    int job = nextOpen(state, state.last + 1);
    if (job < 0) {
      job = nextOpen(state, 0);
    }
    if (job >= 0) {
      state.last = job;
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

  /** What a policy has noted of a queue, such as starts that are due to it; 0 at first. */
  public double balance(int queue) {
    return world.queues.queue(queue).balance;
  }

  /** Notes something of a queue; kept over slices, rounds and changes of the configuration. */
  public void setBalance(int queue, double balance) {
    world.queues.queue(queue).balance = balance;
  }

  // ---- jobs

  public String name(int job) {
    return world.jobs.name(job);
  }

  public double priority(int job) {
    Job configured = world.jobs.job(job);
    return configured == null ? 0 : configured.priority();
  }

  /** All tasks that are neither done, failed, avoided nor disabled; running ones included. */
  public long remaining(int job) {
    return world.tasks.remaining(job);
  }

  /**
   * Starts one task of the job: which one is decided by the node order.
   *
   * @return false, and nothing changed, when the job is not open or the round is over
   */
  public boolean placeOne(int job) {
    if (left <= 0 || !isOpen(job)) {
      return false;
    }
    left--;
    sink.placed(runs.id(starter.start(job)));
    return true;
  }

  /** The seeded randomness of the core. */
  public SplitMix64 random() {
    return random;
  }
}
