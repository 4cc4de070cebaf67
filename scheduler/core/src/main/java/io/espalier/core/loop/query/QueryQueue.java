package io.espalier.core.loop.query;

import io.espalier.core.api.Query;
import io.espalier.core.api.RefusedException;
import io.espalier.core.api.group.GroupKindView;
import io.espalier.core.api.group.GroupPage;
import io.espalier.core.api.view.Explanation;
import io.espalier.core.api.view.FailureGroups;
import io.espalier.core.api.view.Histogram;
import io.espalier.core.api.view.JobActivity;
import io.espalier.core.api.view.JobEta;
import io.espalier.core.api.view.JobLevels;
import io.espalier.core.api.view.LimitView;
import io.espalier.core.api.view.NodeDetail;
import io.espalier.core.api.view.QueueView;
import io.espalier.core.api.view.TaskPage;
import io.espalier.core.api.view.TaskView;
import io.espalier.core.api.view.TreeView;
import io.espalier.core.api.view.WaitingReasons;
import io.espalier.core.api.view.WorkerView;
import io.espalier.core.loop.state.LiveTasks;
import io.espalier.core.loop.state.SlicedWork;
import io.espalier.core.loop.state.Throughput;
import io.espalier.core.loop.watch.StartsInFlight;
import io.espalier.core.scheduling.SchedulingCore;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Answers the queries of monitors on the scheduler thread, large ones a slice at a time: however
 * many queries are open, they delay the loop by only one slice between two of its steps.
 *
 * <p>Only the owner of the loop calls it. Stages complete on its thread, and fail with {@link
 * io.espalier.core.api.RefusedException} for invalid requests.
 */
public final class QueryQueue implements Query.Handler {
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

  /** Clients that have gone away leave their queries open. */
  private static final int MOST_OPEN = 10_000;

  /** Queries about the end of a job pass over all tasks, one after the other. */
  private static final int MOST_ETAS = 16;

