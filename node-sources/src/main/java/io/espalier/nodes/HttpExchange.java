package io.espalier.nodes;

import io.espalier.core.text.HttpHeaders;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodySubscriber;
import java.net.http.HttpTimeoutException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * An HTTP request with limits on time and size. One that reads follows a few redirects, but only to
 * HTTP or HTTPS, and never from HTTPS to HTTP; one that sends follows none. Headers go only to
 * their intended destination.
 */
public final class HttpExchange {
  private static final int MOST_REDIRECTS = 5;
  private static final int NOT_MODIFIED = 304;
  private static final int MAX_HEADERS_BYTES = 1 << 16;

  private final HttpClient client;
  private final Map<String, String> headers;
  private final Duration timeout;
  private final int maxBytes;
  private final String allowed;

  /** An answer, with the data to ask whether it has changed. */
  public static final class Answer {
    private final byte[] body;
    private final @Nullable String etag;
    private final @Nullable String lastModified;

    Answer(byte[] body, @Nullable String etag, @Nullable String lastModified) {
      this.body = body;
      this.etag = etag;
      this.lastModified = lastModified;
    }

    /** Returns the body, which the caller must not modify. */
    public byte[] body() {
      return body;
    }

    /** Returns whether the answer has an ETag, which tells it from every other one. */
    public boolean hasEtag() {
      return etag != null;
    }

    /** Returns the header {@code Last-Modified} as it was sent, or null. */
    public @Nullable String lastModified() {
      return lastModified;
    }

    /** Returns whether the server can confirm that the answer is unchanged. */
    boolean canBeConfirmed() {
      return etag != null || lastModified != null;
    }
  }

  /** The service has answered, but not with what it was asked for. */
  static final class StatusException extends IOException {
    private static final long serialVersionUID = 1L;

    private final transient byte[] body;

    StatusException(int status, byte[] body) {
      super("answered with status " + status);
      this.body = body;
    }

    /** Returns the body, which the caller must not modify. */
    byte[] body() {
      return body;
    }
  }

  /**
   * @param headers sent to the origin of the address only
   * @param timeout of the whole exchange, with its redirects
   * @param allowed what allows {@code maxBytes}, for the message about a longer body
   */
  public HttpExchange(
      HttpClient client,
      Map<String, String> headers,
      Duration timeout,
      int maxBytes,
      String allowed) {
    this.client = client;
    this.headers = Map.copyOf(headers);
    this.timeout = timeout;
    this.maxBytes = maxBytes;
    this.allowed = allowed;
  }

  /** Creates a client for exchanges; its threads end when it is no longer used. */
  public static HttpClient client(Duration timeout) {
    return HttpClient.newBuilder()
        .connectTimeout(timeout)
        .followRedirects(HttpClient.Redirect.NEVER)
        .build();
  }

  /**
   * Reads a file of {@code Name: value} lines, for headers that are secrets.
   *
   * @throws IOException with a message that is a sentence and has none of the content
   */
  public static Map<String, String> headersIn(Path file) throws IOException {
    try {
      if (Files.size(file) > MAX_HEADERS_BYTES) {
        throw new IOException("they are longer than " + MAX_HEADERS_BYTES + " bytes");
      }
      return HttpHeaders.parse(Files.readString(file));
    } catch (NoSuchFileException e) {
      throw new IOException("there is no file " + file + " of headers", e);
    } catch (IOException | IllegalArgumentException e) {
      throw new IOException("the headers in " + file + " cannot be used: " + e.getMessage(), e);
    }
  }

  /** Returns why a text is not an address that can be asked; empty if it is one. */
  public static String objection(String address) {
    try {
      URI uri = new URI(address);
      if (!isHttp(scheme(uri))) {
        return "the address must begin with http:// or https://";
      }
      if (uri.getHost() == null) {
        return "the address names no host";
      }
      if (uri.getUserInfo() != null) {
        return "a name or password does not belong into an address: write a line"
            + " \"Authorization: …\" into a file, and name it as headers_file";
      }
      return uri.getRawFragment() == null ? "" : "the address has a fragment, which is never sent";
    } catch (URISyntaxException e) {
      return "this is not an address: " + e.getReason() + " at character " + (e.getIndex() + 1);
    }
  }

  /** Returns an address without its query, which may contain secrets. */
  public static String shown(URI address) {
    int query = address.toString().indexOf('?');
    return query < 0 ? address.toString() : address.toString().substring(0, query) + "?…";
  }

  /**
   * Sends the request.
   *
   * @param known previous answer; returned when it is still valid
   * @throws StatusException when the service answers with anything but what was asked for
   * @throws IOException with a message that continues the address
   */
  public Answer get(URI address, @Nullable Answer known) throws IOException, InterruptedException {
    long deadline = System.nanoTime() + timeout.toNanos();
    URI at = address;
    for (int redirects = 0; ; redirects++) {
      boolean home = sameOrigin(at, address);
      HttpResponse<byte[]> response = send(request(at, home, known), deadline, false);
      int status = response.statusCode();
      if (status == NOT_MODIFIED && known != null && known.canBeConfirmed()) {
        return known;
      }
      if (status == 200) {
        return new Answer(
            response.body(),
            response.headers().firstValue("etag").orElse(null),
            response.headers().firstValue("last-modified").orElse(null));
      }
      if (status < 301 || status > 308 || status == NOT_MODIFIED) {
        throw new StatusException(status, response.body());
      }
      if (redirects == MOST_REDIRECTS) {
        throw new IOException("redirects more than " + MOST_REDIRECTS + " times");
      }
      at = redirected(at, response);
    }
  }

