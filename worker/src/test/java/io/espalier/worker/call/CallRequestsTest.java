package io.espalier.worker.call;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.config.task.CallSpec;
import io.espalier.core.json.Json;
import io.espalier.core.logs.LogLine;
import io.espalier.core.running.Call;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.InvocationLimits;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.TaskResult;
import io.espalier.worker.call.SlowService.Reply;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a call sends to a service. */
class CallRequestsTest extends CallExecutorFixture {
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

  @ParameterizedTest
  @ValueSource(strings = {"..", ".", "evil.com/x", "a@b", "h:80", "h\r\nX: y"})
  void aNodeCannotChangeWhatIsCalled(String node) throws Exception {
    boolean path = node.equals("..") || node.equals(".");
    Json.Builder options = path ? options() : Json.object().put("url", "http://{host}:8080/x");
    TaskResult end = run(launch(options, node));
    assertThat(end.kind()).isEqualTo(TaskResult.Kind.START_FAILED);
    assertThat(end.message())
        .contains(path ? "cannot be a part of a URL" : "not the name of a host");
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
