package io.espalier.server.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.espalier.core.api.JobVersions;
import io.espalier.core.api.RefusedException;
import io.espalier.core.config.source.ConfigSource;
import io.espalier.core.config.source.ConfigSource.Unavailable;
import io.espalier.core.json.Json;
import io.espalier.core.problem.Problem;
import io.espalier.testkit.config.ConfigFixtures;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
final class HttpConfigSourceTest {
  private static final String MONDAY = "Mon, 23 Nov 2026 07:00:00 GMT";
  private static final String TUESDAY = "Tue, 24 Nov 2026 07:00:00 GMT";

  @TempDir
  @SuppressWarnings("NullAway.Init")
  Path directory;

  private HttpServer server = newServer();
  private final List<String> asked = new CopyOnWriteArrayList<>();
  private final AtomicLong nanos = new AtomicLong();

  private volatile int status = 200;
  private volatile String body = config(1);
  private volatile String modified = "";
  private volatile String etag = "";
  private volatile boolean comparesDates;

  private static HttpServer newServer() {
    try {
      return HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  @BeforeEach
  void start() {
    server.createContext("/", this::answer);
    server.start();
  }

  @AfterEach
  void stop() {
    server.stop(0);
  }

  private static String config(int workingWait) {
    return "{\"bistro_settings\": {\"working_wait\": "
        + workingWait
        + ", \"nodes\": {\"levels\": []}, \"resources\": {}}}";
  }

  private void answer(HttpExchange exchange) throws IOException {
    try (exchange) {
      String seen = exchange.getRequestURI().getPath();
      for (String name : List.of("Authorization", "If-None-Match", "If-Modified-Since")) {
        String value = exchange.getRequestHeaders().getFirst(name);
        seen += value == null ? "" : " " + name + "=" + value;
      }
      asked.add(seen);
      if (exchange.getRequestURI().getPath().equals("/moved")) {
        exchange.getResponseHeaders().set("Location", "/config.json");
        exchange.sendResponseHeaders(302, -1);
        return;
      }
      if (!modified.isEmpty()) {
        exchange.getResponseHeaders().set("Last-Modified", modified);
      }
      if (!etag.isEmpty()) {
        exchange.getResponseHeaders().set("ETag", etag);
        if (etag.equals(exchange.getRequestHeaders().getFirst("If-None-Match"))) {
          exchange.sendResponseHeaders(304, -1);
          return;
        }
      }
      String since = exchange.getRequestHeaders().getFirst("If-Modified-Since");
      if (comparesDates && since != null) {
        exchange.sendResponseHeaders(304, -1);
        return;
      }
      byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
      exchange.sendResponseHeaders(status, bytes.length == 0 ? -1 : bytes.length);
      exchange.getResponseBody().write(bytes);
    }
  }

  private String uri(String rest) {
    return "http://localhost:" + server.getAddress().getPort() + rest;
  }

  private ConfigSource open(String rest) {
    return HttpConfigSource.of(uri(rest), nanos::get);
  }

  private void later() {
    nanos.addAndGet(HttpConfigSource.PERIOD.toNanos());
  }

  private Problem problem(ConfigSource source) {
    return catchThrowableOfType(Unavailable.class, source::fetch).problem();
  }

  @Test
  void theServerIsAskedOncePerPeriodAndOnlyForWhatIsNew() throws Exception {
    etag = "\"v1\"";
    ConfigSource source = open("/config.json");
    ConfigSource.Text first = source.fetch();
    assertThat(first.documents()).hasSize(1);
    assertThat(first.documents().get(0).name()).isEqualTo(uri("/config.json"));
    assertThat(source.fetch()).isSameAs(first);
    nanos.addAndGet(HttpConfigSource.PERIOD.toNanos() - 1);
    assertThat(source.fetch()).isSameAs(first);
    nanos.addAndGet(1);
    assertThat(source.fetch()).isSameAs(first);
    assertThat(asked).containsExactly("/config.json", "/config.json If-None-Match=\"v1\"");
    etag = "\"v2\"";
    body = config(2);
    later();
    assertThat(source.fetch().hash()).isNotEqualTo(first.hash());
  }

  @Test
  void aTokenComesFromAFileThatIsReadAgain() throws Exception {
    Path token = directory.resolve("token");
    ConfigSource source = open("/config.json?ref=main#headers_file=" + token);
    assertThat(problem(source).message()).isEqualTo("there is no file " + token + " of headers");
    Files.writeString(token, "Authorization: Bearer one\n");
    later();
    source.fetch();
    Files.writeString(token, "Authorization: Bearer two\n");
    later();
    source.fetch();
    assertThat(asked)
        .containsExactly(
            "/config.json Authorization=Bearer one", "/config.json Authorization=Bearer two");
    assertThat(source.name()).isEqualTo(uri("/config.json?…"));
  }

  @Test
  void aRedirectIsFollowed() throws Exception {
    assertThat(open("/moved").fetch().documents().get(0).bytes())
        .asString(StandardCharsets.UTF_8)
        .isEqualTo(config(1));
    assertThat(asked).containsExactly("/moved", "/config.json");
  }

  /** Polls until two polls in a row have seen the same. */
  private void poll(ConfigPoller poller, Instant now) throws InterruptedException {
    later();
    poller.poll(now);
    poller.poll(now);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "200 | '<!DOCTYPE html><title>Log in</title>' | answered with a page of HTML",
        "200 | ' \n<html/>' | answered with a page of HTML",
        "200 | '' | answered with nothing",
        "200 | ' \n' | answered with nothing",
        "500 | oops | answered with status 500",
        "404 | oops | answered with status 404",
        "304 | '' | answered with status 304",
        "200 | '{' | ends",
        "200 | '{}' | bistro_settings"
      })
  void theLastGoodConfigurationStaysAndItsAgeIsShown(int badStatus, String bad, String message)
      throws Exception {
    List<ConfigSnapshot> published = new ArrayList<>();
    Instant start = Instant.parse("2026-11-23T08:00:00Z");
    try (ConfigPoller poller =
        new ConfigPoller(
            open("/config.json"),
            ConfigFixtures.parser(),
            InstantSource.fixed(start),
            published::add)) {
      poll(poller, start);
      status = badStatus;
      body = bad;
      poll(poller, start.plusSeconds(10));
      ConfigSnapshot snapshot = poller.current();
      assertThat(snapshot.stale()).isTrue();
      assertThat(Objects.requireNonNull(snapshot.config()).settings().workingWait())
          .isEqualTo(Duration.ofSeconds(1));
      assertThat(snapshot.problems().toString()).contains(message).contains(uri("/config.json"));
      assertThat(snapshot.age(start.plusSeconds(30))).isEqualTo(Duration.ofSeconds(30));
      assertThat(published).hasSize(2);
      status = 200;
      body = config(3);
      poll(poller, start.plusSeconds(40));
      assertThat(poller.current().stale()).isFalse();
      assertThat(poller.current().problems()).isEmpty();
    }
  }

  @Test
  void aServerThatIsGoneIsAProblem() throws Exception {
    ConfigSource source = open("/config.json");
    source.fetch();
    server.stop(0);
    later();
    assertThat(problem(source).message()).contains("cannot connect");
  }

  @Test
  void aConfigurationThatIsOlderThanTheOneBeforeIsWarnedOf() throws Exception {
    modified = TUESDAY;
    ConfigSource source = open("/config.json");
    assertThat(source.fetch().warnings()).isEmpty();
    modified = MONDAY;
    later();
    assertThat(source.fetch().warnings()).as("the same text").isEmpty();
    modified = TUESDAY;
    later();
    source.fetch();
    modified = MONDAY;
    body = config(2);
    later();
    ConfigSource.Text older = source.fetch();
    assertThat(older.warnings())
        .singleElement()
        .satisfies(
            warning -> {
              assertThat(warning.isError()).isFalse();
              assertThat(warning.message())
                  .contains("of 2026-11-23T07:00:00Z, older")
                  .contains("of 2026-11-24T07:00:00Z");
            });
    assertThat(new ConfigLoader(ConfigFixtures.parser()).load(older).problems())
        .containsAll(older.warnings());
    modified = TUESDAY;
    body = config(3);
    later();
    assertThat(source.fetch().warnings()).isEmpty();
    modified = "yesterday";
    body = config(4);
    later();
    assertThat(source.fetch().warnings()).isEmpty();
  }

  @Test
  void aStepBackThatAServerTakesForUnmodifiedIsSeenWithinAMinute() throws Exception {
    modified = TUESDAY;
    comparesDates = true;
    ConfigSource source = open("/config.json");
    ConfigSource.Text first = source.fetch();
    modified = MONDAY;
    body = config(2);
    later();
    assertThat(source.fetch()).isSameAs(first);
    nanos.addAndGet(HttpConfigSource.TRUST_IN_DATES.toNanos());
    assertThat(source.fetch().warnings()).hasSize(1);
    assertThat(asked)
        .containsExactly(
            "/config.json", "/config.json If-Modified-Since=" + TUESDAY, "/config.json");
  }

  @Test
  void jobsCannotBeSaved() {
    JobEditor editor =
        new JobEditor(
            open("/config.json"), ConfigFixtures.parser(), InstantSource.fixed(Instant.EPOCH));
    assertThatThrownBy(() -> editor.save("j", Json.Obj.EMPTY, JobVersions.ANY, "", ""))
        .isInstanceOf(RefusedException.class)
        .hasMessage(
            "the configuration is only read from "
                + uri("/config.json")
                + ": change it where it is published");
  }

  @ParameterizedTest
  @CsvSource({
    "http://joe:s3cret@h/c.json, a name or password does not belong into an address",
    "https:///c.json, the address names no host",
    "https://h/a b, this is not an address: Illegal character",
    "https://h/c.json#x, only #headers_file=FILE may follow",
    "https://h/c.json#headers_file=, only #headers_file=FILE may follow"
  })
  void whatIsNoAddressIsRefused(String uri, String message) {
    Problem problem =
        catchThrowableOfType(Unavailable.class, () -> ConfigSources.open(uri)).problem();
    assertThat(problem.message()).contains(message);
    assertThat(problem.toString()).doesNotContain("s3cret");
  }

  @ParameterizedTest
  @ValueSource(strings = {"https://h/c?key=s3cret", "HTTP://h/c?s3cret#headers_file=f"})
  void queriesAreNotShown(String uri) throws Exception {
    assertThat(ConfigSources.shown(uri)).doesNotContain("s3cret").contains("/c?…");
    assertThat(ConfigSources.open(uri).name()).doesNotContain("s3cret");
  }
}
