package io.espalier.webui;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.espalier.core.json.Json;
import io.espalier.testkit.api.ApiFixture;
import io.espalier.webui.fleet.SchedulerLists;
import io.espalier.webui.fleet.poll.FleetOptions;
import io.espalier.webui.fleet.poll.FleetSchedulerState;
import io.espalier.webui.fleet.poll.SchedulerAddress;
import io.espalier.webui.http.WebSecurity;
import io.espalier.webui.security.Credentials;
import io.espalier.webui.security.Principal;
import io.espalier.webui.security.Role;
import io.espalier.webui.v1.ApiRoute;
import io.espalier.webui.v1.ApiV1;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.Socket;
import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code espalier ui} with a tokens file of its own before a scheduler that takes it for an admin:
 * however a path is written, nobody may do more there than here.
 */
class FleetAccessTest {
  private static final FleetOptions QUICK =
      FleetOptions.DEFAULT.withTimes(
          Duration.ofMillis(200), Duration.ofSeconds(5), Duration.ofSeconds(20));
  private static final String OF_UI = "token-of-the-ui-itself";
  private static final Map<Role, String> TOKENS =
      Map.of(
          Role.VIEWER, "token-of-the-viewer",
          Role.OPERATOR, "token-of-the-operator",
          Role.ADMIN, "token-of-the-admin");

  @TempDir Path directory = Path.of("");
  private Served one = Served.standard();
  private FleetServed fleet = new FleetServed(List.of(), QUICK);

  @BeforeEach
  void start() throws Exception {
    stop();
    Credentials known = credentials("there", "ui admin " + OF_UI + "\n");
    one =
        Served.with(
            ApiFixture.standard(), o -> o.withSecurity(WebSecurity.open().withCredentials(known)));
    List<SchedulerAddress> list =
        Objects.requireNonNull(SchedulerLists.parse("one=127.0.0.1:" + one.server.port()).value());
    Credentials here =
        credentials(
            "here",
            """
            vera viewer token-of-the-viewer
            olga operator token-of-the-operator
            ada admin token-of-the-admin
            quinn operator@QUEUE token-of-the-queue-1
            olaf operator@other token-of-the-queue-2
            """
                .replace("QUEUE", queueOfBackup()));
    FleetOptions asAdmin =
        QUICK.withAccess(
            new FleetOptions.Access(
                Optional.of(OF_UI), Optional.empty(), Optional.empty(), Optional.empty()));
    fleet =
        new FleetServed(
            list,
            asAdmin,
            o ->
                o.withSecurity(
                    WebSecurity.open()
                        .withCredentials(here)
                        .withRates(new WebSecurity.Rates(10_000, 10_000, 10, 1))));
    await().until(() -> fleet.fleet.view().count(FleetSchedulerState.ANSWERED) == 1);
  }

  @AfterEach
  void stop() {
    fleet.close();
    one.close();
  }

  private static String queueOfBackup() {
    return Objects.requireNonNull(
            Objects.requireNonNull(ApiFixture.standard().view().config()).job("backup"))
        .scheduling()
        .queue();
  }

  private Credentials credentials(String name, String text) throws Exception {
    Path file = Files.writeString(directory.resolve(name), text);
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    return Credentials.of(file);
  }

