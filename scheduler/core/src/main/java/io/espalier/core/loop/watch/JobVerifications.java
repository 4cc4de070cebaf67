package io.espalier.core.loop.watch;

import io.espalier.core.config.FilterEvaluator;
import io.espalier.core.config.Job;
import io.espalier.core.config.task.Verification;
import io.espalier.core.loop.state.LiveTasks;
import io.espalier.core.outcome.JobCounts;
import io.espalier.core.running.Invocation;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.scheduling.job.StatusFilter;
import io.espalier.core.status.ProgramTransitions;
import io.espalier.core.status.TaskKey;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.store.StatusRow;
import java.util.BitSet;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Draws the samples of jobs that are verified, and lets the verifications of a job begin when all
 * its tasks are done. All work is done in slices.
 *
 * <p><b>The sample.</b> The tasks of a job, in node order and without those that filters or
 * disabled nodes exclude, are divided into as many parts of the same size as tasks are to be
 * verified; of each part, the task with the smallest {@link FilterEvaluator#point} is in the
 * sample. So it is the same each time and spread over all nodes above. While it is being drawn,
 * every task that is done counts as one of it; those that are not are told so before the
 * verifications begin.
 */
public final class JobVerifications {
  private static final int NODES_PER_SLICE = 5_000;
  private static final int TASKS_PER_SLICE = 500;
  private static final int AWAITS = TaskStatus.OVERWRITEABLE;
  private static final int MAY_START = TaskStatus.HAS_SAVED_BACKOFF;

  private final SchedulingCore core;
  private final LiveTasks live;
  private final Map<String, Sample> samples = new HashMap<>();

  /** The jobs whose sample is being drawn, or whose verifications are to begin. */
  private final Set<String> toDraw = new LinkedHashSet<>();

  private final Set<String> toOpen = new LinkedHashSet<>();
  private int nextNode;

  /** A sample, or as much of it as has been drawn, for one numbering of nodes. */
  private static final class Sample {
    final long state;
    final Verification of;
    final long total;
    final long size;
    final BitSet nodes = new BitSet();
    int next;
    long seen;
    private long part = -1;
    private int best = -1;
    private double bestPoint;
    boolean complete;

    Sample(long state, Verification of, long total) {
      this.state = state;
      this.of = of;
      this.total = Math.max(1, total);
      this.size = of.size(this.total);
    }

    void add(int at, double point) {
      long partOfIt = Math.min(size - 1, seen * size / total);
      if (partOfIt != part) {
        endPart();
        part = partOfIt;
      }
      if (best < 0 || point < bestPoint) {
        best = at;
        bestPoint = point;
      }
      seen++;
    }

    void endPart() {
      if (best >= 0) {
        nodes.set(best);
      }
      best = -1;
    }
  }

  public JobVerifications(SchedulingCore core, LiveTasks live) {
    this.core = core;
    this.live = live;
  }

  /** Returns the number of tasks that are done and are being verified or still to be verified. */
  long unverified(int job) {
    return core.tasks().awaitingVerification(job) + live.verifications(core.jobName(job));
  }

  /** Returns the counts of a job; a task that is being verified counts as done, not as running. */
  JobCounts tally(int job) {
    JobCounts counts = core.tasks().tally(job);
    long verified = live.verifications(core.jobName(job));
    return verified == 0
        ? counts
        : new JobCounts(
            counts.untried(),
            counts.left(),
            counts.running() - verified,
            counts.done() + verified,
            counts.failed(),
            counts.cancelled());
  }

  /** Returns whether a task is verified when its job is done. */
  public boolean isInSample(Job job, int number, int node) {
    Verification verification = job.program().verification().orElse(null);
    if (verification == null) {
      return false;
    }
    if (verification.count() == 0 && verification.percent() == 100) {
      return true;
    }
    Sample sample = sample(job, number, verification);
    return !sample.complete || sample.nodes.get(node - core.tasks().firstNode(number));
  }

  private Sample sample(Job job, int number, Verification verification) {
    Sample known = samples.get(job.name());
    if (known == null || known.state != core.stateNumber() || !known.of.equals(verification)) {
      known = new Sample(core.stateNumber(), verification, core.tasks().progress(number).total());
      samples.put(job.name(), known);
      toDraw.add(job.name());
    }
    return known;
  }

  /**
   * Lets the verifications of a job begin, or, if it is not verified any more, its tasks be done
   * without.
   */
  void begin(int job) {
    String name = core.jobName(job);
    if (core.tasks().mayNotBeVerifiedYet(job) > 0) {
      toOpen.add(name);
    }
  }

  /** Returns whether {@link #step} has nothing to do. */
  public boolean isIdle() {
    return toDraw.isEmpty() && toOpen.isEmpty();
  }

  /**
   * Does a slice of the work.
   *
   * @param changed receives changed statuses
   * @return true when there is more to do at once
   */
  public boolean step(Consumer<StatusRow> changed) {
    if (!toDraw.isEmpty()) {
      String first = toDraw.iterator().next();
      if (draw(first)) {
        toDraw.remove(first);
      }
    } else if (!toOpen.isEmpty()) {
      String first = toOpen.iterator().next();
      if (open(first, changed)) {
        toOpen.remove(first);
        nextNode = 0;
      }
    }
    return !isIdle();
  }

  /** Returns true when the sample is complete, or not needed any more. */
  private boolean draw(String name) {
    int number = core.findJob(name);
    Job job = core.job(number);
    Sample sample = samples.get(name);
    if (job == null || sample == null) {
      samples.remove(name);
      return true;
    }
    if (sample.state != core.stateNumber()) {
      // Nodes have changed meanwhile: it is drawn again when it is needed.
      samples.remove(name);
      return true;
    }
    int first = core.tasks().firstNode(number);
    int end = core.tasks().endNode(number);
    int until = Math.min(end, first + sample.next + NODES_PER_SLICE);
    for (int node = first + sample.next; node < until; node++) {
      if ((core.tasks().bits(number, node) & (TaskStatus.AVOIDED | TaskStatus.DISABLED)) == 0) {
        sample.add(node - first, FilterEvaluator.point(name, core.topology().name(node)));
      }
    }
    sample.next = until - first;
    sample.complete = until == end;
    if (sample.complete) {
      sample.endPart();
    }
    return sample.complete;
  }

  /** Returns true when all tasks of the job that await it may be verified. */
  private boolean open(String name, Consumer<StatusRow> changed) {
    int number = core.findJob(name);
    Job job = core.job(number);
    if (job == null) {
      return true;
    }
    boolean isVerified = job.program().verification().isPresent();
    for (int i = 0; i < TASKS_PER_SLICE; i++) {
      int node = core.tasks().next(number, nextNode, NODES_PER_SLICE, waiting(isVerified));
      if (node == -1) {
        // Nodes may have been renumbered, or tasks before this place have ended, meanwhile.
        nextNode = 0;
        return core.tasks().mayNotBeVerifiedYet(number) == 0;
      }
      if (node < 0) {
        nextNode = -2 - node;
        return false;
      }
      nextNode = node + 1;
      TaskStatus status = core.tasks().status(number, node);
      TaskKey key = new TaskKey(name, core.topology().name(node));
      if (status != null && live.get(key) == null) {
        if (isVerified && isInSample(job, number, node) && !toDraw.isEmpty()) {
          nextNode = node;
          return false;
        }
        TaskStatus after =
            isVerified && isInSample(job, number, node)
                ? ProgramTransitions.mayBeVerified(status)
                : ProgramTransitions.withoutVerification(status);
        core.setStatus(number, node, after);
        changed.accept(new StatusRow(name, key.node(), after, new Invocation(0, 0, 0)));
      }
    }
    return false;
  }

  private static StatusFilter waiting(boolean isVerified) {
    return StatusFilter.of(
        bits ->
            (bits & TaskStatus.Main.DONE.bit()) != 0
                && (bits & AWAITS) != 0
                && (!isVerified || (bits & MAY_START) == 0));
  }

  /** Discards what is known of a job that was deleted and made again. */
  void forget(String job) {
    samples.remove(job);
  }
}
