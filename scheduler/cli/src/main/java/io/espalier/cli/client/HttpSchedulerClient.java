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
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.ConnectException;
import java.net.HttpRetryException;
import java.net.HttpURLConnection;
import java.net.Proxy;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URLEncoder;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Timer;
import java.util.TimerTask;
import java.util.function.Consumer;
import java.util.function.Predicate;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * A client for a running scheduler over HTTP. It uses the older client of the JDK: loading the
 * newer one takes longer than everything else that most commands do (docs/adr/0007-launcher.md).
 */
public final class HttpSchedulerClient implements Client {
  private static final int CONNECT_MILLIS = 5_000;
  private static final int ANSWER_MILLIS = 45_000;

  /**
   * The longest answer of a scheduler, and more: a job may be as long as a configuration, and a
   * page of tasks half as long.
   */
  private static final int MOST_BYTES = JsonReader.MAX_CONFIG_BYTES;

  private static final int MAX_TRIES = 20;
  private static final int REDIRECT = 307;
  private static final int MAX_HOPS = 3;
  private static final Duration BETWEEN_TRIES = Duration.ofSeconds(1);

  private final URI server;
  private final ClientAccess access;
  private final Consumer<String> remarks;
  private final Patience patience;

  /** Whether it was said that an answer takes long; once is enough for those who only look. */
  private volatile boolean remarked;

