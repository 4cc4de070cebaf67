package io.espalier.core.loop.query;

import io.espalier.core.api.RefusedException;
import io.espalier.core.config.Job;
import io.espalier.core.forecast.SchedulerSnapshot;
import io.espalier.core.loop.state.LiveTasks;
import io.espalier.core.loop.state.SlicedWork;
import io.espalier.core.loop.state.Throughput;
import io.espalier.core.running.WorkerInfo;
import io.espalier.core.running.WorkerRef;
import io.espalier.core.scheduling.CoreEvent;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.scheduling.gate.Gate;
import io.espalier.core.scheduling.gate.GateKind;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.TaskStatus.Main;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Copies the state of a scheduler in slices. The statuses of the tasks are copied over some slices,
 * everything else with the last one: a task that starts and ends in between counts as one that has
 * not started. It begins again when jobs or nodes change.
 */
public final class SnapshotCopy implements SlicedWork {
  private static final int TASKS_PER_SLICE = 30_000;

  private final SchedulingCore core;
  private final LiveTasks live;
  private final Throughput paces;
  private final long mostTasks;
  private final CompletableFuture<SchedulerSnapshot> answer;

  /** Of the copied jobs: their numbers, the first tasks, and the statuses. */
  private final List<Integer> jobs = new ArrayList<>();

  private final List<@Nullable TaskStatus[]> statuses = new ArrayList<>();

  /** The tasks that ran when they were copied, as places in the two lists. */
  private final List<int[]> running = new ArrayList<>();

  private long stateNumber = -1;
  private int job;
  private int task;

  /**
   * @param mostTasks the number of tasks above which it refuses
   * @param answer completes with the copy, or fails with {@link RefusedException}
   */
  public SnapshotCopy(
      SchedulingCore core,
      LiveTasks live,
      Throughput paces,
      long mostTasks,
      CompletableFuture<SchedulerSnapshot> answer) {
    this.core = core;
    this.live = live;
    this.paces = paces;
    this.mostTasks = mostTasks;
    this.answer = answer;
  }

  @Override
  public boolean step(long nowMillis) {
    if (core.isChanging()) {
      return false;
    }
    if (stateNumber != core.stateNumber()) {
      begin();
    }
    if (answer.isDone()) {
      return true;
    }
    int left = TASKS_PER_SLICE;
    while (job < jobs.size()) {
      if (left == 0) {
        return false;
      }
      left -= copy(left);
    }
    answer.complete(whole(nowMillis));
    return true;
  }

  private void begin() {
    stateNumber = core.stateNumber();
    jobs.clear();
    statuses.clear();
    running.clear();
    job = 0;
    task = 0;
    long tasks = 0;
    for (int j = 0; j < core.jobCount(); j++) {
      if (core.job(j) != null) {
        jobs.add(j);
        tasks += core.tasks().endNode(j) - core.tasks().firstNode(j);
      }
    }
    if (tasks > mostTasks) {
      jobs.clear();
      answer.completeExceptionally(
          new RefusedException(
              RefusedException.Reason.UNSUPPORTED,
              "a copy of " + tasks + " tasks takes too much of the scheduler's heap"));
    }
  }

  /** Returns how many tasks were copied, at least 1. */
  private int copy(int most) {
    int number = jobs.get(job);
    int first = core.tasks().firstNode(number);
    int count = core.tasks().endNode(number) - first;
    if (task == 0) {
      statuses.add(new TaskStatus[count]);
    }
    @Nullable TaskStatus[] into = statuses.get(job);
    int end = Math.min(count, task + most);
    int copied = end - task;
    for (; task < end; task++) {
      if (isRunning(number, first + task)) {
        running.add(new int[] {job, task});
      } else {
        into[task] = core.tasks().status(number, first + task);
      }
    }
    if (task == count) {
      job++;
      task = 0;
    }
    return Math.max(1, copied);
  }

  private boolean isRunning(int number, int node) {
    return (core.tasks().bits(number, node) & Main.RUNNING.bit()) != 0;
  }

