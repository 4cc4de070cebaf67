package io.espalier.webui.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.config.Config;
import io.espalier.core.json.Json;
import io.espalier.testkit.api.ApiFixture;
import io.espalier.webui.SchedulerRouter;
import io.espalier.webui.Served;
import io.espalier.webui.page.StaticPage;
import io.espalier.webui.security.Credentials;
import io.espalier.webui.security.Principal;
import io.espalier.webui.security.Role;
import io.espalier.webui.v1.ApiRoute;
import io.espalier.webui.v1.ApiV1;
import io.espalier.webui.v1.ServerIdentity;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

/** Who is let in, and as what (docs/design/design.md#requests-from-the-web). */
class AuthHandlerTest {
  private static final String VIEWER = "token-of-the-viewer";
  private static final String OPERATOR = "token-of-the-operator";
  private static final String ADMIN = "token-of-the-admin";
  private static final String TOKENS =
      "vera viewer " + VIEWER + "\nolga operator " + OPERATOR + "\nada admin " + ADMIN + "\n";

  @TempDir Path directory = Path.of("");
  private Path tokens = Path.of("");
  private Served served = Served.standard();

  @BeforeEach
  void start() throws Exception {
    tokens = tokens(TOKENS);
    serve(WebSecurity.Rates.DEFAULT);
  }

  @AfterEach
  void stop() {
    served.close();
  }

  private Path tokens(String text) throws IOException {
    Path file = Files.writeString(directory.resolve("tokens"), text);
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    return file;
  }

  private void serve(WebSecurity.Rates rates) throws Exception {
    served.close();
    WebSecurity security =
        WebSecurity.open().withCredentials(Credentials.of(tokens)).withRates(rates);
    served = Served.with(ApiFixture.standard(), o -> o.withSecurity(security));
  }

  private HttpResponse<String> send(
      String method, String path, @Nullable String token, String body) {
    HttpRequest.Builder request =
        served
            .request(path)
            .header("Accept", "application/json")
            .method(
                method,
                method.equals("GET")
                    ? HttpRequest.BodyPublishers.noBody()
                    : HttpRequest.BodyPublishers.ofString(body));
    if (token != null) {
      request.header("Authorization", "Bearer " + token);
    }
    return served.send(request.build());
  }

  private int status(String method, String path, @Nullable String token) {
    return send(method, path, token, "{}").statusCode();
  }

  @Test
  void whatSaysNothingOfJobsIsForEverybodyAndAllElseIsNot() {
    for (String open : List.of("/", "/favicon.svg", "/healthz", "/readyz")) {
      assertThat(status("GET", open, null)).as(open).isEqualTo(200);
      assertThat(status("GET", open, "wrong-token-123456")).as(open).isEqualTo(200);
    }
    for (String closed :
        List.of(
            "/metrics", SchedulerRouter.OPENAPI, ApiV1.EVENTS, ApiV1.LOGS, ApiV1.ME, ApiV1.JOBS)) {
      HttpResponse<String> response = send("GET", closed, null, "");
      assertThat(response.statusCode()).as(closed).isEqualTo(401);
      assertThat(response.headers().firstValue("WWW-Authenticate"))
          .contains("Bearer realm=\"espalier\"");
      assertThat(status("GET", closed, VIEWER)).as(closed).isIn(200, 400);
    }
    assertThat(status("POST", "/", null)).isEqualTo(401);
    assertThat(status("POST", "/any/path", null)).isEqualTo(401);
    assertThat(status("POST", "/any/path", VIEWER)).isEqualTo(200);
  }

  private int statusAs(String token, String user, String method, String path) {
    HttpRequest.Builder request =
        served
            .request(path)
            .header("Authorization", "Bearer " + token)
            .header(Principal.USER, user)
            .method(method, HttpRequest.BodyPublishers.ofString(method.equals("GET") ? "" : "{}"));
    return served.send(request.build()).statusCode();
  }

