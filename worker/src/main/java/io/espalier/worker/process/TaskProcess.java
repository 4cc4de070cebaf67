package io.espalier.worker.process;

import io.espalier.core.config.task.KillRequest;
import io.espalier.core.json.Json;
import io.espalier.core.logs.LogLine;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.ResourceUsage;
import io.espalier.core.running.StopReason;
import io.espalier.core.running.TaskResult;
import io.espalier.core.running.Throttle;
import io.espalier.worker.cgroup.TaskGroup;
import io.espalier.worker.process.kill.CgroupMembers;
import io.espalier.worker.process.kill.CgroupReaper;
import io.espalier.worker.process.kill.Journal;
import io.espalier.worker.process.os.ProcFs;
import io.espalier.worker.process.output.Channel;
import io.espalier.worker.process.output.PreludeMarks;
import io.espalier.worker.process.output.TaskOutput;
import io.espalier.worker.process.spawn.ProcessBackend;
import io.espalier.worker.process.spawn.TaskEnvironment;
import io.espalier.worker.resources.TaskUsageReader;
import java.io.IOException;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The process of one task, or of a batch of tasks, from its start to its end; confined to the
 * supervisor's thread. The journal and the environment name it by one invocation.
 *
 * <p>It has ended when it is gone, all its channels are closed and its control groups are empty: a
 * descendant that keeps one of them open or occupied still works for it
 * (docs/design/bistro.md#completion). After a KILL without control groups, the end also requires
 * that no descendant is left that has closed all channels.
 */
final class TaskProcess implements ProcessBackend.Events, TaskOutput.Sink, Termination.Listener {
  private static final Logger log = LoggerFactory.getLogger(TaskProcess.class);

  private final LaunchSpec launch;
  private final TaskHost host;
  private final Owner owner;
  private final Termination termination;
  private final TaskOutput output;
  private final PreludeMarks marks = new PreludeMarks();
  private final Set<Channel> open = EnumSet.noneOf(Channel.class);
  private List<String> argv = List.of();
  private TaskLauncher.@Nullable Prepared prepared;
  private @Nullable ThrottleFile throttleFile;
  private volatile @Nullable TaskGroup group;
  private ProcessBackend.@Nullable Child child;
  private volatile ProcessBackend.@Nullable Exit exit;
  private volatile long pid;
  private volatile long startTicks;
  private final TaskUsage consumption = new TaskUsage();
  private boolean killedByGuard;
  private boolean ended;

  /** The owner for which the process runs. */
  interface Owner {
    /** It has started. */
    void started();

    /** It could not be started; nothing else follows. */
    void failed(TaskResult.Kind kind, String cause);

    /** It has written something. */
    void wrote();

    /** It has written to its status channel. */
    void status(byte[] bytes, int length);

    /** Its status channel is closed. */
    void statusClosed();

    void line(LogLine.Stream stream, String text);

    void event(String name, Json.Builder about);

    /** It has ended, with everything that belonged to it. */
    void over(ProcessBackend.Exit how, ResourceUsage used);
  }

  /**
   * @param launch the task that it runs for, or the first of its batch
   */
  TaskProcess(LaunchSpec launch, TaskHost host, Owner owner) {
    this.launch = launch;
    this.host = host;
    this.owner = owner;
    this.termination = new Termination(this, host);
    this.output =
        new TaskOutput(
            launch.subprocess(), host.log().redactor(launch.job()), host.log()::hasRoom, this);
  }

  LaunchSpec launch() {
    return launch;
  }

  /** Returns the invocation by which the journal and its environment name it. */
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

  /** Returns the marks of its prelude. */
  PreludeMarks marks() {
    return marks;
  }

  /** Returns whether it has started. */
  boolean hasStarted() {
    return child != null;
  }

  /** Returns whether we may be the ones who keep it from writing. */
  boolean isHeldUp() {
    return output.isPaused();
  }

  /** Returns whether a signal of ours, or of the guard, has reached it. */
  boolean isSignalled() {
    return termination.isSignalled();
  }

  /** Sets what is about to start; call it before the start. */
  void prepared(TaskLauncher.Prepared newPrepared) {
    prepared = newPrepared;
    argv = newPrepared.argv();
    throttleFile =
        new ThrottleFile(newPrepared.throttleFile(), newPrepared.spawn().owner(), host::after);
    TaskGroup made = newPrepared.group();
    group = made;
    if (made != null) {
      termination.prepared(
          made,
          new CgroupReaper(
              new CgroupMembers(made, what -> log.warn("{}: {}", name(), what)),
              newPrepared.killsStrays(),
              launch.subprocess().pollMillis()));
    }
    if (newPrepared.secret() != null) {
      marks.expect(newPrepared.secret());
    }
    for (String unmet : newPrepared.unmetLimits()) {
      owner.event("limit_not_set", Json.object().put("message", unmet));
    }
  }

  /** Tells it how fast to work, unless it has ended. */
  void throttle(Throttle throttle) {
    if (throttleFile != null && !ended) {
      throttleFile.write(throttle);
    }
  }

  private JournalKey name() {
    return JournalKey.of(launch);
  }

  @Override
  public void started(ProcessBackend.Child newChild) {
    child = newChild;
    pid = newChild.pid();
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
      log.warn("{}: its start time cannot be read: {}", name(), e.getMessage());
    }
    host.started(entry());
    owner.event("running", Json.object().put("command", Json.strings(argv)));
    argv = List.of();
    owner.started();
    termination.started(newChild);
  }

  @Override
  public void failed(String cause, boolean shortage) {
    fail(shortage ? TaskResult.Kind.NOT_STARTED : TaskResult.Kind.START_FAILED, cause);
  }

  /** Ends it before it has started. */
  void fail(TaskResult.Kind kind, String cause) {
    TaskGroup made = group;
    if (made != null) {
      // No process can be a member.
      made.remove().forEach(problem -> log.warn("{}: {}", name(), problem));
      host.groupRemoved(made);
    }
    end();
    owner.failed(kind, cause);
  }

  @Override
  public void output(Channel channel, byte[] bytes, int length) {
    switch (channel) {
      case STDOUT, STDERR -> {
        owner.wrote();
        output.add(channel, bytes, length);
      }
      case STATUS -> owner.status(bytes, length);
      case CANARY -> {}
    }
  }

  @Override
  public void closed(Channel channel) {
    if (ended) {
      return;
    }
    open.remove(channel);
    if (channel == Channel.STATUS) {
      owner.statusClosed();
    } else if (channel != Channel.CANARY) {
      output.closed(channel);
    }
    if (open.isEmpty()) {
      owner.event("task_pipes_closed", Json.object());
      termination.killStrays();
    }
    endIfOver();
  }

  @Override
  public void exited(ProcessBackend.Exit newExit) {
    exit = newExit;
    if (!termination.isSignalled() && hasFailed(newExit) && host.hasLostLeaseSince(startTicks)) {
      termination.killedByGuard();
      killedByGuard = true;
    }
    owner.event("process_exited", Json.object().put("message", describe(newExit)));
    output.exited();
    termination.exited();
    if (open.isEmpty()) {
      termination.killStrays();
    }
    endIfOver();
    termination.searchIfStopping();
  }

  @Override
  public void line(LogLine.Stream stream, String text) {
    owner.line(stream, text);
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

  /** Kills it as a request says. */
  void kill(KillRequest how) {
    if (!ended) {
      termination.request(how);
    }
  }

  /** Writes a line to its standard input; returns false when it does not take it. */
  boolean tell(String line) {
    return child != null && child.tell(line);
  }

  /** Closes its standard input. */
  void tellEnd() {
    if (child != null) {
      child.tellEnd();
    }
  }

  @Override
  public Journal.Entry entry() {
    return new Journal.Entry(
        invocation(), pid, startTicks, launch.subprocess().parentDeathSignal());
  }

  @Override
  public void looking() {
    if (exit != null) {
      consumption.collect(group, exit);
    }
  }

  @Override
  public void reaped() {
    owner.event("cgroups_reaped", Json.object());
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
    end();
    if (!termination.isSignalled() && !marks.hasBegun()) {
      owner.failed(TaskResult.Kind.START_FAILED, whyNotBegun(how));
    } else {
      owner.over(how, used);
    }
  }

  private void end() {
    ended = true;
    termination.end();
    if (prepared != null) {
      prepared.deleteFiles();
    }
    if (throttleFile != null) {
      throttleFile.delete();
    }
    host.ended(invocation());
  }

  private String whyNotBegun(ProcessBackend.Exit how) {
    String last = output.lastErrorLine();
    String what =
        marks.failedExec() != null
            ? "the program could not be run"
            : "the process could not be prepared";
    return what + ": " + (last != null ? last : describe(how));
  }

  /** Returns the latest line of its error output that says something; null: there is none. */
  @Nullable String lastErrorLine() {
    return output.lastErrorLine();
  }

  /**
   * Returns why it, or the task that it ran for, was stopped; null: it ended by itself.
   *
   * @param requested why we stopped the task; null: we did not
   */
  @Nullable StopReason stopReason(ProcessBackend.Exit how, @Nullable StopReason requested) {
    if (killedByGuard) {
      return StopReason.LEASE_LOST;
    }
    return requested == null && hasFailed(how) && consumption.wasOutOfMemory()
        ? StopReason.OUT_OF_MEMORY
        : requested;
  }

  /** Returns what it has used so far and uses now; safe from any thread. */
  ResourceUsage sample(TaskUsageReader reader) {
    long first = pid;
    return first == 0 || exit != null
        ? ResourceUsage.UNKNOWN
        : consumption.sample(reader, first, group);
  }

  private static boolean hasFailed(ProcessBackend.Exit how) {
    return how.signal() != null || !Integer.valueOf(0).equals(how.code());
  }

  static String describe(ProcessBackend.Exit exit) {
    return exit.signal() == null
        ? "exited with code " + exit.code()
        : "killed by signal " + exit.signal() + (exit.coreDumped() ? " (core dumped)" : "");
  }
}
