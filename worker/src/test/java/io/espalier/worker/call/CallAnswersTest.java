package io.espalier.worker.call;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.json.Json;
import io.espalier.core.logs.LogStore;
import io.espalier.core.running.CallPoll;
import io.espalier.core.running.InvocationLimits;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.Progress;
import io.espalier.core.running.TaskResult;
import io.espalier.worker.call.SlowService.Reply;
import io.espalier.worker.process.TaskLog;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Proxy;
import java.net.ServerSocket;
import java.time.Duration;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** How the answers of a service, and missing ones, become ends. */
class CallAnswersTest extends CallExecutorFixture {
  @Test
  void aLogThatCannotBeWrittenCostsNoCallItsEnd() throws Exception {
    service.answers("/run/n1", Reply.of(200, ""));
    calls.close();
    LogStore full =
        (LogStore)
            Proxy.newProxyInstance(
                LogStore.class.getClassLoader(),
                new Class<?>[] {LogStore.class},
                (proxy, method, arguments) -> {
                  throw new IllegalStateException("no space left");
                });
    calls = new CallExecutor(new TaskLog(full, "here", end -> Json.Obj.EMPTY));
    calls.open(this);
    assertThat(run(launch(options())).rawStatus()).isEqualTo("done");
  }

  @Test
  void eachPollIsTold() throws Exception {
    LaunchSpec lasts = launch(polling());
    service.answers("/run/n1", Reply.of(202, ""));
    service.answers(asking(lasts), Reply.of(202, ""), Reply.of(500, "hiccup"), Reply.of(200, ""));
    assertThat(run(lasts).rawStatus()).isEqualTo("done");
    assertThat(polls).extracting(CallPoll::answer).containsExactly("running", "HTTP 500: hiccup");
    assertThat(polls).allMatch(poll -> poll.nextMillis() > poll.atMillis());
  }

  @Test
  void aServiceMaySayUntilWhenToWait() throws Exception {
    String date =
        DateTimeFormatter.RFC_1123_DATE_TIME.format(
            ZonedDateTime.now(ZoneOffset.UTC).plusSeconds(40));
    service.answers("/run/n1", new Reply(503, Map.of("Retry-After", date), ""));
    assertThat(run(launch(options())).retryAfterMillis()).isBetween(20_000L, 40_000L);
    service.answers("/run/n2", new Reply(503, Map.of("Retry-After", "in a moment"), ""));
    assertThat(run(launch(options(), "n2")).retryAfterMillis()).isEqualTo(1_000);
  }

  @Test
  void anAnswerMayBeAStatus() throws Exception {
    service.answers(
        "/run/n1", Reply.of(200, "{\n\"result\": \"incomplete\",\n\"data\": {\"rows\": 3}}\n"));
    assertThat(run(launch(options())).rawStatus())
        .isEqualTo("{\"result\":\"incomplete\",\"data\":{\"rows\":3}}");
  }

  @ParameterizedTest
  @CsvSource({
    "500, CALL_FAILED, HTTP 500: no",
    "400, CALL_FAILED, HTTP 400: no",
    "404, CALL_FAILED, HTTP 404: no",
    "301, CALL_FAILED, 'HTTP 301, which points to http://example.com/: redirections are not"
        + " followed'",
    "429, NOT_STARTED, HTTP 429: no",
    "503, NOT_STARTED, HTTP 503: no"
  })
  void aRefusalIsReportedAsItIs(int status, TaskResult.Kind kind, String message) throws Exception {
    service.answers(
        "/run/n1",
        new Reply(
            status, Map.of("Location", "http://example.com/", "Retry-After", "9"), "no\nreally"));
    TaskResult end = run(launch(options()));
    assertThat(end.kind()).isEqualTo(kind);
    assertThat(end.message()).isEqualTo(message);
    assertThat(end.retryAfterMillis()).isEqualTo(kind == TaskResult.Kind.NOT_STARTED ? 9_000 : 0);
    assertThat(service.requests("/run/n1")).hasSize(1);
  }

  @ParameterizedTest
  @ValueSource(strings = {"{garbage", "{\"result\": \"done\"", "{\"a\": 1} {\"b\": 2}"})
  void garbageIsNotDone(String body) throws Exception {
    service.answers("/run/n1", Reply.of(200, body));
    TaskResult end = run(launch(options()));
    assertThat(end.kind()).isEqualTo(TaskResult.Kind.CALL_FAILED);
    assertThat(end.message()).startsWith("the answer is no JSON object");
  }

