package io.espalier.worker.process;

import io.espalier.core.config.task.KillRequest;
import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import io.espalier.core.running.InvocationLimits;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.Progress;
import io.espalier.core.running.ResourceUsage;
import io.espalier.core.running.StopReason;
import io.espalier.core.running.TaskResult;
import io.espalier.core.running.Throttle;
import io.espalier.core.status.Attempt;
import io.espalier.core.status.ProgressParser;
import io.espalier.core.text.ShortText;
import io.espalier.worker.cgroup.TaskGroup;
import io.espalier.worker.process.output.ReportedProgress;
import io.espalier.worker.process.spawn.ProcessBackend;
import io.espalier.worker.resources.TaskUsageReader;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** One task of a batch; confined to the supervisor's thread. */
final class BatchMember implements SupervisedTask {
  private final LaunchSpec launch;
  private final JournalKey key;
  private final RunningBatch batch;
  private final TaskHost host;
  private final ReportedProgress reported = new ReportedProgress();
  private final TimeWatch times;
  private boolean begun;
  private long begunMillis;
  private @Nullable String rawStatus;
  private @Nullable String lastError;
  private @Nullable KillRequest killed;
  private @Nullable StopReason stopReason;
  private Throttle throttle = Throttle.NONE;
  private boolean ended;

  BatchMember(LaunchSpec launch, RunningBatch batch, TaskHost host) {
    this.launch = launch;
    this.key = JournalKey.of(launch);
    this.batch = batch;
    this.host = host;
    this.times = new TimeWatch(host, () -> batch.process().isHeldUp(), this::stop);
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
    return batch.process().pid();
  }

  @Override
  public @Nullable TaskGroup group() {
    return batch.process().group();
  }

  /** Returns what the process uses, but only for the task that it works on. */
  @Override
  public ResourceUsage sample(TaskUsageReader reader) {
    return batch.current() == this ? batch.process().sample(reader) : ResourceUsage.UNKNOWN;
  }

  /** The process has started, which is not yet the begin of the task. */
  void started() {
    host.confirm(launch);
    times.begin(new InvocationLimits(0, 0, launch.limits().deadlineMillis()));
    if (killed != null) {
      batch.cancel(this);
    }
  }

  /** The process has said something of this task: it has begun. */
  void begin() {
    if (!begun) {
      begun = true;
      begunMillis = System.currentTimeMillis();
      times.begin(launch.limits());
      batch.begins(this);
    }
    times.sign();
  }

  /** The process has written something while it worked on this task. */
  void sign() {
    times.sign();
  }

  /** The process has written a line to its error output while it worked on this task. */
  void error(String line) {
    if (!line.isBlank()) {
      lastError = line;
    }
  }

  /** Returns whether its result is known. */
  boolean hasReported() {
    return ended || rawStatus != null;
  }

  void progress(ProgressParser.Reading reading) {
    reported.take(reading);
  }

  void tellProgress() {
    Progress progress = reported.takeProgress();
    if (progress != null && !ended) {
      host.progress(key, progress);
    }
    String problem = reported.takeProblem();
    if (problem != null) {
      host.log().event(key, "progress_refused", Json.object().put("message", problem).build());
    }
  }

  /**
   * Takes its result, which ends it, or, if it is the last task of the process, will end it
   * together with that.
   */
  void report(Json.Obj line) {
    rawStatus = status(line);
    times.sign();
    if (batch.isLast(this)) {
      batch.lastHasReported();
      return;
    }
    // Its end may be what lets the process be killed, which is after it.
    TaskResult end = key.end(kind()).withRawStatus(rawStatus);
    batch.ends(this);
    finish(end, stopReason);
  }

  /** Returns what a task alone would have written as its status line. */
  private static String status(Json.Obj line) {
    Json status = line.get("status");
    Json data = line.get("data");
    if (status instanceof Json.Str word) {
      return data == null
          ? word.value()
          : JsonWriter.compact(Json.object().put("result", word).put("data", data).build());
    }
    return String.valueOf(status);
  }

  @Override
  public void kill(KillRequest how, StopReason reason) {
    if (ended) {
      return;
    }
    if (stopReason == null) {
      stopReason = reason;
    }
    killed = how;
    batch.kill(this, how);
  }

  /** Returns how it is to be killed; null: it is not. */
  @Nullable KillRequest killed() {
    return killed;
  }

  private void stop(StopReason reason) {
    host.log()
        .event(
            key,
            "stopped",
            Json.object().put("reason", reason.name().toLowerCase(Locale.ROOT)).build());
    kill(launch.kill(), reason);
  }

  @Override
  public void extend(long millis) {
    times.extend(millis);
  }

  @Override
  public void throttle(Throttle newest) {
    throttle = newest;
    times.pause(newest.isPause());
    batch.throttle();
  }

  /** Returns how fast it is to work. */
  Throttle throttle() {
    return throttle;
  }

  /** The process could not be started. */
  void failed(TaskResult.Kind kind, String cause) {
    end(key.end(kind).withMessage(cause), "task_failed_to_start");
  }

  /**
   * The process has ended, with everything that belonged to it.
   *
   * @param used what the process has used, told by one of its tasks; null: by another
   * @param broken whether it has ended by itself before it began any of its tasks
   */
  void over(ProcessBackend.Exit how, @Nullable ResourceUsage used, boolean broken) {
    boolean started = begun || broken || (killed != null && stopReason != StopReason.SHUTDOWN);
    if (!started) {
      String why = "its batch " + TaskProcess.describe(how) + " before the task had begun";
      failed(TaskResult.Kind.NOT_STARTED, why);
      return;
    }
    StopReason reason = batch.process().stopReason(how, stopReason);
    finish(
        key.end(kind())
            .withRawStatus(rawStatus)
            .withExit(how.code(), how.signal())
            .withUsage(used, how.coreDumped(), System.currentTimeMillis())
            .withMessage(rawStatus == null ? why(how, reason) : null),
        reason);
  }

  /** Returns why it has ended without a result, where nothing else says it. */
  private @Nullable String why(ProcessBackend.Exit how, @Nullable StopReason reason) {
    if (reason != null) {
      return null;
    }
    return kind() == TaskResult.Kind.KILLED
        ? batch.killedBecauseOf(this)
        : "its batch " + TaskProcess.describe(how) + " before the task had a result";
  }

  /** Returns the kind of end: a task that was asked to end, or whose process was, is killed. */
  private TaskResult.Kind kind() {
    return killed != null || batch.process().isSignalled()
        ? TaskResult.Kind.KILLED
        : TaskResult.Kind.EXITED;
  }

  private void finish(TaskResult end, @Nullable StopReason reason) {
    TaskResult told = end.withStopReason(reason);
    String error = lastError;
    if (told.kind() == TaskResult.Kind.EXITED && reason == null && error != null) {
      told = told.withMessage(ShortText.cut(error.strip(), Attempt.MAX_MESSAGE));
    }
    if (told.endedAtMillis() == 0) {
      told = told.withEndedAtMillis(System.currentTimeMillis());
    }
    end(told, "got_status");
  }

  private void end(TaskResult how, String lastEvent) {
    ended = true;
    times.end();
    TaskResult end = how.withStartedAtMillis(begunMillis).withCounters(reported.counters());
    host.log().ended(key, lastEvent, end);
    host.ended(key, end);
  }
}
