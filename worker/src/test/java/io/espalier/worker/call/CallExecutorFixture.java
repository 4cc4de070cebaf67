package io.espalier.worker.call;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.config.task.CallSpec;
import io.espalier.core.json.Json;
import io.espalier.core.running.Call;
import io.espalier.core.running.CallPoll;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.InvocationLimits;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.Progress;
import io.espalier.core.running.TaskListener;
import io.espalier.core.running.TaskResult;
import io.espalier.testkit.running.MemoryLogStore;
import io.espalier.worker.process.TaskLog;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** Calls of a real service, which does what services do, and what they report. */
abstract class CallExecutorFixture implements TaskListener {
  static final Duration PATIENCE = Duration.ofSeconds(30);

  final BlockingQueue<TaskResult> ends = new LinkedBlockingQueue<>();
  final BlockingQueue<String> started = new LinkedBlockingQueue<>();
  final BlockingQueue<Progress> progress = new LinkedBlockingQueue<>();
  final BlockingQueue<CallPoll> polls = new LinkedBlockingQueue<>();
  final MemoryLogStore logs = new MemoryLogStore();

  @TempDir
  @SuppressWarnings("NullAway.Init")
  Path directory;

  @SuppressWarnings("NullAway.Init")
  SlowService service;

  @SuppressWarnings("NullAway.Init")
  CallExecutor calls;

  long sequence;

  @BeforeEach
  void open() throws IOException {
    service = new SlowService();
    calls = new CallExecutor(new TaskLog(logs, "here", end -> Json.Obj.EMPTY));
    calls.open(this);
  }

  @AfterEach
  void close() {
    calls.close();
    service.close();
  }

  /** Replaces the executor by one with so few requests under way: to one service, and to all. */
  void atATime(int ofService, int ofAll) {
    calls.close();
    calls = new CallExecutor(new TaskLog(logs, "here", end -> Json.Obj.EMPTY), ofService, ofAll);
    calls.open(this);
  }

  @Override
  public void ended(TaskResult end) {
    ends.add(end);
  }

  @Override
  public void started(String job, String node, Invocation invocation) {
    started.add(node);
  }

  @Override
  public void progress(String job, String node, Invocation invocation, Progress newest) {
    if (newest.poll() == null) {
      progress.add(newest);
    } else {
      polls.add(newest.poll());
    }
  }

  Json.Builder options() {
    return Json.object().put("url", service.url() + "/run/{node}");
  }

  Json.Builder polling() {
    Json.Obj poll =
        Json.object()
            .put("url", service.url() + "/ask/{invocation}")
            .put("every_sec", Json.of(0.01))
            .put("up_to_sec", Json.of(0.02))
            .build();
    Json.Obj cancel = Json.object().put("url", service.url() + "/ask/{invocation}").build();
    return options().put("poll", poll).put("cancel", cancel);
  }

  LaunchSpec launch(Json.Builder options) {
    return launch(options, "n1");
  }

  LaunchSpec launch(Json.Builder options, String node) {
    return launch(options, node, Duration.ofMinutes(1), InvocationLimits.NONE, false);
  }

  LaunchSpec launch(
      Json.Builder options, String node, Duration hold, InvocationLimits limits, boolean again) {
    Invocation invocation = new Invocation(7, ++sequence, 1_000);
    Call call =
        Call.of(
            new CallSpec("http", options.build(), again, hold),
            "job",
            0,
            invocation,
            1,
            List.of("instance", "host"),
            List.of("i", node),
            limits);
    return LaunchSpec.of("job", node, invocation)
        .argument(Json.object().put("id", "job").build())
        .limits(limits)
        .call(call)
        .build();
  }

  static Call call(LaunchSpec launch) {
    return Objects.requireNonNull(launch.call(), "a process");
  }

  String asking(LaunchSpec launch) {
    return "/ask/" + call(launch).name(CallSpec.INVOCATION);
  }

  TaskResult end() throws InterruptedException {
    TaskResult end = ends.poll(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
    return Objects.requireNonNull(end, "no end");
  }

  TaskResult run(LaunchSpec launch) throws InterruptedException {
    calls.start(launch);
    TaskResult end = end();
    assertThat(end.invocation()).isEqualTo(launch.invocation());
    assertThat(calls.count()).isZero();
    return end;
  }
}