  private final JsonReader reader = JsonReader.strict().withMaxBytes(MOST_BYTES);

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
    this(server, access, remark -> {});
  }

  /**
   * @param remarks receives a line when the answer to a change takes long, or the first one to a
   *     query; called from another thread
   */
  public HttpSchedulerClient(String server, ClientAccess access, Consumer<String> remarks) {
    this(server, access, remarks, Patience.USUAL);
  }

  HttpSchedulerClient(
      String server, ClientAccess access, Consumer<String> remarks, Patience patience) {
    this.server = parsed(server);
    this.access = access;
    this.remarks = remarks;
    this.patience = patience;
  }

  /**
   * How long to wait, in milliseconds.
   *
   * @param remark for an answer before that is remarked
   * @param whole for all of an answer; honest ones begin within {@link #ANSWER_MILLIS}, and may
   *     have a long way
   * @param silence after which a stream is dead: a scheduler says every 15 s that it is alive
   */
  record Patience(int remark, int whole, int silence) {
    static final Patience USUAL = new Patience(3_000, 180_000, 60_000);
  }

  @Override
  public Json.Obj call(
      String method,
      String template,
      Map<String, String> path,
      Map<String, List<String>> query,
      Json.Obj body) {
    Request request =
        new Request(
            method,
            "application/json",
            method.equals("GET") ? null : JsonWriter.compact(body),
            "",
            ANSWER_MILLIS);
    boolean changes = !method.equals("GET");
    Remark slow = changes || !remarked ? remarkWhenSlow() : null;
    long end = endOfAnswer();
    try {
      HttpURLConnection connection = sent(request, uri(template, path, query));
      int status = connection.getResponseCode();
      if (slow != null) {
        slow.begun = true;
      }
      try (InputStream in = body(connection, status)) {
        Json.Obj answer = object(whole(in, end));
        if (status >= 300) {
          throw refused(status, answer);
        }
        return answer;
      }
    } catch (HttpRetryException e) {
      // Of a command that is refused for want of a token, the JDK drops the body.
      throw refused(e.responseCode(), Json.Obj.EMPTY);
    } catch (IOException e) {
      throw unreachable(e, changes);
    } finally {
      if (slow != null) {
        slow.over();
      }
    }
  }

  private Remark remarkWhenSlow() {
    Remark remark = new Remark();
    remark.timer.schedule(remark, patience.remark);
    return remark;
  }

  private final class Remark extends TimerTask {
    private final Timer timer = new Timer("remark", true);
    private volatile boolean begun;

    @Override
    public void run() {
      remarked = true;
      remarks.accept(
          "the scheduler at "
              + server
              + (begun ? " has not ended its answer yet" : " has not answered yet")
              + "; waiting for up to "
              + (begun ? patience.whole : ANSWER_MILLIS) / 1000
              + " s");
    }

    void over() {
      timer.cancel();
    }
  }

  private long endOfAnswer() {
    return System.nanoTime() + Duration.ofMillis(patience.whole).toNanos();
  }

  /**
   * What to send.
   *
   * @param accept the expected type of the answer
   * @param body JSON; null: none
   * @param last the id of the last event received; empty: none
   * @param patienceMillis how long to wait for any byte of the answer
   */
  private record Request(
      String method, String accept, @Nullable String body, String last, int patienceMillis) {}

  /** Sends a request. A standby names the leader, and the request is then sent there. */
  private HttpURLConnection sent(Request request, URI to) throws IOException {
    HttpURLConnection connection = send(request, to);
    for (int hops = 0; connection.getResponseCode() == REDIRECT && hops < MAX_HOPS; hops++) {
      URI there = there(to, connection.getHeaderField("Location"));
      if (there == null) {
        return connection;
      }
      connection.disconnect();
      to = there;
      connection = send(request, to);
    }
    return connection;
  }

  private HttpURLConnection send(Request request, URI to) throws IOException {
    // A scheduler is never behind a proxy.
    HttpURLConnection connection = (HttpURLConnection) to.toURL().openConnection(Proxy.NO_PROXY);
    access.applyTo(connection);
    connection.setConnectTimeout(CONNECT_MILLIS);
    connection.setReadTimeout(request.patienceMillis());
    connection.setInstanceFollowRedirects(false);
    connection.setUseCaches(false);
    connection.setRequestMethod(request.method());
    connection.setRequestProperty("Accept", request.accept());
    access
        .authorization()
        .ifPresent(value -> connection.setRequestProperty("Authorization", value));
    if (!request.last().isEmpty()) {
      connection.setRequestProperty("Last-Event-ID", request.last());
    }
    String body = request.body();
    if (body != null) {
      connection.setRequestProperty("Content-Type", "application/json");
      connection.setDoOutput(true);
      byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
      // A command whose answer was lost may have been carried out: with a known length the JDK does
      // not send it again.
      connection.setFixedLengthStreamingMode(bytes.length);
      try (OutputStream out = connection.getOutputStream()) {
        out.write(bytes);
      }
    }
    return connection;
  }

  /** Returns the body of an answer, also where it reports an error. */
  private static InputStream body(HttpURLConnection connection, int status) throws IOException {
    InputStream in = status >= 400 ? connection.getErrorStream() : connection.getInputStream();
    return in == null ? InputStream.nullInputStream() : in;
  }

  /**
   * Returns the target of the redirection; null when following it would send a token meant for TLS
   * unencrypted.
   */
  private static @Nullable URI there(URI from, @Nullable String location) {
    try {
      URI there = from.resolve(location == null ? "" : location);
      boolean tls = "https".equals(there.getScheme());
      return there.getHost() != null
              && (tls || ("http".equals(there.getScheme()) && "http".equals(from.getScheme())))
          ? there
          : null;
    } catch (IllegalArgumentException e) {
      return null;
    }
  }

  @Override
  public void follow(Map<String, List<String>> query, Predicate<Json.Obj> onEvent) {
    follow(ApiV1.EVENTS, query, onEvent);
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
      } catch (IOException e) {
        failures = events.opened() ? 1 : failures + 1;
        // A failure from the start is a wrong address; a later one is a scheduler that restarts.
        if (failures > MAX_TRIES || !(everOpened || events.opened())) {
          throw unreachable(e, false);
        }
      }
      everOpened |= events.opened();
      last = events.last();
      pause();
    }
  }

  /** Returns true when the stream should be reopened after the connection has ended. */
  private boolean listen(URI stream, EventReader events) throws IOException {
    HttpURLConnection connection =
        sent(
            new Request("GET", "text/event-stream", null, events.last(), patience.silence), stream);
    int status = connection.getResponseCode();
    try (InputStream in = body(connection, status)) {
      if (status >= 300) {
        throw refused(status, object(whole(in, endOfAnswer())));
      }
      events.open();
      BufferedReader lines = new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8));
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        if (!events.take(line)) {
          return false;
        }
      }
      return true;
    } finally {
      // Otherwise closing the stream reads on, in the hope of using the connection again.
      connection.disconnect();
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
    // Connections that are not in use end by themselves.
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

  /**
   * Reads an answer, at most {@link #MOST_BYTES}.
   *
   * @param end when the answer must have ended
   */
  private byte[] whole(InputStream in, long end) throws IOException {
    return new FilterInputStream(in) {
      private int left = MOST_BYTES;

      @Override
      public int read(byte[] into, int from, int length) throws IOException {
        if (System.nanoTime() - end > 0) {
          throw new SocketTimeoutException("the answer does not end");
        }
        int read = in.read(into, from, length);
        left -= read;
        if (left < 0) {
          throw noScheduler();
        }
        return read;
      }
    }.readAllBytes();
  }

  private Json.Obj object(byte[] body) {
    Result<Json> read = reader.read(body);
    if (!read.hasErrors() && read.value() instanceof Json.Obj object) {
      return object;
    }
    throw noScheduler();
  }

  private CommandException noScheduler() {
    return new CommandException(
        ExitCode.UNREACHABLE, "what answers at " + server + " is not an Espalier scheduler");
  }

  private CommandException refused(int status, Json.Obj problem) {
    String detail = JsonFields.text(problem, "detail");
    if (status == 401) {
      detail =
          access.authorization().isPresent()
              ? "the scheduler at "
                  + server
                  + " does not take the token"
                  + (detail.isEmpty() ? "" : ": " + detail)
              : "the scheduler at " + server + " wants to know who you are: give --token-file";
    }
    boolean usage = status == 400 || status == 401 || status == 403;
    return new CommandException(
        usage ? ExitCode.USAGE : ExitCode.FAILED,
        detail.isEmpty() ? server + " answered " + status : detail);
  }

  private CommandException unreachable(IOException cause, boolean changes) {
    String why =
        cause instanceof SocketTimeoutException
            ? changes
                ? "no answer in time; it is not known whether it does what was asked"
                : "no answer in time"
            : cause instanceof ConnectException
                ? "connection refused"
                : cause instanceof UnknownHostException
                    ? "no such host"
                    : String.valueOf(cause.getMessage());
    if (cause instanceof SSLException) {
      why = "TLS failed: " + cause.getMessage() + "; see --tls-ca";
    } else if ("http".equals(server.getScheme()) && why.contains("end of file from server")) {
      why = "it closed the connection; does it want https?";
    }
    return new CommandException(
        ExitCode.UNREACHABLE,
        "cannot reach the scheduler at " + server + ": " + why + " (see --server)",
        cause);
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
      boolean plain = uri.getQuery() == null && uri.getUserInfo() == null;
      if (http && uri.getHost() != null && uri.getPort() <= 65_535 && plain) {
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
