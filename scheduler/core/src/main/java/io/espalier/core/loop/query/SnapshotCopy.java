package io.espalier.core.loop.query;

import io.espalier.core.api.RefusedException;
import io.espalier.core.forecast.SchedulerSnapshot;
import io.espalier.core.loop.state.LiveTasks;
import io.espalier.core.loop.state.PaceScan;
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
import io.espalier.core.status.store.Brake;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Copies the state of a scheduler in slices: first the statuses of the tasks, then the running
 * tasks, then everything else with the last slice. A task that starts and ends in between counts as
 * one that has not started, and one that ends after it was copied as running still runs in the
 * copy. It begins again when jobs or nodes change.
 */
public final class SnapshotCopy implements SlicedWork {
  private static final int TASKS_PER_SLICE = 30_000;

  /** Copying a running task costs as much as copying so many statuses. */
  private static final int UNITS_PER_RUN = 10;

  private final SchedulingCore core;
  private final PaceScan paces;
  private final Supplier<List<Brake>> brakes;
  private final long mostTasks;
  private final CompletableFuture<SchedulerSnapshot> answer;

  /** Of the copied jobs: their numbers, the first tasks, and the statuses. */
  private final List<Integer> jobs = new ArrayList<>();

  private final List<StatusCopy> statuses = new ArrayList<>();

  /** The tasks that ran when they were copied, as places in the two lists. */
  private final List<int[]> running = new ArrayList<>();

  /** The running tasks, once all statuses are copied. */
  private long @Nullable [] runs;

  private final List<CoreEvent> adopted = new ArrayList<>();
  private final List<Long> started = new ArrayList<>();

  /** The tasks that are copied as running: the place of the job, and that of the task. */
  private final Set<Long> copiedRunning = new HashSet<>();

  private long stateNumber = -1;
  private int job;
  private int task;

  /** The next running task to copy, and the next place of {@link #running} to look at again. */
  private int run;

  private int again;

  /**
   * @param brakes returns the brakes in force
   * @param mostTasks the number of tasks above which it refuses
   * @param answer completes with the copy, or fails with {@link RefusedException}
   */
  public SnapshotCopy(
      SchedulingCore core,
      LiveTasks live,
      Throughput paces,
      Supplier<List<Brake>> brakes,
      long mostTasks,
      CompletableFuture<SchedulerSnapshot> answer) {
    this.core = core;
    this.paces = new PaceScan(paces, live);
    this.brakes = brakes;
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
    long[] all = runs;
    if (all == null) {
      all = core.running().all();
      runs = all;
    }
    for (; run < all.length; run++) {
      if (left <= 0) {
        return false;
      }
      left -= UNITS_PER_RUN;
      adopt(all[run], nowMillis);
    }
    for (; again < running.size(); again++) {
      if (left <= 0) {
        return false;
      }
      left--;
      lookAgain(running.get(again));
    }
    while (!paces.isDone()) {
      if (left <= 0) {
        return false;
      }
      left -= paces.step(nowMillis, left);
    }
    answer.complete(whole(nowMillis));
    return true;
  }

  private void begin() {
    stateNumber = core.stateNumber();
    jobs.clear();
    statuses.clear();
    running.clear();
    runs = null;
    adopted.clear();
    started.clear();
    copiedRunning.clear();
    job = 0;
    task = 0;
    run = 0;
    again = 0;
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
      statuses.add(new StatusCopy(count));
    }
    StatusCopy into = statuses.get(job);
    int end = Math.min(count, task + most);
    int copied = end - task;
    for (; task < end; task++) {
      if (isRunning(number, first + task)) {
        running.add(new int[] {job, task});
      } else {
        into.set(task, core.tasks().status(number, first + task));
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

  /** Copies a task that runs, if it still does. */
  private void adopt(long id, long nowMillis) {
    int number = core.running().isRunning(id) ? core.running().job(id) : -1;
    // What runs without a task of this configuration only occupies its worker.
    if (number < 0 || core.job(number) == null || core.running().node(id) < 0) {
      return;
    }
    TaskStatus status = core.running().status(id);
    WorkerInfo worker = core.running().worker(id);
    adopted.add(
        new CoreEvent.Adopted(
            core.running().jobName(id),
            core.running().nodeName(id),
            worker == null ? WorkerRef.LOCAL : worker.ref(),
            core.running().batch(id),
            SchedulerSnapshot.run(adopted.size())));
    started.add(status != null && status.main() == Main.RUNNING ? status.sinceMillis() : nowMillis);
    int place = Collections.binarySearch(jobs, number);
    if (place >= 0) {
      copiedRunning.add(key(place, core.running().node(id) - core.tasks().firstNode(number)));
    }
  }

  private static long key(int job, int task) {
    return ((long) job << 32) | task;
  }

  /** Copies the status of a task that ran when it was to be copied, and has ended since. */
  private void lookAgain(int[] at) {
    int number = jobs.get(at[0]);
    int node = core.tasks().firstNode(number) + at[1];
    if (!isRunning(number, node) && !copiedRunning.contains(key(at[0], at[1]))) {
      statuses.get(at[0]).set(at[1], core.tasks().status(number, node));
    }
  }

  private SchedulerSnapshot whole(long nowMillis) {
    List<CoreEvent> events = new ArrayList<>();
    List<WorkerInfo> workers = core.capacity().workers();
    if (workers != null) {
      events.add(new CoreEvent.WorkersNamed(workers));
    }
    events.add(new CoreEvent.Clock(nowMillis));
    events.add(new CoreEvent.Began(core.config(), core.topology()));
    events.add(new CoreEvent.Stepped(Integer.MAX_VALUE, true));
    for (GateKind kind : GateKind.values()) {
      // Nobody confirms starts in a simulation, and there they take no time.
      for (Gate gate : kind.isLackOfRoom() ? List.<Gate>of() : core.gates().of(kind)) {
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
    List<int[]> firsts = new ArrayList<>();
    jobs.forEach(number -> firsts.add(new int[] {firsts.size(), core.tasks().firstNode(number)}));
    return new SchedulerSnapshot(
        nowMillis,
        () -> new Events(events, adopted, firsts, statuses),
        started,
        paces.paces(),
        brakes.get(),
        core.gates().of(GateKind.PAUSE).stream()
            .collect(Collectors.toMap(Gate::name, Gate::untilMillis)));
  }

  /** All events; those of statuses are made when they are read. */
  private static final class Events implements Iterator<CoreEvent> {
    private final Iterator<CoreEvent> before;
    private final Iterator<CoreEvent> after;
    private final List<int[]> firsts;
    private final List<StatusCopy> statuses;
    private int job;
    private int task = -1;

    Events(
        List<CoreEvent> before,
        List<CoreEvent> after,
        List<int[]> firsts,
        List<StatusCopy> statuses) {
      this.before = before.iterator();
      this.after = after.iterator();
      this.firsts = firsts;
      this.statuses = statuses;
      findNext();
    }

    private void findNext() {
      while (job < statuses.size()) {
        task = statuses.get(job).next(task + 1);
        if (task < statuses.get(job).size()) {
          return;
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
            new CoreEvent.StatusSet(job, firsts.get(job)[1] + task, statuses.get(job).get(task));
        findNext();
        return event;
      }
      return after.next();
    }
  }
}