  @Test
  void whatIsTooLongIsNotReadToItsEnd() throws Exception {
    service.answers("/run/n1", Reply.of(200, "{\"data\": \"" + "x".repeat(10_000_000) + "\"}"));
    assertThat(run(launch(options())).message()).contains("more than 65536 bytes");
    service.answers("/run/n2", Reply.of(200, "x".repeat(10_000_000)));
    LaunchSpec text = launch(options(), "n2");
    assertThat(run(text).rawStatus()).isEqualTo("done");
  }

  @Test
  void aBodyThatStallsIsNotWaitedForForEver() throws Exception {
    try (ServerSocket stalling = new ServerSocket(0)) {
      Thread answers =
          new Thread(
              () -> {
                try {
                  var connection = stalling.accept();
                  connection
                      .getOutputStream()
                      .write("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx".getBytes(UTF_8));
                } catch (IOException e) {
                  throw new UncheckedIOException(e);
                }
              });
      answers.start();
      Json.Builder options =
          Json.object()
              .put("url", "http://127.0.0.1:" + stalling.getLocalPort() + "/")
              .put("timeout_sec", Json.of(0.3));
      TaskResult end =
          run(launch(options, "n1", Duration.ofMillis(50), InvocationLimits.NONE, false));
      assertThat(end.kind()).isEqualTo(TaskResult.Kind.OUTCOME_UNKNOWN);
      assertThat(end.message()).isEqualTo("no answer in time");
      assertThat(polls)
          .as("it cannot be polled, so nothing else tells that it was in doubt")
          .singleElement()
          .matches(poll -> poll.answer().equals("no answer in time") && poll.nextMillis() == 0);
      answers.join();
    }
  }

  @Test
  void nobodyListens() throws Exception {
    int port;
    try (ServerSocket free = new ServerSocket(0)) {
      port = free.getLocalPort();
    }
    TaskResult end = run(launch(Json.object().put("url", "http://127.0.0.1:" + port + "/run")));
    assertThat(end.kind()).isEqualTo(TaskResult.Kind.START_FAILED);
    assertThat(end.message()).isEqualTo("cannot connect to 127.0.0.1:" + port);
  }

  @Test
  void aServiceMayGoOnAfterItsAnswer() throws Exception {
    LaunchSpec launch = launch(polling());
    service.answers("/run/n1", Reply.of(202, "{\"progress\": {\"done\": 1}}"));
    service.answers(
        asking(launch),
        Reply.of(202, "{\"progress\": {\"done\": 2, \"total\": 9}}"),
        Reply.of(500, "hiccup"),
        Reply.of(202, "garbage"),
        Reply.of(200, "{\"result\": \"done\"}"));
    assertThat(run(launch).rawStatus()).isEqualTo("{\"result\":\"done\"}");
    assertThat(progress).extracting(Progress::done).containsExactly(1L, 2L);
    assertThat(service.requests("/run/n1")).hasSize(1);
    assertThat(service.requests(asking(launch))).allMatch(seen -> seen.method().equals("GET"));
  }

  @Test
  void aLostAnswerIsFoundOutByAsking() throws Exception {
    LaunchSpec launch = launch(polling());
    service.answers("/run/n1", Reply.of(0, ""));
    service.answers(asking(launch), Reply.of(404, ""), Reply.of(200, ""));
    assertThat(run(launch).rawStatus()).isEqualTo("done");
    assertThat(service.requests("/run/n1")).as("sent once").hasSize(1);
  }

  @Test
  void aLostAnswerThatNobodyCanFindOutIsUnknown() throws Exception {
    service.answers("/run/n1", Reply.of(0, ""));
    TaskResult end =
        run(launch(options(), "n1", Duration.ofMillis(50), InvocationLimits.NONE, false));
    assertThat(end.kind()).isEqualTo(TaskResult.Kind.OUTCOME_UNKNOWN);
    assertThat(service.requests("/run/n1")).as("sent once").hasSize(1);
    TaskResult again =
        run(launch(options(), "n1", Duration.ofMinutes(1), InvocationLimits.NONE, true));
    assertThat(again.kind()).isEqualTo(TaskResult.Kind.CALL_FAILED);
  }

  @Test
  void aServiceThatNeverAnswersIsNotWaitedForForEver() throws Exception {
    LaunchSpec launch = launch(polling().put("timeout_sec", Json.of(0.2)));
    service.answers(asking(launch), Reply.of(200, ""));
    assertThat(run(launch).kind()).isEqualTo(TaskResult.Kind.EXITED);
  }
}