  @Test
  void aTrustedProxySaysWhoAsksAndNobodyElseDoes() throws Exception {
    tokens(TOKENS + "gate proxy token-of-the-proxy-1\nerin operator sso\nvic viewer sso\n");
    serve(WebSecurity.Rates.DEFAULT);
    String gate = "token-of-the-proxy-1";
    String pause = "/api/v1/jobs/x/pause";
    assertThat(statusAs(gate, "erin", "GET", ApiV1.ME)).isEqualTo(200);
    assertThat(statusAs(gate, "erin", "POST", pause)).isNotIn(401, 403);
    assertThat(statusAs(gate, "vic", "POST", pause)).isEqualTo(403);
    assertThat(statusAs(gate, "erin", "PUT", "/api/v1/jobs/x")).isEqualTo(403);
    // Neither somebody without sso, nor the proxy for itself or for another proxy.
    for (String user : List.of("ada", "nobody", "", "gate")) {
      assertThat(statusAs(gate, user, "GET", ApiV1.ME)).as(user).isEqualTo(403);
    }
    assertThat(status("GET", ApiV1.ME, gate)).isEqualTo(403);
    // Others are refused even if they may do more than who they name.
    assertThat(statusAs(ADMIN, "erin", "GET", ApiV1.ME)).isEqualTo(403);
    assertThat(statusAs("wrong-token-123456", "erin", "GET", ApiV1.ME)).isEqualTo(401);
    assertThat(
            served
                .send(served.request(ApiV1.ME).header(Principal.USER, "erin").GET().build())
                .statusCode())
        .isEqualTo(401);
  }

  @Test
  void anOperatorOfAQueueSteersTheJobsOfItAndNothingElse() throws Exception {
    Config config = Objects.requireNonNull(ApiFixture.standard().view().config());
    String queue = Objects.requireNonNull(config.job("backup")).scheduling().queue();
    String mine = "token-of-the-queue-1";
    String other = "token-of-the-queue-2";
    tokens(TOKENS + "q1 operator@" + queue + " " + mine + "\nq2 operator@other " + other + "\n");
    serve(WebSecurity.Rates.DEFAULT);
    assertThat(status("POST", "/api/v1/jobs/backup/pause", mine)).isEqualTo(200);
    assertThat(status("POST", "/api/v1/jobs/backup/tasks/d12/kill", mine)).isNotIn(401, 403);
    assertThat(status("POST", "/api/v1/jobs/backup/pause", other)).isEqualTo(403);
    assertThat(status("GET", "/api/v1/jobs/backup", other)).isEqualTo(200);
    for (String path : List.of("/api/v1/jobs/nobody/pause", ApiV1.BRAKES, "/api/v1/sets/s/pause")) {
      assertThat(status("POST", path, mine)).as(path).isEqualTo(403);
    }
    assertThat(status("PUT", "/api/v1/jobs/backup", mine)).isEqualTo(403);
    assertThat(status("PUT", "/api/v1/limits/host/conn", mine)).isEqualTo(403);
    HttpRequest.Builder lowered =
        served
            .request("/api/v1/jobs/backup/pause")
            .header("Authorization", "Bearer " + mine)
            .header(Principal.ROLE_AT_MOST, "viewer")
            .POST(HttpRequest.BodyPublishers.ofString("{}"));
    assertThat(served.send(lowered.build()).statusCode()).isEqualTo(403);
    assertThat(pausing(OPERATOR, "operator@" + queue)).isEqualTo(200);
    assertThat(pausing(OPERATOR, "operator@other")).isEqualTo(403);
    assertThat(pausing(OPERATOR, "operator@")).isEqualTo(403);
    assertThat(pausing(OPERATOR, "operator@%zz," + queue)).isEqualTo(403);
    assertThat(pausing(other, "operator@" + queue)).as("it is not theirs").isEqualTo(403);
    assertThat(pausing(VIEWER, "operator@" + queue)).isEqualTo(403);
    assertThat(pausing(mine, "operator")).isEqualTo(200);
    assertThat(send("GET", ApiV1.ME, mine, "").body()).contains("operates_queues");
  }

  /** The status of the answer to somebody who asks to be no more than that. */
  private int pausing(String token, String atMost) {
    return served
        .send(
            served
                .request("/api/v1/jobs/backup/pause")
                .header("Authorization", "Bearer " + token)
                .header(Principal.ROLE_AT_MOST, atMost)
                .POST(HttpRequest.BodyPublishers.ofString("{}"))
                .build())
        .statusCode();
  }

