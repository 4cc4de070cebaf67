package io.espalier.core.loop.command;

import io.espalier.core.api.RefusedException;
import io.espalier.core.api.SelectionResult;
import io.espalier.core.api.TaskSelection;
import io.espalier.core.api.TaskSelector;
import io.espalier.core.config.Job;
import io.espalier.core.loop.state.LiveTasks;
import io.espalier.core.loop.state.LiveTasks.Live;
import io.espalier.core.loop.state.SlicedWork;
import io.espalier.core.running.Invocation;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.scheduling.gate.GateKind;
import io.espalier.core.scheduling.job.StatusFilter;
import io.espalier.core.status.Failure;
import io.espalier.core.status.StatusLabel;
import io.espalier.core.status.TaskKey;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.TaskStatus.Main;
import io.espalier.core.status.store.StatusRow;
import io.espalier.core.topology.Topology;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Changes selected tasks of a job in slices: it first finds all matching tasks, so that their
 * number can be compared with the expected one, and then changes them. If node numbers change
 * meanwhile, it starts over with the tasks not changed yet.
 */
public final class SelectionCommand implements SlicedWork {
  private static final int LOOKS = 50_000;
  private static final int MATCHES = 5_000;
  private static final int CHANGES = 500;
  private static final int SAMPLES = 10;

  /**
   * The maximum number of slices that are not durable yet, which protects a store that is slower
   * than this thread.
   */
  static final int MOST_WAITING = 8;

  private final SchedulingCore core;
  private final LiveTasks live;
  private final TaskSelection selection;
  private final Operation operation;
  private final Sink sink;
  private final CompletableFuture<SelectionResult> answer;
  private final List<String> nodes;
  private final List<String> samples = new ArrayList<>();

  private @Nullable Topology topology;
  private int next;
  private int[] matches = new int[64];
  private int count;
  private long running;
  private long changed;
  private boolean changing;
  private long matchedAtFirst = -1;
  private int waiting;

  /** What the command does to each matching task. */
  public interface Operation {
    /** Returns true when a task with these status bits may be changed; never for a running task. */
    boolean applies(int bits);

    /**
     * Returns true when a running task of this status is changed or killed too, see {@link
     * Sink#changedRunning}.
     */
    default boolean appliesToRunning(TaskStatus status) {
      return false;
    }

    /**
     * The new status; null: never tried. The task is not changed if the same object is returned.
     */
    @Nullable TaskStatus after(@Nullable TaskStatus status, Job job, long nowMillis);
  }

  /** Receives the changes. */
  public interface Sink {
    /** Receives a changed task. */
    void changed(StatusRow row, long nowMillis);

    /** Receives a running task that is to be killed, with its status from now on. */
    void changedRunning(Live task, long nowMillis);

    /**
     * Called at the end of a slice.
     *
     * @param durable to be run on the owner's thread once the slice is durable
     */
    void sliced(Runnable durable);

    /**
     * Called at the end of the command.
     *
     * @param durable to be run once all changes are durable
     */
    void finished(TaskSelection selection, long changed, long nowMillis, Runnable durable);
  }

  public SelectionCommand(
      SchedulingCore core,
      LiveTasks live,
      TaskSelection selection,
      Operation operation,
      Sink sink,
      CompletableFuture<SelectionResult> answer) {
    this.core = core;
    this.live = live;
    this.selection = selection;
    this.operation = operation;
    this.sink = sink;
    this.answer = answer;
    nodes = List.copyOf(selection.selector().nodes());
  }

  @Override
  public boolean waits() {
    // While stored statuses are being restored, the matching tasks are unknown.
    return waiting >= MOST_WAITING || core.gates().get(GateKind.LOADING, selection.job()) != null;
  }

  @Override
  public boolean step(long nowMillis) {
    if (waits()) {
      return false;
    }
    int job = core.findJob(selection.job());
    Job config = job < 0 ? null : core.job(job);
    if (config == null) {
      answer.completeExceptionally(
          new RefusedException(RefusedException.Reason.UNKNOWN, "no such job: " + selection.job()));
      return true;
    }
    if (topology != core.topology()) {
      topology = core.topology();
      next = 0;
      count = 0;
      running = 0;
      samples.clear();
      changing = false;
    }
    return changing ? change(job, config, nowMillis) : find(job, config, topology, nowMillis);
  }

  // ---- finding

  private boolean find(int job, Job config, Topology in, long nowMillis) {
    boolean all = nodes.isEmpty() ? scan(job, in) : look(job, config, in);
    if (!all) {
      return false;
    }
    if (matchedAtFirst < 0) {
      matchedAtFirst = count;
    }
    if (selection.expect() >= 0 && selection.expect() != matchedAtFirst) {
      answer.completeExceptionally(
          new RefusedException(
              RefusedException.Reason.CONFLICT,
              matchedAtFirst
                  + " tasks match, not "
                  + selection.expect()
                  + " as expected; nothing was changed"));
      return true;
    }
    if (selection.preview()) {
      answer.complete(selected());
      return true;
    }
    changing = true;
    next = 0;
    return change(job, config, nowMillis);
  }

