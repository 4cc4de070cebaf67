package io.espalier.worker.call;

import io.espalier.core.call.CallAnswer;
import io.espalier.core.call.CallClient;
import io.espalier.core.config.keys.CallKeys;
import io.espalier.core.config.keys.CallTypes;
import io.espalier.core.config.task.CallSpec;
import io.espalier.core.config.task.HttpCall;
import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import io.espalier.core.problem.Causes;
import io.espalier.core.running.Call;
import io.espalier.core.text.HttpHeaders;
import io.espalier.json.JsonReader;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BiFunction;
import java.util.function.BooleanSupplier;
import java.util.regex.Matcher;
import javax.net.ssl.SSLHandshakeException;
import org.jspecify.annotations.Nullable;

/**
 * Makes calls over HTTP/1.1 with the client of the JDK (docs/calls.md): requests in flight need a
 * connection each, but no thread. Redirections are not followed.
 */
public final class HttpCalls implements CallClient {
  private static final int THREADS = 2;
  private static final Duration CONNECT = Duration.ofSeconds(10);
  private static final int QUOTED = 200;
  private static final long AGAIN_MILLIS = 1_000;
  private static final long BODY_MILLIS = 500;

  private final KnownOptions<HttpCall> options =
      new KnownOptions<>(json -> CallKeys.read(CallKeys.HTTP, json));

  private @Nullable Connections connections;

  /** What is only needed once a call is made. */
  private record Connections(
      HttpClient usual, TlsClients<HttpClient> secured, ExecutorService threads) {
    static Connections open() {
      ExecutorService threads =
          Executors.newFixedThreadPool(
              THREADS,
              task -> {
                Thread thread = new Thread(task, "http-calls");
                thread.setDaemon(true);
                return thread;
              });
      return new Connections(
          client(threads).build(),
          new TlsClients<>(context -> client(threads).sslContext(context).build()),
          threads);
    }

    private static HttpClient.Builder client(ExecutorService threads) {
      return HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .followRedirects(HttpClient.Redirect.NEVER)
          .connectTimeout(CONNECT)
          .executor(threads);
    }

    HttpClient clientOf(HttpCall http) {
      return http.tls().map(secured::of).orElse(usual);
    }
  }

  /** A request, and what sends it. */
  private record Built(HttpClient client, HttpRequest request) {}

  @Override
  public String executor() {
    return CallKeys.HTTP_EXECUTOR;
  }

  private HttpCall of(Call call) {
    return options.of(call.spec().options());
  }

  @Override
  public String description(Call call) {
    HttpCall http = of(call);
    http.poll().ifPresent(poll -> UrlTemplate.expanded(poll.url(), call));
    http.cancel().ifPresent(cancel -> UrlTemplate.expanded(cancel.url(), call));
    return http.method() + " " + UrlTemplate.expanded(http.url(), call);
  }

  @Override
  public String service(Call call) {
    return String.valueOf(UrlTemplate.expanded(of(call).url(), call).getRawAuthority());
  }

  @Override
  public boolean canPoll(Call call) {
    return of(call).poll().isPresent();
  }

  @Override
  public boolean canCancel(Call call) {
    return of(call).cancel().isPresent();
  }

  @Override
  public PollPace pace(Call call) {
    return of(call)
        .poll()
        .map(poll -> new PollPace(poll.every().toMillis(), poll.upTo().toMillis()))
        .orElse(new PollPace(AGAIN_MILLIS, 30 * AGAIN_MILLIS));
  }

  @Override
  public boolean provesAbsence(Call call) {
    return of(call).poll().stream()
        .anyMatch(poll -> poll.notFound() == HttpCall.NotFound.NEVER_STARTED);
  }

  @Override
  public CompletionStage<CallAnswer> start(Call call, Json.Obj argument, BooleanSupplier maySend) {
    HttpCall http = of(call);
    return request(call, http, http.method(), http.url(), argument, maySend, HttpCalls::started);
  }

  @Override
  public CompletionStage<CallAnswer> poll(Call call, String handle) {
    HttpCall http = of(call);
    String url = http.poll().orElseThrow().url();
    return request(call, http, "GET", url, null, () -> true, HttpCalls::polled);
  }

  @Override
  public CompletionStage<CallAnswer> cancel(Call call, String handle) {
    HttpCall http = of(call);
    HttpCall.Cancel how = http.cancel().orElseThrow();
    return request(call, http, how.method(), how.url(), null, () -> true, HttpCalls::cancelled);
  }