  @Test
  void everyOperationNeedsItsRoleAndLetsInThoseAbove() throws Exception {
    Map<Role, String> all = Map.of(Role.VIEWER, VIEWER, Role.OPERATOR, OPERATOR, Role.ADMIN, ADMIN);
    for (ApiRoute route : new ApiV1(ApiFixture.standard(), ServerIdentity.UNNAMED).routes()) {
      String path = route.template().replaceAll("\\{\\w+\\}", "x");
      assertThat(status(route.method(), path, null)).as(route.template()).isEqualTo(401);
      all.forEach(
          (role, token) -> {
            int status = status(route.method(), path, token);
            if (role.covers(route.role())) {
              assertThat(status).as(role + " " + route.template()).isNotIn(401, 403, 500);
            } else {
              assertThat(status).as(role + " " + route.template()).isEqualTo(403);
            }
          });
    }
  }

  @Test
  void aRefusalNamesTheRoleThatIsNeededAndChangesNothing() {
    HttpResponse<String> refused = send("DELETE", "/api/v1/jobs/backup", OPERATOR, "");
    assertThat(refused.statusCode()).isEqualTo(403);
    assertThat(Served.object(refused).get("detail"))
        .isEqualTo(Json.of("olga is an operator; this needs the role admin"));
    assertThat(status("POST", "/api/v1/jobs/backup/forgive", VIEWER)).isEqualTo(403);
    assertThat(served.scheduler.calls()).isEmpty();
    assertThat(status("POST", "/api/v1/jobs/backup/forgive", OPERATOR)).isEqualTo(200);
    assertThat(served.scheduler.calls()).hasSize(1);
  }

  @Test
  void meSaysWhoIAm() {
    assertThat(send("GET", ApiV1.ME, OPERATOR, "").body())
        .isEqualTo(
            "{\"name\":\"olga\",\"role\":\"operator\",\"authenticated\":true,\"scheduler\":\"here\"}");
    try (Served open = Served.standard()) {
      assertThat(open.get(ApiV1.ME).body())
          .isEqualTo(
              "{\"name\":\"anonymous\",\"role\":\"admin\",\"authenticated\":false,\"scheduler\":\"here\"}");
    }
  }

  @Test
  void onlyOneBearerTokenIsTaken() {
    String head = "GET /api/v1/me HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n";
    assertThat(served.raw(head + "authorization: bEaReR  " + VIEWER + " \r\n\r\n"))
        .startsWith("HTTP/1.1 200");
    for (String wrong :
        List.of(
            "Authorization: Basic dmVyYTp4",
            "Authorization: " + VIEWER,
            "Authorization: Bearer",
            "Authorization: Bearer ",
            "Authorization: Bearer " + VIEWER + ", Bearer " + ADMIN,
            "Authorization: Bearer " + VIEWER + "\r\nAuthorization: Bearer " + ADMIN,
            "Cookie: token=" + VIEWER)) {
      assertThat(served.raw(head + wrong + "\r\n\r\n")).as(wrong).startsWith("HTTP/1.1 401");
    }
    assertThat(status("GET", ApiV1.ME + "?token=" + VIEWER, null)).isEqualTo(401);
  }

  @Test
  void aBatchNeedsTheHighestRoleOfItsChangesAndIsRefusedAsAWhole() {
    String read = "{\"a\":{\"handler\":\"jobs\"}}";
    String kill =
        "{\"f\":{\"handler\":\"forgive_jobs\",\"jobs\":[\"backup\"]},"
            + "\"k\":{\"handler\":\"kill_task\",\"job_id\":\"backup\",\"node_id\":\"d11\"}}";
    String delete =
        "{\"f\":{\"handler\":\"forgive_jobs\",\"jobs\":[\"backup\"]},"
            + "\"d\":{\"handler\":\"delete_job\",\"job_id\":\"backup\"}}";
    assertThat(send("POST", "/", VIEWER, read).statusCode()).isEqualTo(200);
    assertThat(send("POST", "/", VIEWER, kill).statusCode()).isEqualTo(403);
    assertThat(send("POST", "/", OPERATOR, delete).statusCode()).isEqualTo(403);
    assertThat(served.scheduler.calls()).as("not even the first of them").isEmpty();
    assertThat(send("POST", "/", OPERATOR, kill).statusCode()).isEqualTo(200);
    assertThat(send("POST", "/", ADMIN, delete).statusCode()).isEqualTo(200);
    assertThat(send("POST", "/", VIEWER, "nonsense").body()).startsWith("\"");
  }

