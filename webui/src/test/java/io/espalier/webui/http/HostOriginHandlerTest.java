package io.espalier.webui.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.testkit.api.ApiFixture;
import io.espalier.webui.Served;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Other people's web pages stay out (docs/design/design.md#requests-from-the-web). */
class HostOriginHandlerTest {
  private Served served = Served.standard();

  @BeforeEach
  void start() {
    served.close();
    served =
        Served.with(ApiFixture.standard(), o -> o.withAllowedHosts(Set.of("Espalier.example")));
  }

  @AfterEach
  void stop() {
    served.close();
  }

  private String status(String request, String... headers) {
    String body = "{}";
    return served
        .raw(
            request
                + " HTTP/1.1\r\nConnection: close\r\nContent-Length: "
                + body.length()
                + "\r\n"
                + String.join("\r\n", headers)
                + "\r\n\r\n"
                + body)
        .lines()
        .findFirst()
        .orElse("");
  }

  private String own() {
    return "Host: 127.0.0.1:" + served.server.port();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "localhost",
        "LOCALHOST:8080",
        "localhost.",
        "127.0.0.1",
        "127.0.0.1:1",
        "[::1]:8080",
        "espalier.example",
        "ESPALIER.example:443"
      })
  void knownHostsAreServed(String host) {
    assertThat(status("POST /", "Host: " + host)).contains(" 200 ");
    assertThat(status("GET /api/v1/jobs", "Host: " + host)).contains(" 200 ");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "evil.example",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "10.0.0.1",
        "[::2]",
        "espalier.example.evil",
        "evil.example:8080"
      })
  void otherHostsAreRefusedEverywhere(String host) {
    for (String request :
        new String[] {"POST /", "GET /", "GET /api/v1/jobs", "GET /metrics", "GET /healthz"}) {
      assertThat(status(request, "Host: " + host)).as(request).contains(" 403 ");
    }
  }

  @Test
  void aRequestThatNamesNoHostIsRefused() {
    assertThat(served.raw("POST / HTTP/1.0\r\nContent-Length: 2\r\n\r\n{}")).contains(" 403 ");
  }

  @ParameterizedTest
  @CsvSource({
    "http://evil.example",
    "https://127.0.0.1",
    "http://127.0.0.1:1",
    "'null'",
    "file://",
    "nonsense",
    "http://localhost:3000"
  })
  void foreignOriginsAreRefused(String origin) {
    assertThat(status("POST /", own(), "Origin: " + origin)).contains(" 403 ");
    assertThat(status("POST /api/v1/jobs/backup/forgive", own(), "Origin: " + origin))
        .contains(" 403 ");
    assertThat(served.scheduler.calls()).isEmpty();
  }

  @Test
  void theOwnOriginIsServed() {
    String origin = "Origin: http://127.0.0.1:" + served.server.port();
    assertThat(status("POST /", own(), origin)).contains(" 200 ");
    assertThat(status("POST /", "Host: espalier.example", "Origin: https://espalier.example"))
        .as("behind a proxy that ends TLS")
        .contains(" 200 ");
  }

  @Test
  void crossSiteRequestsAreRefusedButALinkToThePageIsFollowed() {
    String cross = "Sec-Fetch-Site: cross-site";
    assertThat(status("POST /", own(), cross)).contains(" 403 ");
    assertThat(status("GET /api/v1/jobs", own(), cross)).contains(" 403 ");
    assertThat(status("GET /", own(), cross)).contains(" 403 ");
    assertThat(
            status("GET /", own(), cross, "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"))
        .contains(" 200 ");
    assertThat(status("POST /", own(), "Sec-Fetch-Site: same-origin")).contains(" 200 ");
    assertThat(status("POST /", own(), "Sec-Fetch-Site: none")).contains(" 200 ");
  }

  @Test
  void aStarAllowsEveryHost() {
    try (Served open = Served.with(ApiFixture.standard(), o -> o.withAllowedHosts(Set.of("*")))) {
      assertThat(open.raw("GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"))
          .contains(" 200 ");
    }
  }
}