  /**
   * Sends a body, once, and returns when it was taken. Follows no redirect.
   *
   * @throws IOException with a message that continues the address, when it was not, or when that is
   *     unknown
   */
  public void post(URI address, byte[] body) throws IOException, InterruptedException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(address)
            .version(HttpClient.Version.HTTP_1_1)
            .timeout(timeout)
            .POST(HttpRequest.BodyPublishers.ofByteArray(body));
    headers.forEach(request::setHeader);
    HttpResponse<byte[]> response =
        send(request.build(), System.nanoTime() + timeout.toNanos(), true);
    int status = response.statusCode();
    if (status >= 300 && status <= 399) {
      throw new IOException(
          "answered with status " + status + ": it points elsewhere, which is not followed");
    }
    if (status < 200 || status > 299) {
      String said = new String(response.body(), StandardCharsets.UTF_8).strip();
      String line = said.lines().findFirst().orElse("").replaceAll("\\p{Cntrl}", " ");
      throw new IOException(
          "answered with status "
              + status
              + (line.isEmpty() ? "" : ": " + line.substring(0, Math.min(200, line.length()))));
    }
  }

  private static URI redirected(URI from, HttpResponse<byte[]> response) throws IOException {
    String location = response.headers().firstValue("location").orElse("");
    URI to;
    try {
      to = from.resolve(location);
    } catch (IllegalArgumentException e) {
      throw new IOException("redirects to what is no address", e);
    }
    String scheme = scheme(to);
    if (location.isEmpty() || to.getHost() == null || !isHttp(scheme)) {
      throw new IOException("redirects to something that is not http or https");
    }
    if (scheme(from).equals("https") && !scheme.equals("https")) {
      throw new IOException("redirects from https to http, which is not followed");
    }
    return to;
  }

  private static boolean isHttp(String scheme) {
    return scheme.equals("http") || scheme.equals("https");
  }

  private static String scheme(URI uri) {
    return uri.getScheme() == null ? "" : uri.getScheme().toLowerCase(Locale.ROOT);
  }

  private static boolean sameOrigin(URI one, URI other) {
    return scheme(one).equals(scheme(other))
        && one.getHost().equalsIgnoreCase(other.getHost())
        && one.getPort() == other.getPort();
  }

  private HttpRequest request(URI at, boolean home, @Nullable Answer known) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(at).timeout(timeout).header("Accept", "application/json");
    if (home) {
      headers.forEach(request::setHeader);
    }
    if (known != null && known.etag != null) {
      request.setHeader("If-None-Match", known.etag);
    }
    if (known != null && known.lastModified != null) {
      request.setHeader("If-Modified-Since", known.lastModified);
    }
    return request.build();
  }

  /**
   * @param cuts whether the end of a body that is too long does not matter
   */
  private HttpResponse<byte[]> send(HttpRequest request, long deadline, boolean cuts)
      throws IOException, InterruptedException {
    CompletableFuture<HttpResponse<byte[]>> answer =
        client.sendAsync(request, info -> new Bounded(maxBytes, allowed, cuts));
    boolean complete = false;
    try {
      long left = Math.max(0, deadline - System.nanoTime());
      HttpResponse<byte[]> response = answer.get(left, TimeUnit.NANOSECONDS);
      complete = true;
      return response;
    } catch (TimeoutException e) {
      throw late(e);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof HttpTimeoutException) {
        throw late(e);
      }
      throw new IOException("failed: " + why(e.getCause()), e);
    } finally {
      if (!complete) {
        boolean cancelled = answer.cancel(true);
        assert cancelled || answer.isDone();
      }
    }
  }

  private IOException late(Exception cause) {
    return new IOException("did not answer within " + timeout.toMillis() / 1000.0 + " s", cause);
  }

  private static String why(@Nullable Throwable cause) {
    if (cause == null) {
      return "for no known reason";
    }
    String message = cause.getMessage();
    if (cause instanceof ConnectException) {
      return "cannot connect" + (message == null ? "" : ", " + message);
    }
    return message == null ? cause.getClass().getSimpleName() : message;
  }

  /** Collects a body up to a limit. */
  private static final class Bounded implements BodySubscriber<byte[]> {
    private final CompletableFuture<byte[]> body = new CompletableFuture<>();
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private final int most;
    private final String allowed;
    private final boolean cuts;
    private Flow.@Nullable Subscription subscription;

    Bounded(int most, String allowed, boolean cuts) {
      this.most = most;
      this.allowed = allowed;
      this.cuts = cuts;
    }

    @Override
    public CompletionStage<byte[]> getBody() {
      return body;
    }

    @Override
    public void onSubscribe(Flow.Subscription fresh) {
      subscription = fresh;
      fresh.request(Long.MAX_VALUE);
    }

    @Override
    public void onNext(List<ByteBuffer> buffers) {
      for (ByteBuffer buffer : buffers) {
        if (bytes.size() + buffer.remaining() > most) {
          if (subscription != null) {
            subscription.cancel();
          }
          if (cuts) {
            onComplete();
            return;
          }
          onError(
              new IOException("the body is longer than the " + most + " bytes allowed " + allowed));
          return;
        }
        byte[] part = new byte[buffer.remaining()];
        buffer.get(part);
        bytes.writeBytes(part);
      }
    }

    @Override
    public void onError(Throwable problem) {
      body.completeExceptionally(problem);
    }

    @Override
    public void onComplete() {
      body.complete(bytes.toByteArray());
    }
  }
}
