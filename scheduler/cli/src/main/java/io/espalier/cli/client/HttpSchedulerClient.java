package io.espalier.cli.client;

import io.espalier.cli.term.JsonFields;
import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import io.espalier.core.problem.Result;
import io.espalier.json.JsonReader;
import io.espalier.server.CommandException;
import io.espalier.server.ExitCode;
import io.espalier.server.security.ClientAccess;
import io.espalier.webui.v1.ApiV1;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.ConnectException;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.nio.channels.UnresolvedAddressException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/** A client for a running scheduler over HTTP. */
public final class HttpSchedulerClient implements Client {
  private static final Duration CONNECT = Duration.ofSeconds(5);
  private static final Duration ANSWER = Duration.ofSeconds(45);
  private static final int MAX_TRIES = 20;
  private static final int REDIRECT = 307;
  private static final int MAX_HOPS = 3;
  private static final Duration BETWEEN_TRIES = Duration.ofSeconds(1);

  private final URI server;
  private final ClientAccess access;
  private final HttpClient http;
  private final JsonReader reader = JsonReader.strict().withMaxBytes(JsonReader.MAX_CONFIG_BYTES);

  /**
   * @param server such as {@code http://127.0.0.1:8080}; the scheme is optional
   * @throws CommandException when it is not a URL
   */
  public HttpSchedulerClient(String server) {
    this(server, ClientAccess.none());
  }

  /**
   * @param server such as {@code https://scheduler:8080}; the scheme is optional
   * @param access the credentials and the trusted authorities
   * @throws CommandException when it is not a URL
   */
  public HttpSchedulerClient(String server, ClientAccess access) {
    this.server = parsed(server);
    this.access = access;
    // A scheduler is never behind a proxy, and HTTP/2 would only add a negotiation.
    HttpClient.Builder client =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .proxy(HttpClient.Builder.NO_PROXY)
            .connectTimeout(CONNECT)
            .followRedirects(HttpClient.Redirect.NEVER);
    this.http = access.applyTo(client).build();
  }

