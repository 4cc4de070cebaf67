package io.espalier.worker.process;

import io.espalier.core.config.task.KillRequest;
import io.espalier.core.json.Json;
import io.espalier.core.logs.LogLine;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.Progress;
import io.espalier.core.running.ResourceUsage;
import io.espalier.core.running.StopReason;
import io.espalier.core.running.TaskResult;
import io.espalier.core.running.Throttle;
import io.espalier.worker.cgroup.TaskGroup;
import io.espalier.worker.process.output.StatusPipe;
import io.espalier.worker.process.spawn.ProcessBackend;
import io.espalier.worker.resources.TaskUsageReader;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** A task with a process of its own; confined to the supervisor's thread. */
final class RunningTask implements SupervisedTask, TaskProcess.Owner {
  private final LaunchSpec launch;
  private final JournalKey key;
  private final TaskHost host;
  private final TaskProcess process;
  private final StatusPipe status;
  private final TimeWatch times;
  private @Nullable String rawStatus;
  private @Nullable StopReason stopReason;
  private long startedMillis;
  private boolean ended;

  RunningTask(LaunchSpec launch, TaskHost host) {
    this.launch = launch;
    this.key = JournalKey.of(launch);
    this.host = host;
    this.process = new TaskProcess(launch, host, this);
    this.status = new StatusPipe(host.progressText(), process.marks());
    this.times = new TimeWatch(host, process::isHeldUp, this::stop);
  }

  TaskProcess process() {
    return process;
  }

  @Override
  public LaunchSpec launch() {
    return launch;
  }

  @Override
  public JournalKey key() {
    return key;
  }

  @Override
  public long pid() {
    return process.pid();
  }

  @Override
  public @Nullable TaskGroup group() {
    return process.group();
  }

  @Override
  public ResourceUsage sample(TaskUsageReader reader) {
    return process.sample(reader);
  }

  @Override
  public void started() {
    startedMillis = System.currentTimeMillis();
    host.confirm(launch);
    times.begin(launch.limits());
  }

  @Override
  public void failed(TaskResult.Kind kind, String cause) {
    finish(key.end(kind).withMessage(cause), "task_failed_to_start");
  }

  @Override
  public void wrote() {
    times.sign();
  }

  @Override
  public void status(byte[] bytes, int length) {
    times.sign();
    status.add(bytes, length);
    tellProgress();
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
  public void statusClosed() {
    status.close();
    tellProgress();
    rawStatus = status.last();
  }

  @Override
  public void line(LogLine.Stream stream, String text) {
    host.log().line(stream, key, text);
  }

  @Override
  public void kill(KillRequest how, StopReason reason) {
    if (ended) {
      return;
    }
    if (stopReason == null) {
      stopReason = reason;
    }
    process.kill(how);
  }

  private void stop(StopReason reason) {
    event("stopped", Json.object().put("reason", reason.name().toLowerCase(Locale.ROOT)));
    kill(launch.kill(), reason);
  }

  @Override
  public void extend(long millis) {
    times.extend(millis);
  }

  @Override
  public void throttle(Throttle throttle) {
    process.throttle(throttle);
    times.pause(throttle.isPause());
  }

  @Override
  public void over(ProcessBackend.Exit how, ResourceUsage used) {
    TaskResult.Kind kind = process.isSignalled() ? TaskResult.Kind.KILLED : TaskResult.Kind.EXITED;
    StopReason reason = process.stopReason(how, stopReason);
    boolean byItself = kind == TaskResult.Kind.EXITED && reason == null;
    finish(
        key.end(kind)
            .withRawStatus(rawStatus)
            .withExit(how.code(), how.signal())
            .withUsage(used, how.coreDumped(), System.currentTimeMillis())
            .withMessage(byItself ? process.lastErrorLine() : null)
            .withStopReason(reason),
        "got_status");
  }

  private void finish(TaskResult how, String lastEvent) {
    ended = true;
    times.end();
    TaskResult end = how.withStartedAtMillis(startedMillis).withCounters(status.counters());
    host.log().ended(key, lastEvent, end);
    host.ended(key, end);
  }

  @Override
  public void event(String name, Json.Builder about) {
    if (rawStatus != null) {
      about.put("raw_status", rawStatus);
    }
    host.log().event(key, name, about.build());
  }
}