  /** The target of the request goes out as it is here, which no tidy client would do. */
  private int status(int port, String method, String target, String token, String body)
      throws IOException {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      socket.setSoTimeout(20_000);
      String head =
          String.join(
              "\r\n",
              method + " " + target + " HTTP/1.1",
              "Host: localhost",
              "Authorization: Bearer " + token,
              "Content-Type: application/json",
              "Content-Length: " + body.length(),
              "Connection: close",
              "",
              body);
      socket.getOutputStream().write(head.getBytes(StandardCharsets.US_ASCII));
      String first =
          new BufferedReader(
                  new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII))
              .readLine();
      return Integer.parseInt(Objects.requireNonNull(first).split(" ", -1)[1]);
    }
  }

  private int status(String method, String target, Role role) throws IOException {
    return status(
        fleet.server.port(),
        method,
        target,
        Objects.requireNonNull(TOKENS.get(role)),
        body(method, target));
  }

  /** What the operation takes, or a batch that deletes a job. */
  private static String body(String method, String target) {
    if (method.equals("PUT")) {
      return "{\"owner\":\"me\"}";
    }
    if (method.equals("DELETE")) {
      return "";
    }
    return target.contains("roll")
        ? "{\"version\":1}"
        : target.contains("step")
            ? "{}"
            : "{\"a\":{\"handler\":\"delete_job\",\"job_id\":\"backup\"}}";
  }

  /** Other ways to write a path that some server or other takes for the same. */
  private static List<String> disguises(String path) {
    List<String> all = new ArrayList<>(List.of(path, path + "/", path + "?x=/../", path + ";x"));
    int start = "/api/v1/".length();
    for (int i : new int[] {start, start + 1, path.lastIndexOf('/') + 1, path.length() - 1}) {
      String before = path.substring(0, i);
      String after = path.substring(i + 1);
      all.add(before + "%%%02x".formatted((int) path.charAt(i)) + after);
      all.add(before + "%%%02X".formatted((int) path.charAt(i)) + after);
      all.add(before + "%%25%02x".formatted((int) path.charAt(i)) + after);
    }
    String rest = path.substring(start);
    for (String dots : List.of("x/../", "./", "x/%2e%2e/", "%2E/", "x/%2e./", "x/..%2f", "/")) {
      all.add("/api/v1/" + dots + rest);
    }
    all.add("/api/v1/" + rest.replace("/", "%2f"));
    all.add("/api/v1/" + rest.replace("/", "\\"));
    all.add("/api/v1/" + rest.replace("/", "%5c"));
    all.add("/api/v1/" + rest.replace("/", "//"));
    all.add("/api/v1/" + rest.replaceFirst("/", ";a=b/"));
    all.add("/api/v1/" + rest.toUpperCase(Locale.ROOT));
    all.add("/api/v1/%2e%2e/%2e%2e/x");
    all.add("/api/v1/..%2f..%2fx");
    all.add("/api/v1/%252e%252e/%252e%252e/x");
    all.add("/api%2fv1/" + rest);
    all.add("/x/../api/v1/" + rest);
    return all;
  }

  @Test
  void noWayOfWritingAPathGivesAnOperatorWhatIsAnAdmins() throws IOException {
    for (ApiRoute route : ApiV1.operations()) {
      if (route.role() == Role.ADMIN) {
        String path = route.template().replace("{job}", "backup");
        for (String disguise : disguises(path)) {
          assertThat(status(route.method(), "/s/one" + disguise, Role.OPERATOR))
              .as(route.method() + " " + disguise)
              .isNotEqualTo(200);
          assertThat(one.scheduler.calls()).as(route.method() + " " + disguise).isEmpty();
        }
      }
    }
    assertThat(status("DELETE", "/s/one/api/v1/jobs/backup", Role.ADMIN)).isEqualTo(200);
    assertThat(status("DELETE", "/s/one/api/v1/%6aobs/%62ackup", Role.ADMIN)).isEqualTo(200);
    assertThat(one.scheduler.calls()).hasSize(2);
  }

  @Test
  void noWayOfWritingAPathGivesAViewerAnyChange() throws IOException {
    for (ApiRoute route : ApiV1.operations()) {
      if (route.changes()) {
        String path = route.template().replace("{job}", "backup").replaceAll("\\{\\w+\\}", "d11");
        for (String disguise : disguises(path)) {
          int status = status(route.method(), "/s/one" + disguise, Role.VIEWER);
          assertThat(status).as(route.method() + " " + disguise).isBetween(400, 499);
        }
      }
    }
    assertThat(one.scheduler.calls()).isEmpty();
  }

  @Test
  void whatIsInNoRouteTableIsNotHandedOn() throws IOException {
    for (String path :
        List.of("/", "/x", "/api/v1/%2e%2e/%2e%2e/x", "/api/v1/nothing", "/api/v2/jobs")) {
      for (Role role : Role.values()) {
        assertThat(status("POST", "/s/one" + path, role)).as(role + " " + path).isEqualTo(404);
      }
    }
    assertThat(status("PATCH", "/s/one/api/v1/jobs/backup", Role.ADMIN)).isEqualTo(404);
    assertThat(one.scheduler.calls()).isEmpty();
  }

  @Test
  void everyOperationOfOneSchedulerNeedsTheSameRoleHereAsThere() throws IOException {
    for (ApiRoute route : ApiV1.operations()) {
      String path = "/s/one" + route.template().replaceAll("\\{\\w+\\}", "x");
      for (Role role : Role.values()) {
        int status = status(route.method(), path, role);
        if (role.covers(route.role())) {
          assertThat(status).as(role + " " + path).isNotIn(401, 403, 500, 502);
        } else {
          assertThat(status).as(role + " " + path).isEqualTo(403);
        }
      }
    }
  }

  @Test
  void aNameWithASlashOrAPercentSignIsHandedOnAsThatName() {
    Json.Obj explained =
        Served.object(
            fleet.send(
                fleet
                    .request("/s/one/api/v1/jobs/a%2fb%2525%20%3f/pause")
                    .header("Authorization", "Bearer token-of-the-operator")
                    .POST(HttpRequest.BodyPublishers.ofString("{\"reason\":\"r\"}"))
                    .build()));
    assertThat(explained.toString()).contains("a/b%25 ?");
  }

  @Test
  void anOperatorOfAQueueSteersTheJobsOfItOnOneScheduler() throws IOException {
    String mine = "token-of-the-queue-1";
    String other = "token-of-the-queue-2";
    int port = fleet.server.port();
    assertThat(status(port, "POST", "/s/one/api/v1/jobs/backup/pause", mine, "{}")).isEqualTo(200);
    assertThat(status(port, "POST", "/s/one/api/v1/jobs/backup/pause", other, "{}")).isEqualTo(403);
    for (String path :
        List.of(
            "/s/one/api/v1/jobs/nobody/pause",
            "/s/one/api/v1/brakes",
            "/s/one/api/v1/sets/s/pause",
            "/s/one/api/v1/workers/here/drain",
            // Over all schedulers nobody knows the queues.
            "/api/v1/fleet/jobs/backup/pause")) {
      assertThat(status(port, "POST", path, mine, "{}")).as(path).isEqualTo(403);
    }
    assertThat(status(port, "DELETE", "/s/one/api/v1/jobs/backup", mine, "")).isEqualTo(403);
    assertThat(me(mine)).contains("\"role\":\"viewer\"").contains("operates_queues");
  }

  @Test
  void theSchedulerItselfSeesNoHigherRoleThanTheCallerHas() throws IOException {
    assertThat(me("token-of-the-viewer")).contains("\"role\":\"viewer\"");
    assertThat(me("token-of-the-operator")).contains("\"role\":\"operator\"");
    assertThat(me("token-of-the-admin")).contains("\"role\":\"admin\"");
    String head = "GET /api/v1/me HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n";
    String token = "Authorization: Bearer " + OF_UI + "\r\n";
    for (String most :
        List.of("viewer", "nobody", "", "ADMIN", "admin\r\nX-Espalier-Role: viewer")) {
      assertThat(one.raw(head + token + Principal.ROLE_AT_MOST + ": " + most + "\r\n\r\n"))
          .as(most)
          .contains("\"role\":\"viewer\"");
    }
  }

  private String me(String token) {
    return fleet
        .send(
            fleet
                .request("/s/one/api/v1/me")
                .header("Authorization", "Bearer " + token)
                .header(Principal.ROLE_AT_MOST, "admin")
                .build())
        .body();
  }
}
