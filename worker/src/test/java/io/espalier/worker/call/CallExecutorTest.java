package io.espalier.worker.call;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.espalier.core.config.task.CallSpec;
import io.espalier.core.json.Json;
import io.espalier.core.logs.LogLine;
import io.espalier.core.logs.LogStore;
import io.espalier.core.running.Call;
import io.espalier.core.running.CallPoll;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.InvocationLimits;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.Progress;
import io.espalier.core.running.StopReason;
import io.espalier.core.running.TaskListener;
import io.espalier.core.running.TaskResult;
import io.espalier.testkit.running.MemoryLogStore;
import io.espalier.worker.call.SlowService.Reply;
import io.espalier.worker.process.TaskLog;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Calls of a real service, which does what services do. */
class CallExecutorTest implements TaskListener {
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private final BlockingQueue<TaskResult> ends = new LinkedBlockingQueue<>();
  private final BlockingQueue<String> started = new LinkedBlockingQueue<>();
  private final BlockingQueue<Progress> progress = new LinkedBlockingQueue<>();
  private final BlockingQueue<CallPoll> polls = new LinkedBlockingQueue<>();
  private final MemoryLogStore logs = new MemoryLogStore();

  @TempDir
  @SuppressWarnings("NullAway.Init")
  Path directory;

  @SuppressWarnings("NullAway.Init")
  private SlowService service;

  @SuppressWarnings("NullAway.Init")
  private CallExecutor calls;

  private long sequence;

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

  private Json.Builder options() {
    return Json.object().put("url", service.url() + "/run/{node}");
  }

  private Json.Builder polling() {
    Json.Obj poll =
        Json.object()
            .put("url", service.url() + "/ask/{invocation}")
            .put("every_sec", Json.of(0.01))
            .put("up_to_sec", Json.of(0.02))
            .build();
    Json.Obj cancel = Json.object().put("url", service.url() + "/ask/{invocation}").build();
    return options().put("poll", poll).put("cancel", cancel);
  }

  private LaunchSpec launch(Json.Builder options) {
    return launch(options, "n1", Duration.ofMinutes(1), InvocationLimits.NONE, false);
  }