  @Test
  void onlyWhoMaySaveAJobSeesWhatIsSecretInIt() {
    String job = ApiFixture.withSecrets().toString();
    assertThat(send("PUT", "/api/v1/jobs/scrub", ADMIN, job).statusCode()).isEqualTo(200);
    assertThat(send("GET", "/api/v1/settings", ADMIN, "").body()).doesNotContain("hunter2");
    for (String token : List.of(VIEWER, OPERATOR, ADMIN)) {
      for (HttpResponse<String> answer :
          List.of(
              send("GET", "/api/v1/jobs/scrub", token, ""),
              send("GET", "/api/v1/jobs/scrub/history", token, ""),
              send("POST", "/api/v1/jobs/scrub/validate", token, job))) {
        assertThat(answer.statusCode()).isEqualTo(200);
        if (token.equals(ADMIN)) {
          assertThat(answer.body()).contains("\"DB_PASSWORD\":\"hunter2\"");
        } else {
          assertThat(answer.body())
              .doesNotContain("hunter2")
              .contains("\"LOGIN\":\"***\"", "mysql://me:***@db/x")
              .contains("\"token\":3");
        }
      }
      // A link of a job has one.
      assertThat(
              send("POST", "/", token, "{\"a\":{\"handler\":\"jobs\"}}").body().contains("hunter2"))
          .as(token)
          .isEqualTo(token.equals(ADMIN));
    }
  }

  @Test
  void noWayOfWritingAPathGivesMoreThanTheRoleOfTheOperation() {
    String admins = "/api/v1/jobs/backup";
    for (String path :
        List.of(
            "/api/v1/%6aobs/backup",
            "/api/v1/x/../jobs/backup",
            "/api/v1/%2e%2e/%2e%2e/api/v1/jobs/backup",
            "/x/%2E%2E/api/v1/jobs/backup",
            "/api/v1//jobs/backup",
            "/%61pi/v1/jobs/%62ackup",
            "/api/v1/jobs/backup/",
            "/api%2fv1/jobs/backup",
            "/api/v1/jobs%2fbackup",
            "/api/v1/jobs;x/backup",
            "/API/v1/jobs/backup",
            "/api/v1/%256aobs/backup",
            "/api\\v1\\jobs\\backup")) {
      for (String token : List.of(VIEWER, OPERATOR)) {
        String raw =
            served.raw(
                "DELETE "
                    + path
                    + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer "
                    + token
                    + "\r\n\r\n");
        assertThat(raw).as(path).matches("(?s)HTTP/1.1 4(00|03|04|05) .*");
      }
    }
    assertThat(served.scheduler.calls()).isEmpty();
    assertThat(send("DELETE", admins, ADMIN, "").statusCode()).isEqualTo(200);
    String batch = "{\"d\":{\"handler\":\"delete_job\",\"job_id\":\"backup\"}}";
    for (String path : List.of("/", "/%61pi", "/api%2fv1/jobs", "/x/%2e%2e/y", "/API/v1")) {
      for (String token : List.of(VIEWER, OPERATOR)) {
        assertThat(send("POST", path, token, batch).statusCode()).as(path).isEqualTo(403);
      }
    }
  }

  @Test
  void theAuthorOfAChangeIsWhoProvedIt() {
    HttpResponse<String> saved =
        send("PUT", "/api/v1/jobs/backup?author=somebody", ADMIN, "{\"owner\":\"me\"}");
    assertThat(Served.object(saved).get("author")).isEqualTo(Json.of("ada"));
  }

  @Test
  void wrongTokensFromOneAddressAreStoppedButNotThoseWhoWereLetInBefore() throws Exception {
    serve(new WebSecurity.Rates(100, 100, 3, 0.001));
    assertThat(status("GET", ApiV1.ME, VIEWER)).isEqualTo(200);
    for (int i = 0; i < 3; i++) {
      assertThat(status("GET", ApiV1.ME, "wrong-token-" + i + "-123")).isEqualTo(401);
    }
    HttpResponse<String> stopped = send("GET", ApiV1.ME, "wrong-token-4-1234", "");
    assertThat(stopped.statusCode()).isEqualTo(429);
    assertThat(Integer.parseInt(stopped.headers().firstValue("Retry-After").orElse("0")))
        .isBetween(900, 1000);
    assertThat(send("GET", ApiV1.ME, ADMIN, "").statusCode())
        .as("a right guess looks like a wrong one")
        .isEqualTo(429);
    assertThat(status("GET", ApiV1.ME, VIEWER)).isEqualTo(200);
    assertThat(status("GET", ApiV1.ME, null)).as("no guess at all").isEqualTo(401);
    assertThat(status("GET", "/healthz", null)).isEqualTo(200);
  }

