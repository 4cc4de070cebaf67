package io.espalier.webui;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.json.Json;
import io.espalier.core.problem.Result;
import io.espalier.json.JsonReader;
import io.espalier.testkit.api.ApiFixture;
import io.espalier.testkit.api.FakeScheduler;
import io.espalier.webui.v1.ServerIdentity;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Objects;
import java.util.function.UnaryOperator;

/** A served fake scheduler, and a client for it that holds every answer against the contract. */
public final class Served implements AutoCloseable {
  public final FakeScheduler scheduler;
  final PrometheusMeterRegistry metrics = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
  final FakeWhatIfs whatIfs = new FakeWhatIfs();
  public final WebServer server;
  final HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  private Served(FakeScheduler scheduler, UnaryOperator<WebOptions> options) {
    this.scheduler = scheduler;
    WebOptions base =
        WebOptions.at("127.0.0.1", 0)
            .withIdentity(new ServerIdentity("1.2.3", "local", "here"))
            .withWhatIfs(whatIfs)
            .withClock(InstantSource.fixed(Instant.ofEpochMilli(ApiFixture.NOW_MILLIS)));
    this.server = WebServer.start(options.apply(base), scheduler, metrics);
  }

  public static Served standard() {
    return of(ApiFixture.standard());
  }

  static Served of(FakeScheduler scheduler) {
    return new Served(scheduler, o -> o);
  }

  public static Served with(FakeScheduler scheduler, UnaryOperator<WebOptions> options) {
    return new Served(scheduler, options);
  }

  /** The defaults with some bounds replaced. */
  static WebOptions.Limits limits(int streams, Duration answerWithin) {
    WebOptions.Limits all = WebOptions.Limits.DEFAULT;
    return new WebOptions.Limits(
        all.bodyBytes(), all.requests(), streams, all.idle(), answerWithin, all.healthyWithin());
  }

  public HttpRequest.Builder request(String path) {
    return HttpRequest.newBuilder(URI.create(server.uri() + path)).timeout(Duration.ofSeconds(30));
  }

  public HttpResponse<String> get(String path) {
    return send(request(path).header("Accept", "application/json").build());
  }

  public HttpResponse<String> post(String path, String body) {
    return send(request(path).POST(HttpRequest.BodyPublishers.ofString(body)).build());
  }

  public HttpResponse<String> send(HttpRequest request) {
    try {
      HttpResponse<String> answer = client.send(request, HttpResponse.BodyHandlers.ofString());
      assertThat(
              ContractDocument.SERVED.check(request.method(), request.uri().getRawPath(), answer))
          .as("what is not as openapi.yaml says")
          .isEmpty();
      return answer;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Sends bytes as they are, with headers that clients do not let one set; reads to the end. */
  public String raw(String text) {
    try (Socket socket = connect()) {
      socket.setSoTimeout(20_000);
      socket.getOutputStream().write(text.getBytes(StandardCharsets.UTF_8));
      socket.getOutputStream().flush();
      return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A connection of one's own. */
  Socket connect() throws IOException {
    return new Socket(InetAddress.getLoopbackAddress(), server.port());
  }

  /** A connection from a certain address of this host. */
  Socket connectFrom(String address) throws IOException {
    return new Socket(
        InetAddress.getLoopbackAddress(), server.port(), InetAddress.getByName(address), 0);
  }

  public static Json json(String text) {
    Result<Json> read = JsonReader.parse(text);
    return Objects.requireNonNull(read.value(), () -> text + ": " + read.problems());
  }

  public static Json.Obj object(HttpResponse<String> response) {
    return (Json.Obj) json(response.body());
  }

  /** Returns what is at a path, which must be there. */
  public Json.Obj read(String path) {
    HttpResponse<String> response = get(path);
    assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
    return object(response);
  }

  /** Returns a text of each object in a list. */
  public static List<String> texts(Json.Obj body, String list, String key) {
    return ((Json.Arr) Objects.requireNonNull(body.get(list)))
        .items().stream().map(item -> text((Json.Obj) item, key)).toList();
  }

  public static String text(Json.Obj body, String key) {
    return ((Json.Str) Objects.requireNonNull(body.get(key), key)).value();
  }

  @Override
  public void close() {
    server.close();
  }
}