  private CompletionStage<CallAnswer> request(
      Call call,
      HttpCall http,
      String method,
      String url,
      Json.@Nullable Obj argument,
      BooleanSupplier maySend,
      BiFunction<HttpCall, HttpResponse<BoundedBody.Text>, CallAnswer> meaning) {
    CompletableFuture<Built> prepared;
    try {
      Connections open = connections == null ? Connections.open() : connections;
      connections = open;
      // Reading files must not hold up the thread of the calls.
      prepared =
          CompletableFuture.supplyAsync(
              () -> new Built(open.clientOf(http), built(call, http, method, url, argument)),
              open.threads());
    } catch (OutOfMemoryError e) {
      // The virtual machine reports out of memory when it gets no thread.
      return CompletableFuture.completedFuture(
          new CallAnswer.NotStarted(String.valueOf(e.getMessage()), 1));
    }
    return prepared
        .thenCompose(
            built ->
                maySend.getAsBoolean()
                    ? sent(built, http, meaning)
                    : CompletableFuture.<CallAnswer>completedFuture(
                        new CallAnswer.NotStarted("the worker may not send it any more", 1)))
        // Whatever happens once it is sent is an answer: this is what could not be sent.
        .exceptionally(failure -> new CallAnswer.NotStarted(message(Causes.of(failure)), 0));
  }

  private static CompletableFuture<CallAnswer> sent(
      Built built,
      HttpCall http,
      BiFunction<HttpCall, HttpResponse<BoundedBody.Text>, CallAnswer> meaning) {
    CompletableFuture<HttpResponse<BoundedBody.Text>> exchange =
        built.client.sendAsync(built.request, answer -> new BoundedBody());
    // The limit of the request itself ends with the headers of its answer. This one comes later,
    // because only that one tells whether there was a connection.
    return exchange
        .copy()
        .orTimeout(http.timeout().toMillis() + BODY_MILLIS, TimeUnit.MILLISECONDS)
        .handle(
            (answer, failure) -> {
              if (failure == null) {
                return meaning.apply(http, answer);
              }
              boolean unused = exchange.cancel(true);
              return failed(Causes.of(failure), built.request.uri());
            });
  }

