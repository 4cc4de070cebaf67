package io.espalier.worker.call;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.espalier.core.json.Json;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.StopReason;
import io.espalier.core.running.TaskResult;
import io.espalier.worker.call.SlowService.Reply;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** How many calls and questions are sent to a service at a time. */
class SimultaneousCallsTest extends CallExecutorFixture {
  @Test
  void onlySoManyQuestionsAreUnansweredAtATime() throws Exception {
    atATime(2, 2);
    List<LaunchSpec> launches = new ArrayList<>();
    for (int i = 0; i < 7; i++) {
      launches.add(launch(polling(), "n" + i));
    }
    launches.forEach(calls::adopt);
    LaunchSpec gone = launches.get(5);
    assertThat(calls.letGo("job", "n5", gone.invocation(), "not needed")).isTrue();
    assertThat(end().kind()).isEqualTo(TaskResult.Kind.LOST);
    // All were looked at before that end, which is in their order.
    launches.forEach(each -> service.answers(asking(each), Reply.of(202, ""), Reply.of(200, "")));
    for (int i = 0; i < 6; i++) {
      assertThat(end().rawStatus()).isEqualTo("done");
    }
    assertThat(service.requests(asking(gone))).as("it was waiting").isEmpty();
    assertThat(service.mostAtATime()).isLessThanOrEqualTo(2);
    assertThat(calls.count()).isZero();
  }

  @Test
  void onlySoManyCallsAreSentAtATime() throws Exception {
    atATime(2, 2);
    List<LaunchSpec> launches = new ArrayList<>();
    for (int i = 0; i < 7; i++) {
      launches.add(launch(polling(), "n" + i));
    }
    launches.forEach(calls::start);
    // None of these was sent, so their ends need no answer of the service.
    assertThat(calls.letGo("job", "n4", launches.get(4).invocation(), "not needed")).isTrue();
    assertThat(end().kind()).isEqualTo(TaskResult.Kind.NOT_STARTED);
    assertThat(calls.kill("job", "n5", launches.get(5).invocation())).isTrue();
    TaskResult killed = end();
    assertThat(killed.kind()).isEqualTo(TaskResult.Kind.KILLED);
    assertThat(killed.stopReason()).isEqualTo(StopReason.REQUESTED);
    assertThat(killed.message()).isEqualTo("it was stopped before it was sent");
    assertThat(killed.startedAtMillis()).isZero();

    for (int i = 0; i < 7; i++) {
      service.answers("/run/n" + i, Reply.of(200, ""));
    }
    for (int i = 0; i < 5; i++) {
      assertThat(end().rawStatus()).isEqualTo("done");
    }
    assertThat(service.mostAtATime()).isLessThanOrEqualTo(2);
    for (int i = 0; i < 7; i++) {
      boolean ended = i == 4 || i == 5;
      assertThat(service.requests("/run/n" + i)).as("n%s", i).hasSize(ended ? 0 : 1);
    }
    assertThat(service.requests(asking(launches.get(5)))).as("not cancelled either").isEmpty();
    assertThat(calls.count()).isZero();
  }

  @Test
  void aCallIsRecalledUnlessItIsBeingSent() throws Exception {
    atATime(1, 1);
    LaunchSpec sent = launch(polling(), "n0");
    LaunchSpec waits = launch(polling(), "n1");
    calls.start(sent);
    await().atMost(PATIENCE).until(() -> wasSent("n0"));
    calls.start(waits);
    calls.recall("job", "n0", sent.invocation());
    calls.recall("job", "n1", waits.invocation());
    TaskResult recalled = end();
    assertThat(recalled.node()).isEqualTo("n1");
    assertThat(recalled.kind()).isEqualTo(TaskResult.Kind.NOT_STARTED);
    service.answers("/run/n0", Reply.of(200, ""));
    assertThat(end().rawStatus()).isEqualTo("done");
    assertThat(wasSent("n1")).isFalse();
    assertThat(calls.count()).isZero();
  }

  @Test
  void aServiceThatDoesNotAnswerDelaysNoOther() throws Exception {
    List<LaunchSpec> hanging = new ArrayList<>();
    for (int i = 0; i < 500; i++) {
      hanging.add(launch(polling(), "hangs" + i));
    }
    atATime(3, 5);
    hanging.forEach(calls::start);
    try (SlowService other = new SlowService()) {
      for (int i = 0; i < 20; i++) {
        other.answers("/run/n" + i, Reply.of(202, ""));
        other.answers("/ask/" + i, Reply.of(202, ""), Reply.of(200, ""));
        Json.Builder options =
            Json.object()
                .put("url", other.url() + "/run/{node}")
                .put(
                    "poll",
                    Json.object()
                        .put("url", other.url() + "/ask/" + i)
                        .put("every_sec", Json.of(0.01))
                        .build());
        calls.start(launch(options, "n" + i));
      }
      for (int i = 0; i < 20; i++) {
        TaskResult end = end();
        assertThat(end.node()).startsWith("n");
        assertThat(end.rawStatus()).isEqualTo("done");
      }
      assertThat(other.mostAtATime()).isLessThanOrEqualTo(5);
    }
    await().atMost(PATIENCE).until(() -> service.mostAtATime() == 3);
    assertThat(hanging.stream().filter(each -> wasSent(each.node()))).hasSize(3);
    assertThat(calls.count()).isEqualTo(500);
  }

  private boolean wasSent(String node) {
    return !service.requests("/run/" + node).isEmpty();
  }

  /** If they were lost, a service that never got them would be asked, and the outcome unknown. */
  @Test
  void whatWasNotSentWhenTheRunnerStopsWasNotStarted() throws Exception {
    atATime(1, 1);
    for (int i = 0; i < 3; i++) {
      calls.start(launch(polling(), "n" + i));
    }
    await().atMost(PATIENCE).until(() -> !service.requests("/run/n0").isEmpty());
    calls.close();
    Map<String, TaskResult.Kind> kinds = new HashMap<>();
    for (int i = 0; i < 3; i++) {
      TaskResult end = end();
      kinds.put(end.node(), end.kind());
    }
    assertThat(kinds)
        .containsOnly(
            Map.entry("n0", TaskResult.Kind.LOST),
            Map.entry("n1", TaskResult.Kind.NOT_STARTED),
            Map.entry("n2", TaskResult.Kind.NOT_STARTED));
    service.answers("/run/n0", Reply.of(202, ""));
    assertThat(service.requests("/run/n1")).isEmpty();
    assertThat(service.requests("/run/n2")).isEmpty();
  }
}
