package io.espalier.worker.process;

import io.espalier.core.config.KillRequest;
import io.espalier.core.json.Json;
import io.espalier.core.logs.LogLine;
import io.espalier.core.logs.Redactor;
import io.espalier.core.running.Launch;
import io.espalier.core.running.TaskEnd;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One invocation from its start to its end; lives on the supervisor's thread.
 *
 * <p>It has ended when its process is gone and all its channels are closed: who keeps one of them
 * open is a descendant that still works for it (behaviour 7.3). Output is taken at the rate of the
 * quota while the process lives; once it has exited nobody can be slowed down any more, and what
 * the pipes still hold is taken at once, so that no end waits for the quota (defect L32).
 */
final class RunningTask implements Processes.Events {
  /** What two pipes and our own buffers can hold when the process exits. */
  private static final long FREE_BYTES_AFTER_EXIT = 1 << 18;

  private static final long FIRST_SWEEP_NANOS = 200_000_000L;
  private static final long LAST_SWEEP_NANOS = 10_000_000_000L;

  private final Launch launch;
  private final TaskKey key;
  private final TaskSupervisor supervisor;
  private final TaskSupervisor.JsonArgument json;
  private List<String> argv;
  private long startTicks;
  private final KillPlan kill = new KillPlan();
  private final LineSplitter[] lines;
  private final StatusLine status = new StatusLine();
  private final Set<Channel> open = EnumSet.noneOf(Channel.class);
  private final Set<Channel> paused = EnumSet.noneOf(Channel.class);
  private final LogQuota quota;
  private Processes.@Nullable Child child;
  private Processes.@Nullable Exit exit;
  private @Nullable String rawStatus;
  private boolean signalled;
  private boolean ended;
  private boolean sentBeforeStart;
  private int signalBeforeStart;
  private long freeBytes;
  private long sweepNanos = FIRST_SWEEP_NANOS;

  RunningTask(
      Launch launch,
      List<String> argv,
      TaskSupervisor.JsonArgument json,
      TaskSupervisor supervisor) {
    this.launch = launch;
    this.key = TaskKey.of(launch);
    this.argv = argv;
    this.json = json;
    this.supervisor = supervisor;
    this.quota =
        new LogQuota(
            System.nanoTime(),
            launch.subprocess().pollMillis(),
            launch.subprocess().maxLogLinesPerPollInterval(),
            supervisor::logsHaveRoom);
    Redactor redactor = supervisor.redactor(launch.job());
    this.lines = new LineSplitter[] {new LineSplitter(redactor), new LineSplitter(redactor)};
  }

  Launch launch() {
    return launch;
  }

  TaskKey key() {
    return key;
  }

  /** The command as it is run, once it is known. */
  void setArgv(List<String> newArgv) {
    argv = newArgv;
  }

  long startTicks() {
    return startTicks;
  }

  long pid() {
    return child == null ? 0 : child.pid();
  }

  @Override
  public void started(Processes.Child newChild) {
    child = newChild;
    open.addAll(newChild.channels());
    startTicks = ProcFs.stat(newChild.pid()).map(ProcFs.Stat::startTicks).orElse(0L);
    supervisor.journalStarted(this, startTicks);
    event("running", Json.object().put("command", Json.strings(argv)));
    if (sentBeforeStart) {
      signal(signalBeforeStart);
    }
  }

  @Override
  public void failed(String cause, boolean shortage) {
    fail(shortage ? TaskEnd.Kind.NOT_STARTED : TaskEnd.Kind.START_FAILED, cause);
  }

  /** Ends it without a process. */
  void fail(TaskEnd.Kind kind, String cause) {
    end(key.end(kind, null, null, null, cause), "task_failed_to_start");
  }

  @Override
  public void output(Channel channel, byte[] bytes, int length) {
    switch (channel) {
      case STDOUT, STDERR -> {
        lines[channel.index()].add(bytes, length);
        freeBytes -= length;
        takeLines(channel);
      }
      case STATUS -> status.add(bytes, length);
      case CANARY -> {}
    }
  }

