package io.espalier.worker.call;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.espalier.core.json.Json;
import io.espalier.core.running.InvocationLimits;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.StopReason;
import io.espalier.core.running.TaskResult;
import io.espalier.worker.call.SlowService.Reply;
import io.espalier.worker.process.TaskLog;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/**
 * How calls are confirmed, cancelled, let go and adopted, and what the lease keeps from being sent.
 */
class CallCancellationTest extends CallExecutorFixture {
  @Test
  void theStartOfACallIsConfirmedWhenItsServiceTakesIt() throws Exception {
    calls.confirmStarts(true);
    service.answers("/run/n1", Reply.of(429, ""));
    assertThat(run(launch(options())).kind()).isEqualTo(TaskResult.Kind.NOT_STARTED);
    assertThat(started).as("refused").isEmpty();
    LaunchSpec lasts = launch(polling(), "n2");
    service.answers("/run/n2", Reply.of(202, ""));
    service.answers(asking(lasts), Reply.of(202, ""), Reply.of(200, ""));
    assertThat(run(lasts).rawStatus()).isEqualTo("done");
    assertThat(started).containsExactly("n2");
  }

  @Test
  void aLeaseThatEndedMeanwhileSendsNothing() throws Exception {
    calls.lease(0, 0);
    TaskResult end = run(launch(options()));
    assertThat(end.kind()).isEqualTo(TaskResult.Kind.NOT_STARTED);
    assertThat(service.requests("/run/n1")).isEmpty();
  }

  @Test
  void aCallWhoseEndIsKnownIsLetGoAndNotCancelled() throws Exception {
    LaunchSpec launch = launch(polling());
    service.answers("/run/n1", Reply.of(202, ""));
    calls.start(launch);
    assertThat(calls.letGo("job", "n1", launch.invocation(), CallExecutor.REPORTED)).isTrue();
    assertThat(end().kind()).isEqualTo(TaskResult.Kind.LOST);
    assertThat(calls.letGo("job", "n1", launch.invocation(), CallExecutor.REPORTED)).isFalse();
    assertThat(service.requests(asking(launch))).noneMatch(seen -> seen.method().equals("DELETE"));
  }

  @Test
  void aKillIsACancellation() throws Exception {
    LaunchSpec launch = launch(polling());
    service.answers("/run/n1", Reply.of(202, ""));
    service.answers(asking(launch), Reply.of(202, ""));
    calls.start(launch);
    await().atMost(PATIENCE).until(() -> service.requests(asking(launch)).size() > 2);
    assertThat(calls.kill("job", "n1", launch.invocation())).isTrue();
    await()
        .atMost(PATIENCE)
        .until(
            () ->
                service.requests(asking(launch)).stream()
                    .anyMatch(seen -> seen.method().equals("DELETE")));
    assertThat(ends).as("it still runs").isEmpty();
    service.answers(asking(launch), Reply.of(200, "{\"result\": \"error_backoff\"}"));
    assertThat(end().rawStatus()).contains("error_backoff");
    assertThat(calls.kill("job", "n1", launch.invocation())).isFalse();
  }

  @Test
  void aTimeLimitIsACancellation() throws Exception {
    LaunchSpec launch =
        launch(polling(), "n1", Duration.ofMinutes(1), new InvocationLimits(50, 0, 0), false);
    service.answers("/run/n1", Reply.of(202, ""));
    service.answers(asking(launch), Reply.of(202, ""));
    calls.start(launch);
    await()
        .atMost(PATIENCE)
        .until(
            () ->
                service.requests(asking(launch)).stream()
                    .anyMatch(seen -> seen.method().equals("DELETE")));
    service.answers(asking(launch), Reply.of(204, ""));
    assertThat(end().stopReason()).isEqualTo(StopReason.TIMEOUT);
  }

  @Test
  void whatASuccessorAdoptsIsAskedAboutAndNotSent() throws Exception {
    LaunchSpec launch = launch(polling());
    service.answers("/run/n1", Reply.of(202, ""));
    service.answers(asking(launch), Reply.of(202, ""));
    calls.start(launch);
    await().atMost(PATIENCE).until(() -> !service.requests(asking(launch)).isEmpty());
    calls.close();
    assertThat(end().kind()).isEqualTo(TaskResult.Kind.LOST);
    try (CallExecutor successor =
        new CallExecutor(new TaskLog(logs, "there", end -> Json.Obj.EMPTY))) {
      successor.open(this);
      successor.adopt(launch);
      service.answers(asking(launch), Reply.of(200, "{\"result\": \"done\"}"));
      assertThat(end().kind()).isEqualTo(TaskResult.Kind.EXITED);
    }
    assertThat(service.requests("/run/n1")).as("sent once").hasSize(1);
  }

  @Test
  void nothingIsSentAfterTheLease() throws Exception {
    calls.lease(Long.MAX_VALUE / 100, System.currentTimeMillis() - 1);
    assertThat(run(launch(options())).kind()).isEqualTo(TaskResult.Kind.NOT_STARTED);
    assertThat(service.requests("/run/n1")).isEmpty();
  }
}