  private SelectionResult selected() {
    return new SelectionResult(
        selection.job(), matchedAtFirst, running, samples, selection.preview(), changed);
  }

  /** Searches all tasks of the job. */
  private boolean scan(int job, Topology in) {
    StatusFilter set = StatusFilter.of(this::isWanted);
    for (int i = 0; i < MATCHES; i++) {
      int found = core.tasks().next(job, next, LOOKS, set);
      if (found == -1) {
        return true;
      }
      if (found < 0) {
        next = -2 - found;
        return false;
      }
      next = found + 1;
      take(job, found, in);
    }
    return false;
  }

  /** Searches the tasks on given nodes. */
  private boolean look(int job, Job config, Topology in) {
    int stop = Math.min(nodes.size(), next + MATCHES);
    for (; next < stop; next++) {
      int node = in.find(config.level(), nodes.get(next));
      if (node >= 0 && isWanted(core.tasks().bits(job, node))) {
        take(job, node, in);
      }
    }
    return next == nodes.size();
  }

  private boolean isWanted(int bits) {
    TaskSelector selector = selection.selector();
    return (operation.applies(bits) || isRunning(bits))
        && (selector.statuses().isEmpty() || selector.statuses().contains(StatusLabel.of(bits)));
  }

  private boolean isOfCause(int job, int node) {
    String fingerprint = selection.selector().fingerprint();
    if (fingerprint.isEmpty()) {
      return true;
    }
    TaskStatus status = core.tasks().status(job, node);
    Failure failure = status == null ? null : status.failure();
    return failure != null && failure.fingerprint().equals(fingerprint);
  }

  private static boolean isRunning(int bits) {
    return (bits & Main.RUNNING.bit()) != 0;
  }

  private void take(int job, int node, Topology in) {
    String name = in.name(node);
    if (!isOfCause(job, node)) {
      return;
    }
    if (!name.startsWith(selection.selector().prefix())) {
      return;
    }
    if (isRunning(core.tasks().bits(job, node)) && running(name) == null) {
      running++;
      return;
    }
    if (count == matches.length) {
      matches = Arrays.copyOf(matches, count * 2);
    }
    matches[count++] = node;
    if (samples.size() < SAMPLES) {
      samples.add(name);
    }
  }

  // ---- changing

  private boolean change(int job, Job config, long nowMillis) {
    int stop = Math.min(count, next + CHANGES);
    for (; next < stop; next++) {
      change(job, matches[next], config, nowMillis);
    }
    if (next < count) {
      waiting++;
      sink.sliced(() -> waiting--);
      return false;
    }
    SelectionResult done = selected();
    sink.finished(selection, changed, nowMillis, () -> answer.complete(done));
    return true;
  }

  private void change(int job, int node, Job config, long nowMillis) {
    int bits = core.tasks().bits(job, node);
    String name = core.topology().name(node);
    if (!isWanted(bits) || !isOfCause(job, node)) {
      return;
    }
    Live alive = live.get(new TaskKey(config.name(), name));
    if (isRunning(bits) || alive != null) {
      changeRunning(job, node, config, nowMillis);
      return;
    }
    TaskStatus before = core.tasks().status(job, node);
    TaskStatus after = operation.after(before, config, nowMillis);
    if (after != null && after.equals(before)) {
      return;
    }
    core.setStatus(job, node, after);
    changed++;
    // This is no invocation: its epoch 0 is older than any other.
    sink.changed(
        new StatusRow(
            config.name(),
            name,
            after == null ? TaskStatus.unstarted(nowMillis) : after,
            new Invocation(0, 0, 0)),
        nowMillis);
  }

  private void changeRunning(int job, int node, Job config, long nowMillis) {
    Live task = running(core.topology().name(node));
    TaskStatus after = task == null ? null : operation.after(task.status, config, nowMillis);
    if (task == null || after == null) {
      return;
    }
    if (!after.equals(task.status)) {
      task.status = after;
      live.changed(task);
      core.setStatus(job, node, after);
    }
    changed++;
    sink.changedRunning(task, nowMillis);
  }

  /** The running task on a node if the command may change it; otherwise null. */
  private @Nullable Live running(String node) {
    Live task = live.get(new TaskKey(selection.job(), node));
    return task == null || task.isOfForgottenJob() || !operation.appliesToRunning(task.status)
        ? null
        : task;
  }

  /** The result; completes when all changes are durable. */
  public CompletionStage<SelectionResult> answer() {
    return answer;
  }
}
