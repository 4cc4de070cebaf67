package io.espalier.core.loop.query;

import io.espalier.core.api.Explanation;
import io.espalier.core.api.FailureGroups;
import io.espalier.core.api.Histogram;
import io.espalier.core.api.JobLevels;
import io.espalier.core.api.NodeDetail;
import io.espalier.core.api.RefusedException;
import io.espalier.core.api.TreeQuery;
import io.espalier.core.api.TreeView;
import io.espalier.core.api.WaitingReasons;
import io.espalier.core.loop.state.LiveTasks;
import io.espalier.core.loop.state.Throughput;
import io.espalier.core.scheduling.SchedulingCore;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

/**
 * What monitors ask of the scheduler thread: all of it is answered a slice at a time, so that
 * however many ask, the loop is held up by one slice between two of its steps.
 *
 * <p>Called by the owner of the loop only. Stages complete on its thread, and fail with {@link
 * io.espalier.core.api.RefusedException} for what the caller did wrong.
 */
public final class QueryQueue {
  /** What is looked at between two steps of the loop: one to three milliseconds of work. */
  static final int UNITS_PER_STEP = 120_000;

  private static final int FAILURE_SAMPLES = 5;

  /** An answer that cost less than this is made anew each time. */
  private static final int CHEAP = 50_000;

  /** Others are given again for this long at least, */
  private static final long KEPT_MILLIS = 1_000;

  /** and for so long that making them takes no more than some percent of the thread's time. */
  private static final int UNITS_PER_MILLI = 3_000;

  private static final int KEPT = 32;

  private final SchedulingCore core;
  private final LiveTasks live;
  private final Throughput paces;
  private final ArrayDeque<Asked> open = new ArrayDeque<>();
  private final Map<Object, Asked> kept =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Object, Asked> eldest) {
          return size() > KEPT;
        }
      };
  private long work;
  private long now;

  /** A question with what it has cost. */
  private static final class Asked {
    final IncrementalQuery question;
    final CompletableFuture<?> answer;
    long units;
    long answeredMillis;

    Asked(IncrementalQuery question, CompletableFuture<?> answer) {
      this.question = question;
      this.answer = answer;
    }
  }

  public QueryQueue(SchedulingCore core, LiveTasks live, Throughput paces) {
    this.core = core;
    this.live = live;
    this.paces = paces;
  }

  private <T> CompletionStage<T> ask(Function<CompletableFuture<T>, IncrementalQuery> question) {
    CompletableFuture<T> answer = new CompletableFuture<>();
    open.add(new Asked(question.apply(answer), answer));
    return answer;
  }

  /**
   * The same question that is open already gets the same answer, and so does one that was answered
   * lately if that was not cheap.
   *
   * @param key of a type of its own for each type of answer
   */
  @SuppressWarnings("unchecked") // One type of key is asked for one type of answer.
  private <T> CompletionStage<T> askOnce(
      Object key, Function<CompletableFuture<T>, IncrementalQuery> question) {
    Asked known = kept.get(key);
    if (known != null && isGood(known)) {
      return (CompletionStage<T>) known.answer;
    }
    CompletableFuture<T> answer = new CompletableFuture<>();
    Asked asked = new Asked(question.apply(answer), answer);
    kept.remove(key);
    kept.put(key, asked);
    open.add(asked);
    return answer;
  }

  private boolean isGood(Asked asked) {
    if (!asked.answer.isDone()) {
      return true;
    }
    long keep = Math.max(KEPT_MILLIS, asked.units / UNITS_PER_MILLI);
    return asked.units >= CHEAP
        && !asked.answer.isCompletedExceptionally()
        && now - asked.answeredMillis < keep;
  }

  private record WaitingKey(String job) {}

  private record NodeKey(String level, String node) {}

  /**
   * Why a task does not run, with the path to it and who holds what it lacks.
   *
   * @see SchedulingCore#explain
   */
  public CompletionStage<Explanation> explain(String job, String node) {
    return ask(answer -> new ExplainQuery(core, live, paces, job, node, answer));
  }

  /** Part of the tree with use and counts. */
  public CompletionStage<TreeView> tree(TreeQuery query) {
    return askOnce(query, answer -> new TreePageQuery(core, query, answer));
  }

  /** One node with use, holders and counts. */
  public CompletionStage<NodeDetail> node(String level, String node) {
    return askOnce(
        new NodeKey(level, node), answer -> new NodeQuery(core, live, paces, level, node, answer));
  }

  /**
   * Histograms of the valid ones of some jobs; unknown names are skipped.
   *
   * @param jobs empty: all
   * @param samples node names per bucket, at most
   */
  public CompletionStage<List<Histogram>> histograms(List<String> jobs, int samples) {
    List<String> wanted = new ArrayList<>();
    for (int job = 0; job < core.jobCount(); job++) {
      String name = core.jobName(job);
      if (core.job(job) != null && (jobs.isEmpty() || jobs.contains(name))) {
        wanted.add(name);
      }
    }
    return ask(answer -> new HistogramQuery(core, wanted, samples, answer));
  }

  /**
   * How far a job is on each level.
   *
   * @param samples node names per state, at most
   */
  public CompletionStage<JobLevels> levels(String job, int samples) {
    return ask(answer -> new LevelsQuery(core, job, samples, answer));
  }

  /** Why the waiting tasks of a job wait, counted. */
  public CompletionStage<WaitingReasons> waiting(String job) {
    return askOnce(new WaitingKey(job), answer -> new WaitingQuery(core, job, answer));
  }

  /**
   * The failed tasks of a job by cause.
   *
   * @param limit groups, at most
   */
  public CompletionStage<FailureGroups> failures(String job, int limit) {
    int number = core.findJob(job);
    return core.job(number) == null
        ? CompletableFuture.failedFuture(
            new RefusedException(RefusedException.Reason.UNKNOWN, "no such job: " + job))
        : CompletableFuture.completedFuture(core.failures(number, limit, FAILURE_SAMPLES));
  }

  /** How many things were looked at so far, for tests: the measure of what questions cost. */
  public long work() {
    return work;
  }

  public boolean isEmpty() {
    return open.isEmpty();
  }

  /**
   * Does a slice of what is open, taking turns.
   *
   * @return whether there is more to do
   */
  public boolean step(long nowMillis) {
    now = nowMillis;
    long left = UNITS_PER_STEP;
    while (left > 0 && !open.isEmpty()) {
      Asked asked = open.remove();
      long used = Math.max(1, asked.question.step(nowMillis, (int) left));
      asked.units += used;
      asked.answeredMillis = nowMillis;
      if (!asked.question.isAnswered()) {
        open.add(asked);
      }
      left -= used;
      work += used;
    }
    return !open.isEmpty();
  }
}