  @Override
  public void closed(Channel channel) {
    open.remove(channel);
    if (channel == Channel.STATUS) {
      rawStatus = status.last();
    } else if (channel != Channel.CANARY) {
      takeLines(channel);
    }
    if (open.isEmpty()) {
      event("task_pipes_closed", Json.object());
    }
    endIfOver();
  }

  @Override
  public void exited(Processes.Exit newExit) {
    exit = newExit;
    event("process_exited", Json.object().put("message", describe(newExit)));
    freeBytes = FREE_BYTES_AFTER_EXIT;
    takeLines(Channel.STDOUT);
    takeLines(Channel.STDERR);
    endIfOver();
    if (!ended && kill.isKilled()) {
      sweepLater();
    }
  }

  /** Lines as the quota allows; stops reading the channel when it does not. */
  private void takeLines(Channel channel) {
    LineSplitter splitter = lines[channel.index()];
    LogLine.Stream stream =
        channel == Channel.STDOUT ? LogLine.Stream.STDOUT : LogLine.Stream.STDERR;
    boolean free = exit != null && freeBytes > 0;
    long now = System.nanoTime();
    while (free || quota.allows(now)) {
      String line = splitter.next();
      if (line == null && !open.contains(channel)) {
        line = splitter.rest();
      }
      if (line == null) {
        if (paused.remove(channel) && child != null) {
          child.resume(channel);
        }
        return;
      }
      quota.use();
      supervisor.log(stream, key, line);
    }
    if (splitter.isEmpty() && !open.contains(channel)) {
      return;
    }
    if (paused.add(channel)) {
      if (child != null && open.contains(channel)) {
        child.pause(channel);
      }
    }
    supervisor.after(quota.waitNanos(now), () -> resumed(channel));
  }

  private void resumed(Channel channel) {
    if (!ended && paused.contains(channel)) {
      takeLines(channel);
      endIfOver();
    }
  }

  void kill(KillRequest how) {
    long now = System.nanoTime();
    signal(kill.request(how, now));
    long wait = kill.waitNanos(now);
    if (wait != KillPlan.NEVER) {
      supervisor.after(wait, this::killIfDue);
    }
  }

  private void killIfDue() {
    if (!ended) {
      signal(kill.due(System.nanoTime()));
    }
  }

  private void signal(int number) {
    if (number == 0) {
      return;
    }
    if (child == null) {
      // It is being started; a KILL must not be forgotten for a later TERM.
      signalBeforeStart = signalBeforeStart == KillPlan.KILL ? KillPlan.KILL : number;
      sentBeforeStart = true;
      return;
    }
    signalled |= exit == null;
    child.signal(number);
    if (number == KillPlan.KILL && exit != null) {
      sweepLater();
    }
  }

  /** Descendants that left the group but hold a channel: KILL must reach them too. */
  private void sweepLater() {
    supervisor.after(
        sweepNanos,
        () -> {
          if (!ended) {
            supervisor.sweep(this);
            sweepNanos = Math.min(2 * sweepNanos, LAST_SWEEP_NANOS);
            sweepLater();
          }
        });
  }

  private void endIfOver() {
    Processes.Exit how = exit;
    if (ended || how == null || !open.isEmpty() || !lines[0].isEmpty() || !lines[1].isEmpty()) {
      return;
    }
    if (child != null) {
      child.release();
    }
    TaskEnd.Kind kind = signalled ? TaskEnd.Kind.KILLED : TaskEnd.Kind.EXITED;
    end(key.end(kind, rawStatus, how.code(), how.signal(), null), "got_status");
  }

  private void end(TaskEnd end, String lastEvent) {
    ended = true;
    json.delete();
    Json.Builder about = Json.object();
    if (end.message() != null) {
      about.put("message", end.message());
    }
    Json.Obj form = supervisor.statusForm(end);
    if (!form.isEmpty()) {
      about.put("status", form);
    }
    event(lastEvent, about);
    supervisor.ended(this, end);
  }

  private static String describe(Processes.Exit exit) {
    return exit.signal() == null
        ? "exited with code " + exit.code()
        : "killed by signal " + exit.signal() + (exit.coreDumped() ? " (core dumped)" : "");
  }

  private void event(String name, Json.Builder about) {
    if (rawStatus != null) {
      about.put("raw_status", rawStatus);
    }
    supervisor.event(key, name, about.build());
  }
}
