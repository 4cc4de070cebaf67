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
 * Answers the queries of monitors on the scheduler thread, a slice at a time: however many queries
 * are open, they delay the loop by only one slice between two of its steps.
 *
 * <p>Only the owner of the loop calls it. Stages complete on its thread, and fail with {@link
 * io.espalier.core.api.RefusedException} for invalid requests.
 */
public final class QueryQueue {
  /** The budget of units between two steps of the loop: one to three milliseconds of work. */
  static final int UNITS_PER_STEP = 120_000;

  private static final int FAILURE_SAMPLES = 5;

  /** An answer that cost less than this is never reused. */
  private static final int CHEAP = 50_000;

  /** Other answers are reused for at least this long, */
  private static final long KEPT_MILLIS = 1_000;

  /** and for long enough that computing them takes only a few percent of the thread's time. */
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

  /** A query with its cost so far. */
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
   * Returns the answer of an equal query that is still open, or that was answered recently unless
   * it was cheap; otherwise adds the query.
   *
   * @param key key of a type of its own for each type of answer
   */
  @SuppressWarnings("unchecked") // Each type of key belongs to one type of answer.
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
   * Why a task does not run, with its path and the holders of what it lacks.
   *
   * @see SchedulingCore#explain
   */
  public CompletionStage<Explanation> explain(String job, String node) {
    return ask(answer -> new ExplainQuery(core, live, paces, job, node, answer));
  }

  /** A part of the tree with usage and counts. */
  public CompletionStage<TreeView> tree(TreeQuery query) {
    return askOnce(query, answer -> new TreePageQuery(core, query, answer));
  }

  /** One node with usage, holders and counts. */
  public CompletionStage<NodeDetail> node(String level, String node) {
    return askOnce(
        new NodeKey(level, node), answer -> new NodeQuery(core, live, paces, level, node, answer));
  }

  /**
   * Histograms of the valid jobs among those given; unknown names are skipped.
   *
   * @param jobs job names; empty: all jobs
   * @param samples maximum number of node names per bucket
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
   * The progress of a job on each level.
   *
   * @param samples maximum number of node names per state
   */
  public CompletionStage<JobLevels> levels(String job, int samples) {
    return ask(answer -> new LevelsQuery(core, job, samples, answer));
  }

  /** The reasons why a job's waiting tasks wait, with counts. */
  public CompletionStage<WaitingReasons> waiting(String job) {
    return askOnce(new WaitingKey(job), answer -> new WaitingQuery(core, job, answer));
  }

  /**
   * The failed tasks of a job, grouped by cause.
   *
   * @param limit maximum number of groups
   */
  public CompletionStage<FailureGroups> failures(String job, int limit) {
    int number = core.findJob(job);
    return core.job(number) == null
        ? CompletableFuture.failedFuture(
            new RefusedException(RefusedException.Reason.UNKNOWN, "no such job: " + job))
        : CompletableFuture.completedFuture(core.failures(number, limit, FAILURE_SAMPLES));
  }

  /** The number of items examined so far: the measure of the cost of queries, for tests. */
  public long work() {
    return work;
  }

  public boolean isEmpty() {
    return open.isEmpty();
  }

  /**
   * Works on the open queries for one slice, in turns.
   *
   * @return true when there is more to do
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
