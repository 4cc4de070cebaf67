package io.espalier.server.config;

import io.espalier.core.config.source.ConfigSource;
import io.espalier.core.json.Position;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Problem.Severity;
import io.espalier.json.JsonReader;
import io.espalier.nodes.HttpExchange;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A configuration that a web server delivers, {@code http://} or {@code https://}, with {@code
 * #headers_file=FILE} where the server needs a token. It can only be read. The server is asked
 * every ten seconds, conditionally if it sends an ETag or a date; in between, {@link #fetch}
 * repeats its last result.
 *
 * <p>A page of HTML and an empty answer are failures, not configurations. Thread-safe.
 */
final class HttpConfigSource implements ConfigSource {
  /** The time between two requests. */
  static final Duration PERIOD = Duration.ofSeconds(10);

  /**
   * The time for which "not modified since" is believed: a server says that also of a document that
   * is older than the one known, as after a step back.
   */
  static final Duration TRUST_IN_DATES = Duration.ofMinutes(1);

  private static final Duration TIMEOUT = Duration.ofSeconds(30);
  private static final String HEADERS = "headers_file=";

  private final URI address;
  private final @Nullable Path headersFile;
  private final LongSupplier nanoTime;
  private @Nullable HttpClient client;
  private HttpExchange.@Nullable Answer known;
  private @Nullable Text text;
  private @Nullable Unavailable failure;
  private long askedAtNanos;
  private long readAtNanos;

  private HttpConfigSource(URI address, @Nullable Path headersFile, LongSupplier nanoTime) {
    this.address = address;
    this.headersFile = headersFile;
    this.nanoTime = nanoTime;
  }

  /**
   * Creates a source from its URI. Asks nothing yet.
   *
   * @param nanoTime the monotonic clock
   * @throws IllegalArgumentException with the error in the URI
   */
  static HttpConfigSource of(String uri, LongSupplier nanoTime) {
    int hash = uri.indexOf('#');
    String address = hash < 0 ? uri : uri.substring(0, hash);
    String parameter = hash < 0 ? "" : uri.substring(hash + 1);
    String objection = HttpExchange.objection(address);
    if (!objection.isEmpty()) {
      throw new IllegalArgumentException(objection);
    }
    if (hash >= 0 && (!parameter.startsWith(HEADERS) || parameter.length() == HEADERS.length())) {
      throw new IllegalArgumentException("only #headers_file=FILE may follow the address");
    }
    Path file = hash < 0 ? null : Path.of(parameter.substring(HEADERS.length()));
    return new HttpConfigSource(URI.create(address), file, nanoTime);
  }

  @Override
  public String name() {
    return HttpExchange.shown(address);
  }

  /** Returns the working directory, because the source has no directory of its own. */
  @Override
  public String directory() {
    return Path.of("").toAbsolutePath().toString();
  }

  @Override
  public synchronized Text fetch() throws Unavailable, InterruptedException {
    long now = nanoTime.getAsLong();
    if ((text == null && failure == null) || now - askedAtNanos >= PERIOD.toNanos()) {
      try {
        text = ask();
        failure = null;
      } catch (Unavailable e) {
        failure = e;
      }
      askedAtNanos = nanoTime.getAsLong();
    }
    if (failure != null || text == null) {
      throw failure == null ? unavailable("has not answered", null) : failure;
    }
    return text;
  }

  private Text ask() throws Unavailable, InterruptedException {
    HttpExchange.Answer answer;
    try {
      if (client == null) {
        client = HttpExchange.client(TIMEOUT);
      }
      Map<String, String> headers =
          headersFile == null ? Map.of() : HttpExchange.headersIn(headersFile);
      answer =
          new HttpExchange(
                  client, headers, TIMEOUT, JsonReader.MAX_CONFIG_BYTES, "in a configuration")
              .get(address, isTrusted() ? known : null);
    } catch (IOException e) {
      throw unavailable(String.valueOf(e.getMessage()), null);
    }
    HttpExchange.Answer before = known;
    Text last = text;
    readAtNanos = answer == before ? readAtNanos : nanoTime.getAsLong();
    if (answer == before && last != null) {
      return last;
    }
    check(answer.body());
    Text newest = ConfigText.of(List.of(new Document(name(), answer.body())));
    known = answer;
    return last != null && last.hash().equals(newest.hash())
        ? last
        : new Text(newest.documents(), newest.hash(), older(before, answer), List.of());
  }

  private boolean isTrusted() {
    return known != null
        && (known.hasEtag() || nanoTime.getAsLong() - readAtNanos < TRUST_IN_DATES.toNanos());
  }

  /** Rejects what servers send in place of a document. */
  private void check(byte[] body) throws Unavailable {
    int first = 0;
    while (first < body.length && (body[first] <= ' ' && body[first] >= 0)) {
      first++;
    }
    if (first == body.length) {
      throw unavailable("answered with nothing", "is the file still being published?");
    }
    if (body[first] == '<') {
      throw unavailable(
          "answered with a page of HTML or XML, not with a configuration",
          headersFile == null
              ? "if it asks for a login, write what it needs into a file, and append"
                  + " #headers_file=FILE to the address"
              : "if it asks for a login, look at the headers in " + headersFile);
    }
  }

  /** Returns the warning about an answer whose date lies before that of the answer before it. */
  private List<Problem> older(HttpExchange.@Nullable Answer before, HttpExchange.Answer answer) {
    Instant last = before == null ? null : date(before.lastModified());
    Instant now = date(answer.lastModified());
    if (last == null || now == null || !now.isBefore(last)) {
      return List.of();
    }
    return List.of(
        problem(
            Severity.WARNING,
            "this configuration is of " + now + ", older than the one before it, of " + last,
            "if nobody went back on purpose, look for a server or cache that is behind"));
  }

  private static @Nullable Instant date(@Nullable String header) {
    try {
      return header == null
          ? null
          : Instant.from(DateTimeFormatter.RFC_1123_DATE_TIME.parse(header));
    } catch (DateTimeParseException e) {
      return null;
    }
  }

  private Unavailable unavailable(String message, @Nullable String hint) {
    return new Unavailable(problem(Severity.ERROR, message, hint));
  }

  private Problem problem(Severity severity, String message, @Nullable String hint) {
    return new Problem(severity, "", new Position(name(), 0, 0), message, null, hint);
  }

  @Override
  public synchronized void close() {
    client = null;
  }
}