  private static HttpRequest built(
      Call call, HttpCall http, String method, String url, Json.@Nullable Obj argument) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(UrlTemplate.expanded(url, call)).timeout(http.timeout());
    if (argument == null) {
      request.method(method, HttpRequest.BodyPublishers.noBody());
    } else {
      Json body = http.body().map(given -> filled(given, call)).orElse(argument);
      String text = body instanceof Json.Str plain ? plain.value() : JsonWriter.compact(body);
      request.method(method, HttpRequest.BodyPublishers.ofString(text));
      String callback = call.callback();
      if (!callback.isEmpty()) {
        request.setHeader("Espalier-Callback", callback);
      }
      request.setHeader(
          "Content-Type", body instanceof Json.Str ? "text/plain" : "application/json");
    }
    request.setHeader("Accept", "application/json");
    request.setHeader("User-Agent", "espalier");
    request.setHeader("Espalier-Job", call.name(CallSpec.JOB));
    request.setHeader(
        "Espalier-Node", URLEncoder.encode(call.name(CallSpec.NODE), StandardCharsets.UTF_8));
    request.setHeader("Espalier-Invocation", call.name(CallSpec.INVOCATION));
    request.setHeader("Espalier-Token", call.name(CallSpec.TOKEN));
    request.setHeader("Espalier-Attempt", call.name(CallSpec.ATTEMPT));
    if (call.spec().idempotent()) {
      request.setHeader("Idempotency-Key", "\"" + call.name(CallSpec.KEY) + "\"");
    }
    http.headers().forEach((name, value) -> request.setHeader(name, replaced(value, call)));
    http.headersFile().ifPresent(file -> secrets(file).forEach(request::setHeader));
    return request.build();
  }

  private static Map<String, String> secrets(String file) {
    try {
      return HttpHeaders.parse(Files.readString(Path.of(file)));
    } catch (IOException e) {
      throw new IllegalArgumentException("the headers cannot be read: " + e, e);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException("the headers in " + file + ": " + e.getMessage(), e);
    }
  }

  /** Replaces placeholders in all texts. */
  private static Json filled(Json json, Call call) {
    if (json instanceof Json.Str text) {
      return Json.of(replaced(text.value(), call));
    }
    if (json instanceof Json.Arr list) {
      List<Json> items = new ArrayList<>();
      list.items().forEach(item -> items.add(filled(item, call)));
      return new Json.Arr(items);
    }
    if (json instanceof Json.Obj object) {
      Json.Builder out = Json.object();
      object.members().forEach((name, value) -> out.put(name, filled(value, call)));
      return out.build();
    }
    return json;
  }

  private static String replaced(String text, Call call) {
    return CallTypes.PLACEHOLDER
        .matcher(text)
        .replaceAll(
            found ->
                Matcher.quoteReplacement(call.names().getOrDefault(found.group(1), found.group())));
  }

  // ---- what an answer means

  private static CallAnswer started(HttpCall http, HttpResponse<BoundedBody.Text> answer) {
    int status = answer.statusCode();
    if (http.isSuccess(status)) {
      return ended(answer.body());
    }
    return switch (status) {
      case HttpCall.ACCEPTED -> going(answer.body());
      case 429 -> new CallAnswer.NotStarted(told(answer), retryAfterMillis(answer));
      // Without the header it may come from a gateway that has passed the call on.
      case 503 ->
          answer.headers().firstValue("Retry-After").isPresent()
              ? new CallAnswer.NotStarted(told(answer), retryAfterMillis(answer))
              : new CallAnswer.Unknown(told(answer));
      case 408, 502, 504 -> new CallAnswer.Unknown(told(answer));
      default -> new CallAnswer.Failed(told(answer));
    };
  }

  private static CallAnswer polled(HttpCall http, HttpResponse<BoundedBody.Text> answer) {
    int status = answer.statusCode();
    if (http.isSuccess(status)) {
      return ended(answer.body());
    }
    return switch (status) {
      case HttpCall.ACCEPTED -> going(answer.body());
      case 404, 410 -> new CallAnswer.NotFound(told(answer));
      case 429, 503 -> new CallAnswer.NotStarted(told(answer), retryAfterMillis(answer));
      default -> new CallAnswer.Unknown(told(answer));
    };
  }

  private static CallAnswer cancelled(HttpCall http, HttpResponse<BoundedBody.Text> answer) {
    boolean isSuccess = answer.statusCode() >= 200 && answer.statusCode() <= 299;
    CallAnswer said =
        isSuccess && answer.statusCode() != HttpCall.ACCEPTED
            ? ended(answer.body())
            : isSuccess ? going(answer.body()) : polled(http, answer);
    if (said.equals(new CallAnswer.Ended(CallAnswer.DONE))) {
      return new CallAnswer.Cancelled();
    }
    // What cannot be understood does not say that nothing runs any more.
    return said instanceof CallAnswer.Failed unclear
        ? new CallAnswer.Unknown(unclear.message())
        : said;
  }

  /** The status line of a body; one that says nothing about a status is done. */
  private static CallAnswer ended(BoundedBody.Text body) {
    String text = body.text().strip();
    if (!text.startsWith("{")) {
      return new CallAnswer.Ended(CallAnswer.DONE);
    }
    if (!body.whole()) {
      return new CallAnswer.Failed(
          "the answer is an object of more than " + BoundedBody.MAX_BYTES + " bytes");
    }
    if (!(JsonReader.strict().read(text).value() instanceof Json.Obj object)) {
      return new CallAnswer.Failed("the answer is no JSON object: " + quoted(text));
    }
    return CallAnswer.ended(object);
  }

  private static CallAnswer going(BoundedBody.Text body) {
    String text = body.text().strip();
    if (!body.whole()
        || !text.startsWith("{")
        || !(JsonReader.strict().read(text).value() instanceof Json.Obj object)) {
      return CallAnswer.Running.PLAIN;
    }
    return new CallAnswer.Running(
        "",
        object.get("progress") instanceof Json.Obj progress ? progress : null,
        CallAnswer.counters(object));
  }

  /** How long a service asks to wait: in seconds, or until a date. */
  private static long retryAfterMillis(HttpResponse<?> answer) {
    String said = answer.headers().firstValue("Retry-After").orElse("");
    if (said.matches("[0-9]{1,6}")) {
      return Math.max(AGAIN_MILLIS, 1_000 * Long.parseLong(said));
    }
    try {
      Instant until = DateTimeFormatter.RFC_1123_DATE_TIME.parse(said, Instant::from);
      return Math.max(AGAIN_MILLIS, Duration.between(Instant.now(), until).toMillis());
    } catch (DateTimeException | ArithmeticException e) {
      return AGAIN_MILLIS;
    }
  }

  private static String told(HttpResponse<BoundedBody.Text> answer) {
    int status = answer.statusCode();
    String to = answer.headers().firstValue("Location").orElse("");
    String body = answer.body().text().strip();
    return "HTTP "
        + status
        + (status >= 300 && status <= 399 && !to.isEmpty()
            ? ", which points to " + quoted(to) + ": redirections are not followed"
            : body.isEmpty() ? "" : ": " + quoted(body));
  }

  private static String quoted(String text) {
    String line = text.lines().findFirst().orElse("").replaceAll("\\p{Cntrl}", " ");
    return line.length() > QUOTED ? line.substring(0, QUOTED) + "..." : line;
  }

  private static String message(Throwable cause) {
    return cause.getMessage() == null ? cause.getClass().getSimpleName() : cause.getMessage();
  }

  private static CallAnswer failed(Throwable cause, URI to) {
    if (cause instanceof ConnectException || cause instanceof HttpConnectTimeoutException) {
      String port = to.getPort() < 0 ? "" : ":" + to.getPort();
      String late = cause instanceof HttpConnectTimeoutException ? " in time" : "";
      return new CallAnswer.NotStarted("cannot connect to " + to.getHost() + port + late, 0);
    }
    if (cause instanceof SSLHandshakeException || TlsFailures.isOfNoTls(cause)) {
      return new CallAnswer.NotStarted(TlsFailures.message(cause).orElse(message(cause)), 0);
    }
    boolean late = cause instanceof HttpTimeoutException || cause instanceof TimeoutException;
    return new CallAnswer.Unknown(late ? "no answer in time" : "no answer: " + message(cause));
  }

  @Override
  public void close() {
    Connections open = connections;
    if (open != null) {
      // The client of the JDK ends with its last reference.
      open.threads().shutdown();
    }
  }
}
