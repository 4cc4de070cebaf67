package io.espalier.worker.process;

import io.espalier.core.config.task.KillRequest;
import io.espalier.core.json.Json;
import io.espalier.core.logs.LogLine;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.Progress;
import io.espalier.core.running.ResourceUsage;
import io.espalier.core.running.StopReason;
import io.espalier.core.running.TaskResult;
import io.espalier.worker.cgroup.TaskGroup;
import io.espalier.worker.process.kill.CgroupMembers;
import io.espalier.worker.process.kill.CgroupReaper;
import io.espalier.worker.process.kill.Journal;
import io.espalier.worker.process.os.ProcFs;
import io.espalier.worker.process.output.Channel;
import io.espalier.worker.process.output.StatusPipe;
import io.espalier.worker.process.output.TaskOutput;
import io.espalier.worker.process.spawn.JsonArgument;
import io.espalier.worker.process.spawn.ProcessBackend;
import io.espalier.worker.process.spawn.TaskEnvironment;
import io.espalier.worker.resources.TaskUsageReader;
import java.io.IOException;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One invocation from its start to its end; confined to the supervisor's thread.
 *
 * <p>It has ended when its process is gone, all its channels are closed and its control groups are
 * empty: a descendant that keeps one of them open or occupied still works for it
 * (docs/design/bistro.md#completion). After a KILL without control groups, the end also requires
 * that no descendant is left that has closed all channels.
 */
final class RunningTask implements ProcessBackend.Events, TaskOutput.Sink, Termination.Listener {
  private static final Logger log = LoggerFactory.getLogger(RunningTask.class);

  private final LaunchSpec launch;
  private final JournalKey key;
  private final TaskHost host;
  private final Termination termination;
  private final TaskOutput output;
  private final Set<Channel> open = EnumSet.noneOf(Channel.class);
  private StatusPipe status;
  private TaskTimeLimits times;
  private List<String> argv = List.of();
  private @Nullable JsonArgument json;
  private volatile @Nullable TaskGroup group;
  private ProcessBackend.@Nullable Child child;
  private volatile ProcessBackend.@Nullable Exit exit;
  private @Nullable String rawStatus;
  private @Nullable StopReason stopReason;
  private volatile long pid;
  private volatile long startTicks;
  private long startedMillis;
  private final TaskUsage consumption = new TaskUsage();
  private boolean ended;
  private int timer;

  RunningTask(LaunchSpec launch, TaskHost host) {
    this.launch = launch;
    this.key = JournalKey.of(launch);
    this.host = host;
    this.termination = new Termination(this, host);
    this.output =
        new TaskOutput(
            launch.subprocess(), host.log().redactor(launch.job()), host.log()::hasRoom, this);
    this.status = new StatusPipe(host.progressText(), null);
    this.times = new TaskTimeLimits(launch.limits(), System.nanoTime());
  }

  LaunchSpec launch() {
    return launch;
  }

  JournalKey key() {
    return key;
  }

  String invocation() {
    return TaskEnvironment.invocationId(launch);
  }

  /** Returns the pid, 0 until the start; safe from any thread. */
  long pid() {
    return pid;
  }

  /** Returns the control groups; safe from any thread. */
  @Nullable TaskGroup group() {
    return group;
  }

  /** Sets what is about to start; call it before the start. */
  void prepared(TaskLauncher.Prepared prepared) {
    argv = prepared.argv();
    json = prepared.json();
    TaskGroup made = prepared.group();
    group = made;
    if (made != null) {
      termination.prepared(
          made,
          new CgroupReaper(
              new CgroupMembers(made, what -> log.warn("{}: {}", key, what)),
              prepared.killsStrays(),
              launch.subprocess().pollMillis()));
    }
    if (prepared.secret() != null) {
      status = new StatusPipe(host.progressText(), prepared.secret());
    }
    for (String unmet : prepared.unmetLimits()) {
      event("limit_not_set", Json.object().put("message", unmet));
    }
  }

  @Override
  public void started(ProcessBackend.Child newChild) {
    child = newChild;
    pid = newChild.pid();
    startedMillis = System.currentTimeMillis();
    open.addAll(newChild.channels());
    open.forEach(
        channel -> {
          if (channel == Channel.STDOUT || channel == Channel.STDERR) {
            output.opened(channel);
          }
        });
    try {
      startTicks = ProcFs.stat(pid).map(ProcFs.Stat::startTicks).orElse(0L);
    } catch (IOException e) {
      log.warn("{}: its start time cannot be read: {}", key, e.getMessage());
    }
    host.started(launch, pid, startTicks);
    event("running", Json.object().put("command", Json.strings(argv)));
    argv = List.of();
    times = new TaskTimeLimits(launch.limits(), System.nanoTime());
    watchTime();
    termination.started(newChild);
  }

  @Override
  public void failed(String cause, boolean shortage) {
    fail(shortage ? TaskResult.Kind.NOT_STARTED : TaskResult.Kind.START_FAILED, cause);
  }

  /** Ends the invocation without a process. */
  void fail(TaskResult.Kind kind, String cause) {
    TaskGroup made = group;
    if (made != null) {
      // No process can be a member.
      made.remove().forEach(problem -> log.warn("{}: {}", key, problem));
      host.groupRemoved(made);
    }
    finish(key.end(kind).withMessage(cause), "task_failed_to_start");
  }

  @Override
  public void output(Channel channel, byte[] bytes, int length) {
    switch (channel) {
      case STDOUT, STDERR -> {
        times.sign(System.nanoTime());
        output.add(channel, bytes, length);
      }
      case STATUS -> {
        times.sign(System.nanoTime());
        status.add(bytes, length);
        tellProgress();
      }
      case CANARY -> {}
    }
  }

  private void tellProgress() {
    Progress progress = status.takeProgress();
    if (progress != null) {
      host.progress(key, progress);
    }
    String problem = status.takeProblem();
    if (problem != null) {
      event("progress_refused", Json.object().put("message", problem));
    }
  }

  @Override
  public void closed(Channel channel) {
    if (ended) {
      return;
    }
    open.remove(channel);
    if (channel == Channel.STATUS) {
      status.close();
      tellProgress();
      rawStatus = status.last();
    } else if (channel != Channel.CANARY) {
      output.closed(channel);
    }
    if (open.isEmpty()) {
      event("task_pipes_closed", Json.object());
      termination.killStrays();
    }
    endIfOver();
  }

  @Override
  public void exited(ProcessBackend.Exit newExit) {
    exit = newExit;
    if (!termination.isSignalled() && hasFailed(newExit) && host.hasLostLeaseSince(startTicks)) {
      termination.killedByGuard();
      stopReason = stopReason == null ? StopReason.LEASE_LOST : stopReason;
    }
    event("process_exited", Json.object().put("message", describe(newExit)));
    output.exited();
    termination.exited();
    if (open.isEmpty()) {
      termination.killStrays();
    }
    endIfOver();
    termination.searchIfKilled();
  }

  @Override
  public void line(LogLine.Stream stream, String text) {
    host.log().line(stream, key, text);
  }

  @Override
  public void pause(Channel channel) {
    if (child != null) {
      child.pause(channel);
    }
  }

  @Override
  public void resume(Channel channel) {
    if (child != null) {
      child.resume(channel);
    }
  }

  @Override
  public void goOnAfter(long nanos, Channel channel) {
    host.after(
        nanos,
        () -> {
          if (!ended) {
            output.goOn(channel);
            endIfOver();
          }
        });
  }

  /**
   * @param reason the end reports the first reason given
   */
  void kill(KillRequest how, StopReason reason) {
    if (ended) {
      return;
    }
    if (stopReason == null) {
      stopReason = reason;
    }
    termination.request(how);
  }

  @Override
  public Journal.Entry entry() {
    return new Journal.Entry(invocation(), pid, startTicks);
  }

  @Override
  public void looking() {
    if (exit != null) {
      consumption.collect(group, exit);
    }
  }

  @Override
  public void reaped() {
    event("cgroups_reaped", Json.object());
    endIfOver();
  }

  @Override
  public void searched() {
    endIfOver();
  }

  private void endIfOver() {
    ProcessBackend.Exit how = exit;
    if (ended || how == null || !open.isEmpty() || !output.isEmpty()) {
      return;
    }
    if (!termination.isComplete()) {
      return;
    }
    if (child != null) {
      child.release();
    }
    ResourceUsage used = consumption.used(group, how);
    if (!termination.isSignalled() && !status.hasBegun()) {
      finish(
          key.end(TaskResult.Kind.START_FAILED).withMessage(whyNotBegun(how)),
          "task_failed_to_start");
      return;
    }
    TaskResult.Kind kind =
        termination.isSignalled() ? TaskResult.Kind.KILLED : TaskResult.Kind.EXITED;
    StopReason reason = reasonOf(how);
    boolean byItself = kind == TaskResult.Kind.EXITED && reason == null;
    finish(
        key.end(kind)
            .withRawStatus(rawStatus)
            .withExit(how.code(), how.signal())
            .withUsage(used, how.coreDumped(), System.currentTimeMillis())
            .withMessage(byItself ? output.lastErrorLine() : null)
            .withStopReason(reason),
        "got_status");
  }

  private String whyNotBegun(ProcessBackend.Exit how) {
    String last = output.lastErrorLine();
    String what =
        status.failedExec() != null
            ? "the program could not be run"
            : "the process could not be prepared";
    return what + ": " + (last != null ? last : describe(how));
  }

  private static boolean hasFailed(ProcessBackend.Exit how) {
    return how.signal() != null || !Integer.valueOf(0).equals(how.code());
  }

  private @Nullable StopReason reasonOf(ProcessBackend.Exit how) {
    return stopReason == null && hasFailed(how) && consumption.wasOutOfMemory()
        ? StopReason.OUT_OF_MEMORY
        : stopReason;
  }

  /** Returns what it has used so far and uses now; safe from any thread. */
  ResourceUsage sample(TaskUsageReader reader) {
    long first = pid;
    return first == 0 || exit != null
        ? ResourceUsage.UNKNOWN
        : consumption.sample(reader, first, group);
  }

  /** Starts or moves the timer of the time limits. */
  private void watchTime() {
    if (times.isEmpty() || ended) {
      return;
    }
    long wait = times.waitNanos(System.nanoTime(), System.currentTimeMillis());
    if (wait == TaskTimeLimits.NEVER) {
      return;
    }
    // Setting another timer invalidates the earlier one.
    int mine = ++timer;
    host.after(
        wait,
        () -> {
          if (mine == timer) {
            checkTime();
          }
        });
  }

  private void checkTime() {
    if (ended || child == null) {
      return;
    }
    long now = System.nanoTime();
    if (output.isPaused()) {
      // We may be the ones who keep it from writing.
      times.sign(now);
    }
    StopReason reason = times.due(now, System.currentTimeMillis());
    if (reason != null) {
      event("stopped", Json.object().put("reason", reason.name().toLowerCase(Locale.ROOT)));
      kill(launch.kill(), reason);
    }
    watchTime();
  }

  /** Moves its timeout and its deadline. */
  void extend(long millis) {
    times.extend(millis);
    watchTime();
  }

  private void finish(TaskResult how, String lastEvent) {
    ended = true;
    TaskResult end = how.withStartedAtMillis(startedMillis).withCounters(status.counters());
    termination.end();
    if (json != null) {
      json.delete();
    }
    Json.Builder about = Json.object();
    if (end.message() != null && end.lastErrorLine() == null) {
      about.put("message", end.message());
    }
    Json.Obj form = host.log().statusForm(end);
    if (!form.isEmpty()) {
      about.put("status", form);
    }
    event(lastEvent, about);
    host.ended(key, end);
  }

  private static String describe(ProcessBackend.Exit exit) {
    return exit.signal() == null
        ? "exited with code " + exit.code()
        : "killed by signal " + exit.signal() + (exit.coreDumped() ? " (core dumped)" : "");
  }

  void event(String name, Json.Builder about) {
    if (rawStatus != null) {
      about.put("raw_status", rawStatus);
    }
    host.log().event(key, name, about.build());
  }
}