  private SchedulerSnapshot whole(long nowMillis) {
    for (int[] at : running) {
      int number = jobs.get(at[0]);
      int node = core.tasks().firstNode(number) + at[1];
      if (!isRunning(number, node)) {
        statuses.get(at[0])[at[1]] = core.tasks().status(number, node);
      }
    }
    List<CoreEvent> events = new ArrayList<>();
    List<WorkerInfo> workers = core.capacity().workers();
    if (workers != null) {
      events.add(new CoreEvent.WorkersNamed(workers));
    }
    events.add(new CoreEvent.Clock(nowMillis));
    events.add(new CoreEvent.Began(core.config(), core.topology()));
    events.add(new CoreEvent.Stepped(Integer.MAX_VALUE, true));
    for (GateKind kind : GateKind.values()) {
      for (Gate gate : core.gates(kind)) {
        events.add(new CoreEvent.Gated(kind, gate.scope(), true));
      }
    }
    core.capacity().overrides().forEach(each -> events.add(new CoreEvent.Overridden(each)));
    core.capacity().factors().forEach(each -> events.add(new CoreEvent.FactorSet(each)));
    core.capacity().health().forEach(each -> events.add(new CoreEvent.HealthSet(each)));
    core.capacity().caps().forEach(each -> events.add(new CoreEvent.CapSet(each)));
    if (!core.capacity().overrides().isEmpty()
        || !core.capacity().factors().isEmpty()
        || !core.capacity().health().isEmpty()) {
      events.add(new CoreEvent.LimitsStepped(Integer.MAX_VALUE, true));
    }
    events.add(new CoreEvent.QueuesRestored(core.capacity().queueUsage(), nowMillis));
    List<CoreEvent> adopted = new ArrayList<>();
    List<Long> started = new ArrayList<>();
    for (long run : core.running().all()) {
      // What runs without a task of this configuration only occupies its worker.
      Job config = core.running().job(run) < 0 ? null : core.job(core.running().job(run));
      if (config != null && core.running().node(run) >= 0) {
        TaskStatus status = core.running().status(run);
        WorkerInfo worker = core.running().worker(run);
        adopted.add(
            new CoreEvent.Adopted(
                core.running().jobName(run),
                core.running().nodeName(run),
                worker == null ? WorkerRef.LOCAL : worker.ref(),
                SchedulerSnapshot.run(adopted.size())));
        started.add(
            status != null && status.main() == Main.RUNNING ? status.sinceMillis() : nowMillis);
      }
    }
    List<int[]> firsts = new ArrayList<>();
    jobs.forEach(number -> firsts.add(new int[] {firsts.size(), core.tasks().firstNode(number)}));
    return new SchedulerSnapshot(
        nowMillis,
        () -> new Events(events, adopted, firsts, statuses),
        started,
        paces.paces(live, nowMillis));
  }

  /** All events; those of statuses are made when they are read. */
  private static final class Events implements Iterator<CoreEvent> {
    private final Iterator<CoreEvent> before;
    private final Iterator<CoreEvent> after;
    private final List<int[]> firsts;
    private final List<@Nullable TaskStatus[]> statuses;
    private int job;
    private int task = -1;

    Events(
        List<CoreEvent> before,
        List<CoreEvent> after,
        List<int[]> firsts,
        List<@Nullable TaskStatus[]> statuses) {
      this.before = before.iterator();
      this.after = after.iterator();
      this.firsts = firsts;
      this.statuses = statuses;
      findNext();
    }

    private void findNext() {
      while (job < statuses.size()) {
        @Nullable TaskStatus[] all = statuses.get(job);
        for (task++; task < all.length; task++) {
          if (all[task] != null) {
            return;
          }
        }
        job++;
        task = -1;
      }
    }

    @Override
    public boolean hasNext() {
      return before.hasNext() || job < statuses.size() || after.hasNext();
    }

    @Override
    public CoreEvent next() {
      if (before.hasNext()) {
        return before.next();
      }
      if (job < statuses.size()) {
        CoreEvent event =
            new CoreEvent.StatusSet(job, firsts.get(job)[1] + task, statuses.get(job)[task]);
        findNext();
        return event;
      }
      return after.next();
    }
  }
}
