package io.espalier.core.loop;

import io.espalier.core.config.Job;
import io.espalier.core.config.task.RetryPolicy;
import io.espalier.core.event.EventKind;
import io.espalier.core.json.Json;
import io.espalier.core.loop.state.LiveTasks;
import io.espalier.core.loop.state.LoopEvents;
import io.espalier.core.loop.watch.JobStateTracker;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.scheduling.gate.Gate;
import io.espalier.core.scheduling.gate.GateKind;
import io.espalier.core.scheduling.update.NewTasks;
import io.espalier.core.scheduling.update.UpdatePlan;
import io.espalier.core.status.ProgramTransitions;
import io.espalier.core.status.TaskEvent;
import io.espalier.core.status.TaskKey;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.TaskTransitions;
import io.espalier.core.status.Transition;
import io.espalier.core.status.store.StatusRow;
import io.espalier.core.text.ShortText;
import io.espalier.core.topology.Topology;
import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Brings prepared updates into force, one at a time and in slices: first the core's index, then the
 * stored statuses of the new tasks. Jobs that wait for stored statuses are blocked, so that no
 * finished task is started again. A row that was written during the read takes precedence over the
 * row that was read.
 */
final class UpdateApplier {
  private static final int INDEX_UNITS = 20_000;
  private static final int ROWS = 1_000;
  private static final int JOBS = 1_000;

  private final SchedulingCore core;
  private final LiveTasks live;
  private final LoopEvents events;
  private final JobStateTracker jobStates;
  private final long epoch;

  /** Rows written since the read began, for the update that is being prepared or applied. */
  private @Nullable StatusLoading reading;

  /** Tasks whose rows were written during the read; applied to the core at the end. */
  private @Nullable ArrayDeque<TaskKey> toApply;

  /** Jobs that stay blocked, each with what is known to be wrong. */
  private final Map<String, String> contradicted = new TreeMap<>();

  /** Jobs that were created again while tasks of their predecessors ran. */
  private final ArrayDeque<String> toClear = new ArrayDeque<>();

  private int nextNode;

  private @Nullable PreparedUpdate current;
  private @Nullable CompletableFuture<Void> answer;

  /** Jobs whose stored statuses are being read; the gate LOADING closes them meanwhile. */
  private Set<String> loading = Set.of();

  /** Those whose gate is still to be closed. */
  private final ArrayDeque<String> toClose = new ArrayDeque<>();

  /** Those whose gate is still to be opened again. */
  private final ArrayDeque<String> toOpen = new ArrayDeque<>();

  private boolean begun;
  private boolean indexed;

  /** Rows that were read and are not applied yet; of the first portion, from a row on. */
  private final ArrayDeque<List<StatusRow>> portions = new ArrayDeque<>();

  private int nextRow;

  /** Whether all rows have been read. */
  private boolean complete;

  /** Jobs that were found absent, and whose rows were not read since. */
  private Set<String> absent = Set.of();

  private boolean hasConfig;
  private boolean tookForce;
  private long nodesAtMillis;

  /**
   * @param epoch epoch of this scheduler: a task that runs by a row of an earlier epoch, and is not
   *     alive, has died
   */
  UpdateApplier(
      SchedulingCore core,
      LiveTasks live,
      LoopEvents events,
      JobStateTracker jobStates,
      long epoch) {
    this.core = core;
    this.live = live;
    this.events = events;
    this.jobStates = jobStates;
    this.epoch = epoch;
  }

  boolean hasConfig() {
    return hasConfig;
  }

  boolean underWay() {
    return current != null;
  }

  /** Returns true when an update came into force in the last step. */
  boolean tookForce() {
    return tookForce;
  }

  long nodesAtMillis() {
    return nodesAtMillis;
  }

  /** Explains why jobs stay blocked; null when nothing is wrong. */
  @Nullable String problem() {
    return contradicted.isEmpty() ? null : ShortText.few(contradicted.values(), "; ");
  }

  /**
   * Discards what was written for the job's tasks, so that a later job of the same name does not
   * inherit it.
   */
  void forget(String job) {
    contradicted.remove(job);
    if (reading != null) {
      reading.forget(job);
    }
  }

  /**
   * Announces that the stored rows of the update's new tasks are about to be read. Rows written for
   * these tasks are collected from now on.
   *
   * @throws IllegalStateException when another update is being applied
   */
  void willRead(UpdatePlan plan) {
    if (current != null) {
      throw new IllegalStateException("an update is under way");
    }
    reading = plan.newTasks().isEmpty() ? null : new StatusLoading(plan);
    if (!absent.isEmpty()) {
      Set<String> still = new HashSet<>(absent);
      still.removeIf(this::isRead);
      absent = still;
    }
    plan.newTasks().jobs().forEach(jobStates::willRestore);
  }