  @Override
  public Json.Obj call(
      String method,
      String template,
      Map<String, String> path,
      Map<String, List<String>> query,
      Json.Obj body) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(uri(template, path, query))
            .timeout(ANSWER)
            .header("Accept", "application/json");
    if (method.equals("GET")) {
      request.GET();
    } else {
      request
          .header("Content-Type", "application/json")
          .method(method, HttpRequest.BodyPublishers.ofString(JsonWriter.compact(body)));
    }
    try {
      HttpResponse<byte[]> response = sent(request, HttpResponse.BodyHandlers.ofByteArray());
      Json.Obj answer = object(response.body());
      if (response.statusCode() >= 300) {
        throw refused(response.statusCode(), answer);
      }
      return answer;
    } catch (IOException | UnresolvedAddressException e) {
      throw unreachable(e);
    } catch (InterruptedException e) {
      throw interrupted(e);
    }
  }

  /** Sends a request. A standby names the leader, and the request is then sent there. */
  private <T> HttpResponse<T> sent(HttpRequest.Builder request, HttpResponse.BodyHandler<T> body)
      throws IOException, InterruptedException {
    access.authorization().ifPresent(value -> request.header("Authorization", value));
    HttpResponse<T> response = http.send(request.build(), body);
    for (int hops = 0; response.statusCode() == REDIRECT && hops < MAX_HOPS; hops++) {
      URI there = there(response);
      if (there == null) {
        return response;
      }
      response = http.send(request.uri(there).build(), body);
    }
    return response;
  }

  /**
   * Returns the target of the redirection; null when following it would send a token meant for TLS
   * unencrypted.
   */
  private static @Nullable URI there(HttpResponse<?> response) {
    try {
      URI there = response.uri().resolve(response.headers().firstValue("Location").orElse(""));
      boolean tls = "https".equals(there.getScheme());
      return there.getHost() != null
              && (tls
                  || ("http".equals(there.getScheme())
                      && "http".equals(response.uri().getScheme())))
          ? there
          : null;
    } catch (IllegalArgumentException e) {
      return null;
    }
  }

  @Override
  public void follow(Predicate<Json.Obj> onEvent) {
    follow(ApiV1.EVENTS, Map.of(), onEvent);
  }

  @Override
  public void followLogs(Map<String, List<String>> query, Predicate<Json.Obj> onLine) {
    follow(ApiV1.LOGS, query, onLine);
  }

  private void follow(
      String template, Map<String, List<String>> query, Predicate<Json.Obj> onEvent) {
    URI stream = uri(template, Map.of(), query);
    String last = "";
    boolean everOpened = false;
    int failures = 0;
    while (true) {
      EventReader events = new EventReader(onEvent, last);
      try {
        if (!listen(stream, events)) {
          return;
        }
        failures = 0;
      } catch (IOException | UnresolvedAddressException e) {
        failures = events.opened() ? 1 : failures + 1;
        // A failure from the start is a wrong address; a later one is a scheduler that restarts.
        if (failures > MAX_TRIES || !(everOpened || events.opened())) {
          throw unreachable(e);
        }
      } catch (InterruptedException e) {
        throw interrupted(e);
      }
      everOpened |= events.opened();
      last = events.last();
      pause();
    }
  }

  /** Returns true when the stream should be reopened after the connection has ended. */
  private boolean listen(URI stream, EventReader events) throws IOException, InterruptedException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(stream).header("Accept", "text/event-stream");
    if (!events.last().isEmpty()) {
      request.header("Last-Event-ID", events.last());
    }
    HttpResponse<InputStream> response = sent(request, HttpResponse.BodyHandlers.ofInputStream());
    try (InputStream in = response.body()) {
      if (response.statusCode() >= 300) {
        throw refused(response.statusCode(), object(in.readAllBytes()));
      }
      events.open();
      BufferedReader lines = new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8));
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        if (!events.take(line)) {
          return false;
        }
      }
      return true;
    }
  }

  private static void pause() {
    try {
      Thread.sleep(BETWEEN_TRIES.toMillis());
    } catch (InterruptedException e) {
      throw interrupted(e);
    }
  }

  @Override
  public void close() {
    // On Java 17, the JDK's client ends with its last reference.
  }

  private URI uri(String template, Map<String, String> path, Map<String, List<String>> query) {
    String resolved = template;
    List<String> parameters = new ArrayList<>();
    for (Map.Entry<String, String> part : path.entrySet()) {
      // A path cannot contain the segments "." and ".."; only nodes have such names.
      boolean odd = part.getValue().equals(".") || part.getValue().equals("..");
      resolved = resolved.replace("{" + part.getKey() + "}", odd ? "-" : encoded(part.getValue()));
      if (odd) {
        parameters.add(part.getKey() + "=" + part.getValue());
      }
    }
    query.forEach(
        (name, values) -> values.forEach(v -> parameters.add(encoded(name) + "=" + encoded(v))));
    return URI.create(
        server + resolved + (parameters.isEmpty() ? "" : "?" + String.join("&", parameters)));
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
  }

  private Json.Obj object(byte[] body) {
    Result<Json> read = reader.read(body);
    if (!read.hasErrors() && read.value() instanceof Json.Obj object) {
      return object;
    }
    throw new CommandException(
        ExitCode.UNREACHABLE, "what answers at " + server + " is not an Espalier scheduler");
  }

  private CommandException refused(int status, Json.Obj problem) {
    String detail = JsonFields.text(problem, "detail");
    if (status == 401) {
      detail =
          access.authorization().isPresent()
              ? "the scheduler at " + server + " does not take the token: " + detail
              : "the scheduler at " + server + " wants to know who you are: give --token-file";
    }
    boolean usage = status == 400 || status == 401 || status == 403;
    return new CommandException(
        usage ? ExitCode.USAGE : ExitCode.FAILED,
        detail.isEmpty() ? server + " answered " + status : detail);
  }

  private CommandException unreachable(Exception cause) {
    String why =
        cause instanceof HttpTimeoutException
            ? "no answer in time"
            : cause instanceof ConnectException
                ? "connection refused"
                : cause instanceof UnresolvedAddressException
                    ? "no such host"
                    : String.valueOf(cause.getMessage());
    if (hasCause(cause, SSLException.class)) {
      why = "TLS failed: " + cause.getMessage() + "; see --tls-ca";
    } else if (cause instanceof IOException
        && "http".equals(server.getScheme())
        && String.valueOf(cause.getMessage()).contains("no bytes")) {
      why = "it closed the connection; does it want https?";
    }
    if (hasCause(cause, UnresolvedAddressException.class)) {
      why = "no such host";
    }
    return new CommandException(
        ExitCode.UNREACHABLE,
        "cannot reach the scheduler at " + server + ": " + why + " (see --server)",
        cause);
  }

  private static boolean hasCause(Throwable failure, Class<? extends Throwable> kind) {
    for (Throwable t = failure; t != null; t = t.getCause()) {
      if (kind.isInstance(t)) {
        return true;
      }
    }
    return false;
  }

  private static CommandException interrupted(InterruptedException cause) {
    Thread.currentThread().interrupt();
    return new CommandException(ExitCode.FAILED, "interrupted", cause);
  }

  private static URI parsed(String server) {
    String full = server.contains("://") ? server : "http://" + server;
    String bare = full.endsWith("/") ? full.substring(0, full.length() - 1) : full;
    try {
      URI uri = new URI(bare);
      boolean http = "http".equals(uri.getScheme()) || "https".equals(uri.getScheme());
      if (http && uri.getHost() != null && uri.getQuery() == null && uri.getUserInfo() == null) {
        return uri;
      }
    } catch (URISyntaxException e) {
      // Reported below.
    }
    throw new CommandException(
        ExitCode.USAGE, "\"" + server + "\" is not the URL of a server, such as http://host:8080");
  }

  /** Parses server-sent events line by line. */
  private final class EventReader {
    private final Predicate<Json.Obj> onEvent;
    private final StringBuilder data = new StringBuilder();
    private String last;
    private boolean opened;

    EventReader(Predicate<Json.Obj> onEvent, String last) {
      this.onEvent = onEvent;
      this.last = last;
    }

    void open() {
      opened = true;
    }

    boolean opened() {
      return opened;
    }

    String last() {
      return last;
    }

    /** Handles a line; returns true to continue. */
    boolean take(String line) {
      if (line.startsWith("id:")) {
        last = line.substring(3).trim();
      } else if (line.startsWith("data:")) {
        data.append(line.substring(5).trim());
      } else if (line.isEmpty() && data.length() > 0) {
        Json.Obj event = object(data.toString().getBytes(StandardCharsets.UTF_8));
        data.setLength(0);
        return onEvent.test(event);
      }
      return true;
    }
  }
}
