package io.espalier.e2e;

import static io.espalier.e2e.Site.text;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpServer;
import io.espalier.core.json.Json;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Notifications to a receiver that really listens, over the deaths of schedulers. */
class NotificationsIT {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  /** What the receiver was sent, and what of it it has taken. */
  private final List<Json.Obj> tried = new CopyOnWriteArrayList<>();

  private final List<Json.Obj> taken = new CopyOnWriteArrayList<>();
  private final List<String> hosts = new CopyOnWriteArrayList<>();
  private volatile boolean isDown = true;

  @SuppressWarnings("NullAway.Init")
  private HttpServer receiver;

  @BeforeEach
  void listen() throws IOException {
    receiver = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    receiver.createContext(
        "/hook",
        exchange -> {
          Json.Obj body =
              Espalier.parsed(
                  new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
          tried.add(body);
          hosts.add(exchange.getRequestHeaders().getFirst("Host"));
          boolean takes = !isDown;
          if (takes) {
            taken.add(body);
          }
          exchange.sendResponseHeaders(takes ? 204 : 503, -1);
          exchange.close();
        });
    receiver.start();
  }

  @AfterEach
  void close() {
    receiver.stop(0);
  }

  private Site site(Path directory, boolean allowPrivate) {
    Site site = new Site(directory);
    site.write("hook.key", "s3cret");
    return site.task("task.sh", "true")
        .config(
            """
            {"bistro_settings": {
              "nodes": {"levels": ["host"], "node_sources": [
                {"source": "manual", "prefs": {"h1": []}}]},
              "resources": {},
              "notifications": {"ops": {
                "webhook": {"url": "http://localhost:%d/hook", "secret_file": "%s",
                  "allow_private": %b},
                "when": {"kinds": ["brake_set"]}}}},
             "bistro_job->scrub": {"owner": "e2e", "enabled": false, "command": ["./task.sh"]}}
            """
                .formatted(
                    receiver.getAddress().getPort(), directory.resolve("hook.key"), allowPrivate));
  }

  private static List<String> reasons(List<Json.Obj> of) {
    Set<String> reasons = new LinkedHashSet<>();
    of.forEach(each -> reasons.add(text(each, "data", "reason")));
    return List.copyOf(reasons);
  }

  private static void brake(Http http, String reason) throws Exception {
    http.post("/api/v1/brakes", Json.object().put("reason", reason).build().toString());
  }

  @Test
  void what_a_receiver_that_was_down_missed_it_gets_after_kill_9_in_order_with_the_same_ids(
      @TempDir Path directory) throws Exception {
    Site site = site(directory, true);
    try (Espalier daemon = site.daemon()) {
      Http http = new Http(daemon.url());
      for (String reason : List.of("first", "second", "third")) {
        brake(http, reason);
      }
      await().atMost(PATIENCE).until(() -> !tried.isEmpty());
      await()
          .atMost(PATIENCE)
          .until(
              () ->
                  text(http.get("/api/v1/notifications"), "notifiers", "0", "state")
                      .equals("failing"));
      assertThat(text(http.get("/api/v1/notifications"), "notifiers", "0", "last_error"))
          .isEqualTo("answered with status 503");
      daemon.signal("KILL").ended();
    }
    String firstId = text(tried.get(0), "id");
    assertThat(reasons(tried)).containsExactly("first");
    assertThat(hosts.get(0)).isEqualTo("localhost:" + receiver.getAddress().getPort());
    isDown = false;
    try (Espalier daemon = site.daemon()) {
      await().atMost(PATIENCE).until(() -> taken.size() >= 3);
      assertThat(reasons(taken)).containsExactly("first", "second", "third");
      assertThat(text(taken.get(0), "id")).isEqualTo(firstId);
      Http http = new Http(daemon.url());
      await()
          .atMost(PATIENCE)
          .until(
              () ->
                  text(http.get("/api/v1/notifications"), "notifiers", "0", "state")
                      .equals("idle"));
      Json tested = http.change("POST", "/api/v1/notifications/ops/test", "{}");
      assertThat(Site.at(tested, "sent")).isEqualTo(Json.Bool.TRUE);
      assertThat(text(taken.get(taken.size() - 1), "kind")).isEqualTo("test");
      assertThat(daemon.stderr()).doesNotContain("s3cret");
    }
  }

  @Test
  void without_a_permission_nothing_goes_to_this_host_and_the_command_says_why(
      @TempDir Path directory) throws Exception {
    Site site = site(directory, false);
    try (Espalier daemon = site.daemon()) {
      Espalier.Ended test =
          Espalier.run(directory, "notify", "test", "ops", "--server", daemon.url());
      assertThat(test.code()).isEqualTo(1);
      assertThat(test.stdout() + test.stderr())
          .contains("ops has not got it: host localhost is ")
          .contains("set \"allow_private\"");
    }
    assertThat(tried).isEmpty();
  }
}