  private boolean isRead(String job) {
    return reading != null && reading.concerns(job);
  }

  /**
   * Finds the jobs that are not configured and whose rows are not being read, and remembers them.
   *
   * @param alive jobs with live tasks, which are not absent yet
   */
  Set<String> findAbsent(Set<String> jobs, Set<String> alive) {
    Set<String> found = new HashSet<>(jobs);
    found.removeIf(job -> !hasConfig || alive.contains(job) || isConfigured(job) || isRead(job));
    absent = found;
    return Set.copyOf(found);
  }

  /** Returns true when a job has been absent since the last {@link #findAbsent}. */
  boolean isAbsent(String job) {
    return absent.contains(job) && !isConfigured(job);
  }

  private boolean isConfigured(String job) {
    return core.config().job(job) != null;
  }

  /** Notes a row that is being written to the store. */
  void wrote(StatusRow row) {
    if (reading == null || !reading.concerns(row.job())) {
      return;
    }
    int job = core.findJob(row.job());
    if (indexed || reading.isFresh(row.job()) || core.findNode(job, row.node()) < 0) {
      reading.wrote(row, core.job(job) != null);
    }
  }

  /**
   * Begins to apply an update; {@link #step} continues.
   *
   * @throws IllegalStateException when another update is being applied, or when rows were read
   *     without a call of {@link #willRead}
   */
  void begin(PreparedUpdate update, CompletableFuture<Void> inForce) {
    if (current != null) {
      throw new IllegalStateException("an update is under way");
    }
    NewTasks news = update.plan().newTasks();
    if (!news.isEmpty() && (reading == null || !reading.isFor(update.plan()))) {
      throw new IllegalStateException("rows were read that were not announced");
    }
    loading = new HashSet<>(news.jobs());
    news.nodes().forEach(nodes -> loading.addAll(nodes.jobs()));
    loading.addAll(update.forgotten());
    toClose.addAll(loading);
    begun = false;
    current = update;
    answer = inForce;
    indexed = false;
    portions.clear();
    portions.add(update.rows());
    nextRow = 0;
    complete = !update.rowsFollow();
    toClear.clear();
    toApply = null;
    update.forgotten().stream().filter(j -> !news.jobs().contains(j)).forEach(toClear::add);
    nextNode = 0;
  }

  /**
   * Takes more stored rows of the update that is being applied.
   *
   * @param isLast whether no more follow
   * @param unreadable jobs whose rows cannot be read, each with the reason
   * @throws IllegalStateException when no more were to follow
   */
  void take(List<StatusRow> more, boolean isLast, Map<String, String> unreadable) {
    if (current == null || complete) {
      throw new IllegalStateException("stored rows of no update");
    }
    portions.add(more);
    complete = isLast;
    unreadable.forEach(
        (job, why) ->
            contradicted.putIfAbsent(
                job,
                "job "
                    + job
                    + " starts nothing: what is stored of its tasks cannot be read: "
                    + why
                    + "; when that is mended, restart the scheduler"));
  }

  /**
   * Applies a slice of the update.
   *
   * @param interrupted receives the stored rows of tasks that died with an earlier scheduler, and
   *     their statuses after that
   * @return true when there is more to do at once
   */
  boolean step(long nowMillis, BiConsumer<StatusRow, TaskStatus> interrupted) {
    tookForce = false;
    PreparedUpdate update = current;
    CompletableFuture<Void> done = answer;
    if (update == null || done == null) {
      return false;
    }
    if (!begun) {
      take(toClose, job -> core.gates().close(Gate.of(GateKind.LOADING, job, "")));
      if (toClose.isEmpty()) {
        core.begin(update.plan());
        begun = true;
      }
      return true;
    }
    if (!indexed) {
      indexed = core.step(INDEX_UNITS) != null;
      return true;
    }
    if (!toClear.isEmpty()) {
      clear(toClear.element());
      return true;
    }
    List<StatusRow> rows = portions.peek();
    if (rows != null) {
      int end = Math.min(rows.size(), nextRow + ROWS);
      for (; nextRow < end; nextRow++) {
        restore(rows.get(nextRow), nowMillis, interrupted);
      }
      if (nextRow == rows.size()) {
        portions.remove();
        nextRow = 0;
      }
    }
    if (!portions.isEmpty()) {
      return true;
    }
    if (!complete) {
      return false;
    }
    if (applyWritten(nowMillis, interrupted)) {
      return true;
    }
    if (!loading.isEmpty()) {
      loading.stream().filter(job -> !contradicted.containsKey(job)).forEach(toOpen::add);
      loading = Set.of();
    }
    take(toOpen, job -> core.gates().open(GateKind.LOADING, job));
    if (!toOpen.isEmpty()) {
      return true;
    }
    current = null;
    answer = null;
    reading = null;
    indexed = false;
    hasConfig = true;
    tookForce = true;
    nodesAtMillis = update.nodesAtMillis();
    events.add(
        nowMillis,
        EventKind.CONFIG_IN_FORCE,
        Json.object()
            .put("jobs", core.config().jobs().size())
            .put("nodes", core.topology().size())
            .build());
    done.complete(null);
    return false;
  }