  @Test
  void tooManyChangesOfOneCallerAreTurnedAway() throws Exception {
    serve(new WebSecurity.Rates(2, 0.01, 10, 1));
    String pause = "/api/v1/jobs/backup/pause";
    assertThat(status("POST", pause, OPERATOR)).isEqualTo(200);
    assertThat(status("POST", pause, OPERATOR)).isEqualTo(200);
    HttpResponse<String> stopped = send("POST", pause, OPERATOR, "{}");
    assertThat(stopped.statusCode()).isEqualTo(429);
    assertThat(stopped.headers().firstValue("Retry-After")).contains("100");
    String forgive = "{\"f\":{\"handler\":\"forgive_jobs\",\"jobs\":[\"backup\"]}}";
    assertThat(send("POST", "/", OPERATOR, forgive).statusCode()).isEqualTo(429);
    assertThat(status("GET", ApiV1.JOBS, OPERATOR)).isEqualTo(200);
    assertThat(status("POST", pause, ADMIN)).as("another caller").isEqualTo(200);
  }

  @Test
  void aChangedTokensFileIsInForceSoon() throws Exception {
    assertThat(status("GET", ApiV1.ME, "a-new-token-for-all")).isEqualTo(401);
    tokens("nora viewer a-new-token-for-all\n");
    Awaitility.await()
        .atMost(Duration.ofSeconds(20))
        .untilAsserted(
            () -> assertThat(status("GET", ApiV1.ME, "a-new-token-for-all")).isEqualTo(200));
    assertThat(status("GET", ApiV1.ME, ADMIN)).isEqualTo(401);
  }

  @Test
  void rolesInTheContractAreThoseOfTheRoutes() {
    Map<String, Role> routes = new HashMap<>();
    for (ApiRoute route : new ApiV1(ApiFixture.standard(), ServerIdentity.UNNAMED).routes()) {
      routes.put(route.method() + " " + route.template(), route.role());
      if (!route.method().equals("GET") && route.changes()) {
        assertThat(route.role().covers(Role.OPERATOR)).as(route.template()).isTrue();
      }
    }
    Map<String, Object> contract =
        map(
            new Yaml(new SafeConstructor(new LoaderOptions()))
                .load(new StaticPage("/openapi.yaml", "application/yaml").text()));
    assertThat(contract.get("security")).asString().contains("token").contains("certificate");
    map(contract.get("paths"))
        .forEach(
            (path, item) ->
                map(item)
                    .forEach(
                        (method, operation) -> {
                          String name = method.toUpperCase(Locale.ROOT) + " " + path;
                          if (routes.containsKey(name)) {
                            Object said = map(operation).get("x-role");
                            String otherwise = method.equals("get") ? "viewer" : "operator";
                            assertThat(said == null ? otherwise : said)
                                .as(name)
                                .isEqualTo(routes.get(name).label());
                            assertThat(map(operation)).as(name).doesNotContainKey("security");
                          }
                        }));
  }

  @SuppressWarnings("unchecked")
  private static Map<String, Object> map(@Nullable Object value) {
    return value instanceof Map ? (Map<String, Object>) value : Map.of();
  }

  @Test
  void addressesOfOneIpv6NetworkCountAsOne() {
    assertThat(AuthHandler.network("10.1.2.3")).isEqualTo("10.1.2.3");
    assertThat(AuthHandler.network("2001:db8::1"))
        .isEqualTo(AuthHandler.network("2001:db8:0:0:ffff::2%eth0"));
    assertThat(AuthHandler.network("2001:db8::1"))
        .isNotEqualTo(AuthHandler.network("2001:db8:1::1"));
    assertThat(Objects.requireNonNull(AuthHandler.network("::1"))).endsWith("/64");
  }
}
