package io.espalier.server.app.loop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.espalier.core.api.Callback;
import io.espalier.core.api.Callback.Outcome;
import io.espalier.core.api.Query;
import io.espalier.core.api.SchedulerApi;
import io.espalier.core.api.view.TaskView;
import io.espalier.core.call.CallbackSigner;
import io.espalier.core.config.Partition;
import io.espalier.core.config.task.CallSpec;
import io.espalier.core.json.Json;
import io.espalier.core.running.Call;
import io.espalier.core.running.InvocationLimits;
import io.espalier.core.status.store.TaskHistory;
import io.espalier.json.JsonReader;
import io.espalier.server.app.SchedulerProcess;
import io.espalier.server.app.options.DataDirectoryOwner;
import io.espalier.server.app.options.ProcessOptions;
import io.espalier.server.app.options.RunnerOptions;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Callbacks to a real scheduler, with the signatures that it gave to a real service
 * (docs/calls.md#callbacks).
 */
@Timeout(120)
class LoopSchedulerApiTest {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final String DONE = "{\"result\": \"done\"}";
  private static final String FAILED = "{\"result\": \"failed\"}";
  private static final String AGAIN = "{\"result\": \"error_backoff\"}";

  /** The callbacks that the service got, in the order of its requests. */
  private final List<Callback> given = new CopyOnWriteArrayList<>();

  @TempDir
  @SuppressWarnings("NullAway.Init")
  Path directory;

  @SuppressWarnings("NullAway.Init")
  private HttpServer service;

  private @Nullable SchedulerProcess scheduler;

  @BeforeEach
  void open() throws Exception {
    service = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 50);
    service.createContext("/", this::goesOn);
    service.start();
    Files.writeString(
        directory.resolve("site.json"),
        """
        {"bistro_settings": {"nodes": {"levels": ["host"],
           "node_sources": [{"source": "manual", "prefs": {"h1": [], "h2": []}}]},
           "resources": {}, "backoff": [1, "repeat"]},
         "bistro_job->j": {"owner": "o", "call": {
           "http": {"url": "http://127.0.0.1:%d/{host}"},
           "callback": {"base_url": "http://s.example:1"}}}}
        """
            .formatted(service.getAddress().getPort()));
    start();
  }

  @AfterEach
  void close() {
    stop();
    service.stop(0);
  }

  private void start() {
    ProcessOptions plain =
        ProcessOptions.frozen(
            new DataDirectoryOwner("file://" + directory.resolve("site.json"), Partition.WHOLE),
            directory.toString(),
            directory.resolve("data"),
            "here");
    scheduler =
        SchedulerProcess.start(
            new ProcessOptions(
                plain.source(),
                plain.store(),
                new RunnerOptions(
                    RunnerOptions.Kind.LOCAL,
                    RunnerOptions.Kind.LOCAL.label(),
                    List.of(),
                    plain.runner().maxAttempts(),
                    plain.runner().measuring(),
                    plain.runner().simulation(),
                    Optional.empty()),
                plain.http(),
                plain.logs(),
                false,
                false,
                plain.paused(),
                plain.seed(),
                plain.record()));
  }

  private void stop() {
    SchedulerProcess running = scheduler;
    if (running != null) {
      running.close();
    }
  }

  private void goesOn(HttpExchange exchange) throws IOException {
    try (exchange) {
      URI url = URI.create(exchange.getRequestHeaders().getFirst("Espalier-Callback"));
      Map<String, String> query = new LinkedHashMap<>();
      for (String pair : url.getQuery().split("&", -1)) {
        query.put(pair.substring(0, pair.indexOf('=')), pair.substring(pair.indexOf('=') + 1));
      }
      given.add(
          new Callback(
              query.getOrDefault("job", ""),
              query.getOrDefault("node", ""),
              url.getPath().substring(CallbackSigner.PATH.length()),
              query.getOrDefault("signature", ""),
              Json.Obj.EMPTY));
      exchange.sendResponseHeaders(202, -1);
    }
  }

  /** Waits for the callback of an attempt of a task, counted from 1. */
  private Callback given(String node, int attempt) {
    await().atMost(PATIENCE).until(() -> of(node).size() >= attempt);
    return of(node).get(attempt - 1);
  }

  private List<Callback> of(String node) {
    return given.stream().filter(each -> each.node().equals(node)).toList();
  }

  private SchedulerProcess scheduler() {
    return Objects.requireNonNull(scheduler);
  }

  private Outcome report(Callback callback, String said) throws InterruptedException {
    Json.Obj body = (Json.Obj) Objects.requireNonNull(JsonReader.parse(said).value());
    return scheduler()
        .await(
            scheduler()
                .api()
                .calledBack(
                    new Callback(
                        callback.job(),
                        callback.node(),
                        callback.invocation(),
                        callback.signature(),
                        body)));
  }

  private static Callback signed(Callback callback, String signature) {
    return new Callback(
        callback.job(), callback.node(), callback.invocation(), signature, callback.said());
  }

  private TaskView task(String node) throws InterruptedException {
    return scheduler().await(scheduler().api().ask(new Query.Task("j", node)));
  }

  private TaskHistory history(String node) throws InterruptedException {
    SchedulerApi api = scheduler().api();
    return scheduler().await(api.history("j", node));
  }

  @Test
  void theRightSignatureEndsItsCallOnce() throws Exception {
    Callback right = given("h1", 1);
    assertThat(report(right, DONE)).isEqualTo(Outcome.RECORDED);
    TaskView ended = task("h1");
    TaskHistory past = history("h1");
    assertThat(ended.status()).isEqualTo("done");
    assertThat(past.attempts()).hasSize(1);

    assertThat(report(right, DONE)).isEqualTo(Outcome.KNOWN);
    assertThat(report(right, FAILED)).isEqualTo(Outcome.CONTRADICTED);
    assertThat(report(right, "{\"progress\": {\"done\": 1}}")).isEqualTo(Outcome.GONE);
    assertThat(task("h1")).as("an end is an end").isEqualTo(ended);
    assertThat(history("h1")).isEqualTo(past);
    assertThat(of("h1")).as("nothing was sent again").hasSize(1);
    assertThat(task("h2").running()).as("the other call goes on").isNotNull();
  }

  @Test
  void forgedSignaturesEndNothing() throws Exception {
    Callback right = given("h1", 1);
    String signature = right.signature();
    char other = signature.charAt(0) == 'A' ? 'B' : 'A';
    for (String forged :
        List.of(
            "",
            "x",
            other + signature.substring(1),
            signature.substring(1),
            signature + "A",
            signature.toLowerCase(Locale.ROOT),
            otherSignature(right))) {
      assertThat(report(signed(right, forged), DONE)).as(forged).isEqualTo(Outcome.FORGED);
    }
    assertThat(task("h1").running()).isNotNull();
    assertThat(history("h1").attempts()).isEmpty();
    assertThat(report(right, DONE)).isEqualTo(Outcome.RECORDED);
  }

  /** The signature that a scheduler with another key gives to the call. */
  private static String otherSignature(Callback callback) {
    CallSpec spec =
        new CallSpec(
            "http",
            Json.Obj.EMPTY,
            false,
            Duration.ofMinutes(1),
            Optional.of(new CallSpec.Callback("http://s.example:1")));
    Map<String, String> names =
        Map.of(
            CallSpec.JOB, callback.job(),
            CallSpec.NODE, callback.node(),
            CallSpec.INVOCATION, callback.invocation());
    String url =
        new CallbackSigner("another key")
            .signed(new Call(spec, names, InvocationLimits.NONE))
            .name(CallSpec.CALLBACK);
    return url.substring(url.lastIndexOf('=') + 1);
  }

  @Test
  void theSignatureOfAnotherCallEndsNothing() throws Exception {
    Callback first = given("h1", 1);
    Callback second = given("h2", 1);
    for (Callback foreign :
        List.of(
            signed(first, second.signature()),
            new Callback("j", "h1", second.invocation(), second.signature(), Json.Obj.EMPTY),
            new Callback("j", "h2", first.invocation(), first.signature(), Json.Obj.EMPTY),
            new Callback("jh", "1", first.invocation(), first.signature(), Json.Obj.EMPTY))) {
      assertThat(report(foreign, DONE)).as("%s", foreign).isEqualTo(Outcome.FORGED);
    }
    assertThat(task("h1").running()).isNotNull();
    assertThat(task("h2").running()).isNotNull();
    assertThat(report(second, DONE)).isEqualTo(Outcome.RECORDED);
    assertThat(task("h1").running()).isNotNull();
  }

  @Test
  void theSignatureOfAnEarlierAttemptChangesNothing() throws Exception {
    Callback stale = given("h1", 1);
    assertThat(report(stale, AGAIN)).isEqualTo(Outcome.RECORDED);
    Callback now = given("h1", 2);
    assertThat(now.invocation()).isNotEqualTo(stale.invocation());
    TaskHistory past = history("h1");

    assertThat(report(stale, DONE)).isEqualTo(Outcome.CONTRADICTED);
    assertThat(report(stale, AGAIN)).isEqualTo(Outcome.KNOWN);
    assertThat(report(signed(now, stale.signature()), DONE)).isEqualTo(Outcome.FORGED);
    assertThat(task("h1").running()).as("the second attempt").isNotNull();
    assertThat(history("h1")).isEqualTo(past);

    assertThat(report(now, DONE)).isEqualTo(Outcome.RECORDED);
    assertThat(task("h1").status()).isEqualTo("done");
    assertThat(of("h1")).hasSize(2);
  }

  @Test
  void aSignatureIsRightForTheNextScheduler() throws Exception {
    Callback ended = given("h1", 1);
    Callback running = given("h2", 1);
    assertThat(report(ended, DONE)).isEqualTo(Outcome.RECORDED);
    stop();
    start();
    scheduler().awaitSettled();
    assertThat(report(ended, DONE)).isEqualTo(Outcome.KNOWN);
    assertThat(report(ended, FAILED)).isEqualTo(Outcome.CONTRADICTED);
    assertThat(task("h1").status()).isEqualTo("done");
    assertThat(report(signed(running, ended.signature()), DONE)).isEqualTo(Outcome.FORGED);
    assertThat(report(running, DONE)).isEqualTo(Outcome.RECORDED);
    assertThat(task("h2").status()).isEqualTo("done");
    assertThat(given).as("no call was sent again").hasSize(2);
  }
}