  private static void take(ArrayDeque<String> jobs, Consumer<String> what) {
    for (int left = JOBS; left > 0 && !jobs.isEmpty(); left--) {
      what.accept(jobs.remove());
    }
  }

  /** Clears the statuses of the job's predecessor, which the core retained while its tasks ran. */
  private void clear(String name) {
    int job = core.findJob(name);
    Job config = core.job(job);
    if (config == null) {
      toClear.remove();
      return;
    }
    Topology nodes = core.topology();
    int first = nodes.levelStart(config.level());
    int end = nodes.levelEnd(config.level());
    int until = Math.min(end, first + nextNode + ROWS);
    for (int node = first + nextNode; node < until; node++) {
      if (core.tasks().status(job, node) != null
          && live.get(new TaskKey(name, nodes.name(node))) == null) {
        core.setStatus(job, node, null);
      }
    }
    nextNode = until - first;
    if (until == end) {
      toClear.remove();
      nextNode = 0;
    }
  }

  /** Applies a row that was read, unless a newer one was written. */
  private void restore(
      StatusRow row, long nowMillis, BiConsumer<StatusRow, TaskStatus> interrupted) {
    if (reading != null && reading.latest(row.key()) == null) {
      apply(row, true, nowMillis, interrupted);
    }
  }

  /**
   * Applies the rows written since the read began, which are newer than those read. This includes
   * rows of tasks for which nothing was stored.
   *
   * @return true when there is more to do
   */
  private boolean applyWritten(long nowMillis, BiConsumer<StatusRow, TaskStatus> interrupted) {
    if (reading == null) {
      return false;
    }
    if (toApply == null) {
      toApply = new ArrayDeque<>(reading.tasks());
    }
    for (int left = ROWS; left > 0 && !toApply.isEmpty(); left--) {
      StatusLoading.Written latest = reading.latest(toApply.remove());
      if (latest != null) {
        apply(latest.row(), !latest.counted(), nowMillis, interrupted);
      }
    }
    return !toApply.isEmpty();
  }

  /**
   * Sets the status of a task that is new to the core.
   *
   * @param count true when the job has not counted this row yet
   */
  private void apply(
      StatusRow row, boolean count, long nowMillis, BiConsumer<StatusRow, TaskStatus> interrupted) {
    int job = core.findJob(row.job());
    int node = core.findNode(job, row.node());
    if (node < 0 || live.get(row.key()) != null) {
      return;
    }
    TaskStatus status = row.status();
    if (status.main() == TaskStatus.Main.RUNNING) {
      if (row.invocation().epoch() >= epoch) {
        contradicts(row);
        return;
      }
      Job config = core.job(job);
      RetryPolicy retrying =
          config == null ? core.config().settings().defaults().retrying() : config.retrying();
      status = interrupted(row, retrying, nowMillis);
      interrupted.accept(row, status);
    }
    core.setStatus(job, node, status);
    if (count && reading != null && reading.isFresh(row.job())) {
      jobStates.restored(row.job(), status);
    }
  }

  /**
   * Blocks a job whose stored row contradicts this scheduler. The scheduler knows every invocation
   * that it started until it has written the end; if a row of its own epoch differs, the row is
   * wrong, and a guess could start a task that is still alive, or already done.
   */
  private void contradicts(StatusRow row) {
    contradicted.putIfAbsent(
        row.job(),
        "job "
            + row.job()
            + " starts nothing: by the status store its task on "
            + row.node()
            + " runs as "
            + row.invocation().token()
            + ", which this scheduler does not know to live; restart the scheduler, and please"
            + " report this as a bug");
  }

  /** The status after the interruption of an invocation that died with an earlier scheduler. */
  private static TaskStatus interrupted(StatusRow row, RetryPolicy retrying, long nowMillis) {
    Transition transition =
        TaskTransitions.apply(
            row.status(),
            new TaskEvent.Interrupted("the scheduler ended while the task ran"),
            retrying,
            nowMillis);
    TaskStatus status = transition.status();
    if (status == null) {
      throw new IllegalStateException("no status for an interrupted task");
    }
    return ProgramTransitions.interrupted(row.status(), status);
  }
}