  private final SchedulingCore core;
  private final LiveTasks live;
  private final Throughput throughput;
  private final StartsInFlight starting;
  private final String shard;
  private final Supplier<List<WorkerView>> workers;
  private final Supplier<List<LimitView>> limits;
  private final Consumer<SlicedWork> chores;
  private final ArrayDeque<IncrementalQuery<?>> open = new ArrayDeque<>();
  private final Map<Query<?>, IncrementalQuery<?>> kept =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Query<?>, IncrementalQuery<?>> eldest) {
          return size() > KEPT;
        }
      };

  /** The open queries about the end of a job; the first one is being answered. */
  private final ArrayDeque<EtaQuery> etas = new ArrayDeque<>();

  /** How many pages of tasks are open. */
  private int pages;

  private long work;
  private long now;

  /**
   * @param shard name of the scheduler's own host
   * @param chores takes queries that the loop answers in slices beside its other chores
   */
  public QueryQueue(
      SchedulingCore core,
      LiveTasks live,
      Throughput throughput,
      StartsInFlight starting,
      String shard,
      Supplier<List<WorkerView>> workers,
      Supplier<List<LimitView>> limits,
      Consumer<SlicedWork> chores) {
    this.core = core;
    this.live = live;
    this.throughput = throughput;
    this.starting = starting;
    this.shard = shard;
    this.workers = workers;
    this.limits = limits;
    this.chores = chores;
  }

  private void demandRoom() {
    if (open.size() + pages >= MOST_OPEN) {
      throw new RefusedException(
          RefusedException.Reason.UNAVAILABLE, MOST_OPEN + " queries are open: try again");
    }
  }

  private <T> CompletionStage<T> ask(IncrementalQuery<T> query) {
    demandRoom();
    open.add(query);
    return query.answer;
  }

  /**
   * Returns the answer of an equal query that is still open, or that was answered recently unless
   * it was cheap; otherwise adds the query.
   */
  @SuppressWarnings("unchecked") // Equal queries have answers of the same type.
  private <T> CompletionStage<T> askOnce(Query<T> key, Supplier<IncrementalQuery<T>> query) {
    IncrementalQuery<?> known = kept.get(key);
    if (known != null && isGood(known)) {
      return (CompletionStage<T>) known.answer;
    }
    // A query that was kept, but not added, would never be answered.
    demandRoom();
    IncrementalQuery<T> asked = query.get();
    kept.remove(key);
    kept.put(key, asked);
    return ask(asked);
  }

  private boolean isGood(IncrementalQuery<?> asked) {
    if (!asked.answer.isDone()) {
      return true;
    }
    long keep = Math.max(KEPT_MILLIS, asked.spent / UNITS_PER_MILLI);
    return asked.spent >= CHEAP
        && !asked.answer.isCompletedExceptionally()
        && now - asked.steppedMillis < keep;
  }

  @Override
  public CompletionStage<Explanation> explain(Query.Explain query) {
    return ask(
        new ExplainQuery(core, live, throughput, starting, query.job(), query.node(), shard));
  }

  @Override
  public CompletionStage<TreeView> tree(Query.Tree query) {
    return askOnce(query, () -> new TreePageQuery(core, query));
  }

  @Override
  public CompletionStage<NodeDetail> node(Query.Node query) {
    return askOnce(query, () -> new NodeQuery(core, live, throughput, query.level(), query.node()));
  }

  @Override
  public CompletionStage<List<Histogram>> histograms(Query.Histograms query) {
    List<String> wanted = new ArrayList<>();
    for (int job = 0; job < core.jobCount(); job++) {
      String name = core.jobName(job);
      if (core.job(job) != null && (query.jobs().isEmpty() || query.jobs().contains(name))) {
        wanted.add(name);
      }
    }
    return ask(new HistogramQuery(core, wanted, query.samples()));
  }

  @Override
  public CompletionStage<JobLevels> levels(Query.Levels query) {
    return ask(new LevelsQuery(core, query.job(), query.samples()));
  }

  @Override
  public CompletionStage<WaitingReasons> waiting(Query.Waiting query) {
    return askOnce(query, () -> new WaitingQuery(core, query.job()));
  }

  @Override
  public CompletionStage<JobEta> eta(Query.Eta query) {
    return askOnce(query, () -> inLine(query));
  }

  private EtaQuery inLine(Query.Eta query) {
    if (etas.size() >= MOST_ETAS) {
      throw new RefusedException(
          RefusedException.Reason.UNAVAILABLE,
          etas.size() + " queries about the ends of jobs are open: try again");
    }
    EtaQuery asked = new EtaQuery(core, live, throughput, query, etas);
    etas.add(asked);
    return asked;
  }

  @Override
  public CompletionStage<GroupPage> groups(Query.Groups query) {
    return askOnce(query, () -> new GroupQuery(core, query));
  }

  @Override
  public CompletionStage<JobActivity> activity(Query.Activity query) {
    return askOnce(query, () -> new ActivityQuery(core, live, throughput, query.job()));
  }

  @Override
  public CompletionStage<TaskPage> tasks(Query.Tasks query) {
    demandRoom();
    TaskPageQuery page = new TaskPageQuery(core, live, shard, query);
    pages++;
    chores.accept(page);
    var unused = page.answer().whenComplete((answer, failure) -> pages--);
    return page.answer();
  }

  // ---- answered at once

  @Override
  public CompletionStage<TaskView> task(Query.Task query) {
    return now(TaskViews.one(core, live, shard, query.job(), query.node()));
  }

  @Override
  public CompletionStage<FailureGroups> failures(Query.Failures query) {
    int number = core.findJob(query.job());
    if (core.job(number) == null) {
      throw new RefusedException(RefusedException.Reason.UNKNOWN, "no such job: " + query.job());
    }
    return now(core.tasks().failures(number, query.limit(), FAILURE_SAMPLES));
  }

  @Override
  public CompletionStage<List<WorkerView>> workers(Query.Workers query) {
    return now(workers.get());
  }

  @Override
  public CompletionStage<List<QueueView>> queues(Query.Queues query) {
    return now(core.capacity().queues());
  }

  @Override
  public CompletionStage<List<LimitView>> limits(Query.Limits query) {
    return now(limits.get());
  }

  @Override
  public CompletionStage<List<GroupKindView>> groupKinds(Query.GroupKinds query) {
    return now(core.capacity().groups());
  }

  private static <T> CompletionStage<T> now(T answer) {
    return CompletableFuture.completedFuture(answer);
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
      IncrementalQuery<?> asked = open.remove();
      long used = Math.max(1, asked.step(nowMillis, (int) left));
      asked.spent += used;
      asked.steppedMillis = nowMillis;
      if (!asked.answer.isDone()) {
        open.add(asked);
      }
      left -= used;
      work += used;
    }
    return !open.isEmpty();
  }
}