  private LaunchSpec launch(
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

  private static Call call(LaunchSpec launch) {
    return Objects.requireNonNull(launch.call(), "a process");
  }

  private String asking(LaunchSpec launch) {
    return "/ask/" + call(launch).name(CallSpec.INVOCATION);
  }

  private TaskResult end() throws InterruptedException {
    TaskResult end = ends.poll(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
    return Objects.requireNonNull(end, "no end");
  }

  private TaskResult run(LaunchSpec launch) throws InterruptedException {
    calls.start(launch);
    TaskResult end = end();
    assertThat(end.invocation()).isEqualTo(launch.invocation());
    assertThat(calls.count()).isZero();
    return end;
  }

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
    assertThat(
            run(launch(options(), "n2", Duration.ofMinutes(1), InvocationLimits.NONE, false))
                .retryAfterMillis())
        .isEqualTo(1_000);
  }

  @Test
  void theStartOfACallIsConfirmedWhenItsServiceTakesIt() throws Exception {
    calls.confirmStarts(true);
    service.answers("/run/n1", Reply.of(429, ""));
    assertThat(run(launch(options())).kind()).isEqualTo(TaskResult.Kind.NOT_STARTED);
    assertThat(started).as("refused").isEmpty();
    LaunchSpec lasts = launch(polling(), "n2", Duration.ofMinutes(1), InvocationLimits.NONE, false);
    service.answers("/run/n2", Reply.of(202, ""));
    service.answers(asking(lasts), Reply.of(202, ""), Reply.of(200, ""));
    assertThat(run(lasts).rawStatus()).isEqualTo("done");
    assertThat(started).containsExactly("n2");
  }

  @Test
  void onlySoManyQuestionsAreUnansweredAtATime() throws Exception {
    calls.close();
    calls = new CallExecutor(new TaskLog(logs, "here", end -> Json.Obj.EMPTY), 2, 2);
    calls.open(this);
    List<LaunchSpec> launches = new ArrayList<>();
    for (int i = 0; i < 7; i++) {
      launches.add(launch(polling(), "n" + i, Duration.ofMinutes(1), InvocationLimits.NONE, false));
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
    calls.close();
    calls = new CallExecutor(new TaskLog(logs, "here", end -> Json.Obj.EMPTY), 2, 2);
    calls.open(this);
    List<LaunchSpec> launches = new ArrayList<>();
    for (int i = 0; i < 7; i++) {
      launches.add(launch(polling(), "n" + i, Duration.ofMinutes(1), InvocationLimits.NONE, false));
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
    calls.close();
    calls = new CallExecutor(new TaskLog(logs, "here", end -> Json.Obj.EMPTY), 1, 1);
    calls.open(this);
    LaunchSpec sent = launch(polling(), "n0", Duration.ofMinutes(1), InvocationLimits.NONE, false);
    LaunchSpec waits = launch(polling(), "n1", Duration.ofMinutes(1), InvocationLimits.NONE, false);
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
      hanging.add(
          launch(polling(), "hangs" + i, Duration.ofMinutes(1), InvocationLimits.NONE, false));
    }
    calls.close();
    calls = new CallExecutor(new TaskLog(logs, "here", end -> Json.Obj.EMPTY), 3, 5);
    calls.open(this);
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
        calls.start(launch(options, "n" + i, Duration.ofMinutes(1), InvocationLimits.NONE, false));
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
    calls.close();
    calls = new CallExecutor(new TaskLog(logs, "here", end -> Json.Obj.EMPTY), 1, 1);
    calls.open(this);
    for (int i = 0; i < 3; i++) {
      calls.start(launch(polling(), "n" + i, Duration.ofMinutes(1), InvocationLimits.NONE, false));
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

  @Test
  void aLeaseThatEndedMeanwhileSendsNothing() throws Exception {
    calls.lease(0, 0);
    TaskResult end = run(launch(options()));
    assertThat(end.kind()).isEqualTo(TaskResult.Kind.NOT_STARTED);
    assertThat(service.requests("/run/n1")).isEmpty();
  }

  @Test
  void theServiceIsToldWhereItMayReportTheEnd() throws Exception {
    service.answers("/run/n1", Reply.of(200, ""));
    LaunchSpec plain = launch(options().put("body", "at {callback}"));
    CallSpec spec = call(plain).spec();
    CallSpec reporting =
        new CallSpec(
            spec.executor(),
            spec.options(),
            spec.idempotent(),
            spec.unknownHold(),
            Optional.of(new CallSpec.Callback("")));
    Call call =
        new Call(reporting, call(plain).names(), call(plain).limits())
            .withName(CallSpec.CALLBACK, "http://s/callback?signature=x");
    run(plain.withCall(call));
    SlowService.Seen seen = service.requests("/run/n1").get(0);
    assertThat(seen.header("Espalier-callback")).isEqualTo("http://s/callback?signature=x");
    assertThat(seen.body()).isEqualTo("at http://s/callback?signature=x");
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
  void theServiceGetsWhatItNeedsToKnowTheTask() throws Exception {
    Path secret = Files.writeString(directory.resolve("token"), "Authorization: Bearer hunter2\n");
    service.answers("/run/a%20%2Fb%C3%A9", Reply.of(200, ""));
    Json.Obj body =
        Json.object()
            .put("what", "{job} on {node}, {unknown}")
            .put("list", new Json.Arr(List.of(Json.of("{attempt}"), Json.of(3))))
            .build();
    LaunchSpec launch =
        launch(
            options()
                .put("body", body)
                .put("headers", Json.object().put("X-Team", "db {host}").build())
                .put("headers_file", secret.toString()),
            "a /b\u00e9",
            Duration.ofMinutes(1),
            InvocationLimits.NONE,
            true);
    assertThat(run(launch).rawStatus()).isEqualTo("done");
    SlowService.Seen seen = service.requests("/run/a%20%2Fb%C3%A9").get(0);
    assertThat(seen.method()).isEqualTo("POST");
    assertThat(seen.body())
        .isEqualTo("{\"what\":\"job on a /b\u00e9, {unknown}\",\"list\":[\"1\",3]}");
    assertThat(seen.header("Authorization")).isEqualTo("Bearer hunter2");
    assertThat(seen.header("Espalier-token")).isEqualTo("7.1");
    assertThat(seen.header("Espalier-job")).isEqualTo("job");
    assertThat(seen.header("Espalier-invocation"))
        .isEqualTo(call(launch).name(CallSpec.INVOCATION));
    assertThat(seen.header("Idempotency-key"))
        .isEqualTo("\"" + call(launch).name(CallSpec.KEY) + "\"");
    List<String> events = logs.texts(LogLine.Stream.STATUSES, "a /b\u00e9");
    assertThat(events).hasSize(2).allMatch(event -> !event.contains("hunter2"));
    assertThat(events.get(0)).contains("\"call\":\"POST " + service.url());
  }

  @Test
  void withoutABodyTheServiceGetsTheArgumentOfTheTask() throws Exception {
    service.answers("/run/n1", Reply.of(204, ""));
    assertThat(run(launch(options())).kind()).isEqualTo(TaskResult.Kind.EXITED);
    assertThat(service.requests("/run/n1").get(0).body()).isEqualTo("{\"id\":\"job\"}");
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
    LaunchSpec text = launch(options(), "n2", Duration.ofMinutes(1), InvocationLimits.NONE, false);
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
                  throw new java.io.UncheckedIOException(e);
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
    assertThat(end.message()).isEqualTo("cannot connect");
  }

  @ParameterizedTest
  @ValueSource(strings = {"..", ".", "evil.com/x", "a@b", "h:80", "h\r\nX: y"})
  void aNodeCannotChangeWhatIsCalled(String node) throws Exception {
    boolean path = node.equals("..") || node.equals(".");
    Json.Builder options = path ? options() : Json.object().put("url", "http://{host}:8080/x");
    TaskResult end =
        run(launch(options, node, Duration.ofMinutes(1), InvocationLimits.NONE, false));
    assertThat(end.kind()).isEqualTo(TaskResult.Kind.START_FAILED);
    assertThat(end.message())
        .contains(path ? "cannot be a part of a URL" : "not the name of a host");
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

  @Test
  void whatCannotBeUsedIsReported() throws Exception {
    Invocation invocation = new Invocation(7, ++sequence, 1_000);
    CallSpec soap = new CallSpec("soap", Json.Obj.EMPTY, false, Duration.ZERO);
    Call call =
        Call.of(
            soap,
            "job",
            0,
            invocation,
            1,
            List.of("instance"),
            List.of("n1"),
            InvocationLimits.NONE);
    assertThat(run(LaunchSpec.of("job", "n1", invocation).call(call).build()).message())
        .isEqualTo("there is no executor \"soap\" here");
    assertThat(run(launch(Json.object().put("url", "ftp://x"))).message())
        .contains("the options cannot be used");
    TaskResult secret = run(launch(options().put("headers_file", "/nowhere/key")));
    assertThat(secret.kind()).isEqualTo(TaskResult.Kind.START_FAILED);
    assertThat(secret.message()).contains("/nowhere/key");
  }
}
