package io.espalier.webui;

import static io.espalier.webui.Served.text;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.espalier.core.json.Json;
import io.espalier.testkit.api.ApiFixture;
import io.espalier.webui.http.WebSecurity;
import io.espalier.webui.security.AuditEntry;
import io.espalier.webui.security.AuditLog;
import io.espalier.webui.security.Credentials;
import io.espalier.webui.security.MemoryAuditLog;
import io.espalier.webui.v1.ApiV1;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** Whatever changes something is on record before it is answered. */
class AuditTest {
  private static final String OPERATOR = "token-of-the-operator";
  private static final String ADMIN = "token-of-the-admin";

  @TempDir Path directory = Path.of("");
  private AuditLog log = new MemoryAuditLog(1_000);
  private Served served = Served.standard();

  @BeforeEach
  void start() throws Exception {
    Path file =
        Files.writeString(
            directory.resolve("tokens"), "olga operator " + OPERATOR + "\nada admin " + ADMIN);
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    served.close();
    WebSecurity security = WebSecurity.open().withAudit(log).withCredentials(Credentials.of(file));
    served = Served.with(ApiFixture.standard(), o -> o.withSecurity(security));
  }

  @AfterEach
  void stop() {
    served.close();
  }

  private int send(String method, String path, @Nullable String token, String body) {
    HttpRequest.Builder request =
        served.request(path).method(method, HttpRequest.BodyPublishers.ofString(body));
    if (token != null) {
      request.header("Authorization", "Bearer " + token);
    }
    return served.send(request.build()).statusCode();
  }

  private List<AuditEntry> entries() {
    return log.before(Long.MAX_VALUE, 1_000).toCompletableFuture().join();
  }

  private AuditEntry newest() {
    return entries().get(0);
  }

  @Test
  void aPreviewIsNoAct() {
    String body = "{\"selector\":{\"all\":true},\"preview\":true}";
    assertThat(send("POST", "/api/v1/jobs/backup/rerun", OPERATOR, body)).isEqualTo(200);
    assertThat(entries()).isEmpty();
    assertThat(send("POST", "/api/v1/jobs/nobody/rerun", OPERATOR, body)).isEqualTo(404);
    assertThat(newest().status()).as("what is refused is on record").isEqualTo(404);
  }

  @Test
  void aChangeIsRecordedWithWhoWhatWhyAndHowItEnded() {
    send("POST", "/api/v1/jobs/backup/pause", OPERATOR, "{\"reason\":\"disk full\"}");
    AuditEntry entry = newest();
    assertThat(entry.who()).isEqualTo("olga");
    assertThat(entry.role()).isEqualTo("operator");
    assertThat(entry.address()).isEqualTo("127.0.0.1");
    assertThat(entry.action()).isEqualTo("pause");
    assertThat(entry.target()).isEqualTo("backup");
    assertThat(entry.reason()).isEqualTo("disk full");
    assertThat(entry.status()).isEqualTo(200);
    assertThat(entry.atMillis()).isEqualTo(ApiFixture.NOW_MILLIS);

    send("POST", "/api/v1/jobs/backup/tasks/d%2F12%0Ax/extend", OPERATOR, "{\"seconds\":60}");
    assertThat(newest().target()).as("one line, one name each").isEqualTo("backup/d%2F12%0Ax");
    assertThat(newest().details().toString()).contains("60");

    int status = send("POST", "/api/v1/jobs/nobody/forgive", OPERATOR, "{}");
    assertThat(status).isGreaterThanOrEqualTo(400);
    assertThat(newest().status()).isEqualTo(status);
    assertThat(newest().details().get("refused")).isNotNull();
  }

  @Test
  void theRefusedAreRecordedToo() {
    assertThat(send("POST", "/api/v1/jobs/backup/kill", null, "{}")).isNotEqualTo(200);
    assertThat(send("DELETE", "/api/v1/jobs/backup?reason=x", OPERATOR, "")).isEqualTo(403);
    assertThat(newest().who()).isEqualTo("olga");
    assertThat(newest().action()).isEqualTo("delete jobs");
    assertThat(newest().target()).isEqualTo("backup");
    assertThat(newest().status()).isEqualTo(403);

    assertThat(send("POST", "/api/v1/jobs/backup/pause", null, "{}")).isEqualTo(401);
    assertThat(newest().who()).isEqualTo("anonymous");
    assertThat(newest().role()).isEmpty();
    assertThat(newest().status()).isEqualTo(401);

    assertThat(send("POST", "/", "wrong-token-1234567", "{}")).isEqualTo(401);
    assertThat(newest().action()).isEqualTo("batch");
  }

  @Test
  void theLogIsSearchedByCallerActionAndTarget() {
    send("POST", "/api/v1/jobs/backup/pause", OPERATOR, "{}");
    send("POST", "/api/v1/jobs/backup/tasks/d12/kill", OPERATOR, "{}");
    send("POST", "/api/v1/jobs/backup2/pause", OPERATOR, "{}");
    send("POST", "/api/v1/jobs/backup/pause", null, "{}");
    assertThat(found("")).hasSize(4);
    assertThat(found("?who=anonymous")).containsExactly("pause backup");
    assertThat(found("?who=olga&action=pause")).containsExactly("pause backup2", "pause backup");
    assertThat(found("?who=olga&target=backup")).containsExactly("kill backup/d12", "pause backup");
    assertThat(found("?who=olg")).isEmpty();
    assertThat(found("?action=pause&limit=1")).containsExactly("pause backup");
  }

  @Test
  void neitherLogHasTheJobsAndSettingsThatAreSaved() {
    String job = "{\"command\":[\"/bin/true\",\"S3CR3T\"],\"owner\":\"ada\"}";
    Logger changes = (Logger) LoggerFactory.getLogger("io.espalier.changes");
    ListAppender<ILoggingEvent> lines = new ListAppender<>();
    lines.start();
    changes.addAppender(lines);
    changes.setLevel(Level.INFO);
    try {
      send("PUT", "/api/v1/jobs/new", ADMIN, job);
      send("PUT", "/api/v1/jobs/new", ADMIN, job.replace("\"/bin", "7, \"/bin"));
      send(
          "POST",
          "/api/v1/plans/apply",
          ADMIN,
          "{\"plan\":\"S3CR3T\",\"config\":{\"bistro_job->new\":" + job + "}}");
      send("POST", "/api/v1/jobs/new/pause", ADMIN, "{\"reason\":\"disk full\"}");
    } finally {
      changes.detachAppender(lines);
      changes.setLevel(null);
    }
    List<String> told = lines.list.stream().map(ILoggingEvent::getFormattedMessage).toList();
    assertThat(told).hasSize(4).allMatch(line -> line.contains(" by ada from "));
    assertThat(told.get(0)).startsWith("/api/v1/jobs/{job} ").contains("[\"new\"]");
    assertThat(told.get(3)).contains("disk full");
    assertThat(told.toString()).doesNotContain("S3CR3T");
    assertThat(entries()).hasSize(4);
    assertThat(entries().toString()).doesNotContain("S3CR3T");
  }

  private Json.Obj audit(String query) {
    HttpRequest request =
        served
            .request("/api/v1/audit" + query)
            .header("Authorization", "Bearer " + OPERATOR)
            .build();
    return Served.object(served.send(request));
  }

  private List<String> found(String query) {
    return ((Json.Arr) Objects.requireNonNull(audit(query).get("entries")))
        .items().stream()
            .map(Json.Obj.class::cast)
            .map(entry -> text(entry, "action") + " " + text(entry, "target"))
            .toList();
  }

  @Test
  void aSearchOfALongLogGoesOnWithTheNextPage() {
    AuditEntry one =
        new AuditEntry(0, 1, "ann", "", "", "pause", "backup", "", 200, Json.Obj.EMPTY);
    AuditLog many = new MemoryAuditLog(10_000);
    many.append(one).toCompletableFuture().join();
    for (int i = 0; i < 5_000; i++) {
      many.append(new AuditEntry(0, 1, "bob", "", "", "pause", "backup", "", 200, Json.Obj.EMPTY))
          .toCompletableFuture()
          .join();
    }
    served.close();
    served =
        Served.with(ApiFixture.standard(), o -> o.withSecurity(WebSecurity.open().withAudit(many)));
    Json.Obj first = audit("?who=ann");
    assertThat(first.get("entries")).isEqualTo(new Json.Arr(List.of()));
    assertThat(text(first, "next")).isEqualTo("2");
    Json.Obj second = audit("?who=ann&after=2");
    assertThat(String.valueOf(second.get("entries"))).contains("\"who\":\"ann\"");
    assertThat(text(second, "next")).isEmpty();
  }

  @Test
  void questionsAreNotRecorded() {
    send("GET", ApiV1.JOBS, null, "");
    send("GET", ApiV1.JOBS, OPERATOR, "");
    send("POST", "/", OPERATOR, "{\"j\":{\"handler\":\"jobs\"}}");
    assertThat(entries()).isEmpty();
  }

  @Test
  void eachChangeOfABatchIsRecordedAndARefusedBatchOnce() {
    send(
        "POST",
        "/",
        OPERATOR,
        "{\"a\":{\"handler\":\"forgive_jobs\",\"jobs\":[\"backup\",7]},"
            + "\"b\":{\"handler\":\"kill_task\",\"job_id\":\"nobody\",\"node_id\":\"d 1\"}}");
    assertThat(entries()).hasSize(2);
    assertThat(newest().action()).isEqualTo("kill_task");
    assertThat(newest().target()).isEqualTo("nobody/d%201");
    assertThat(newest().status()).isEqualTo(400);
    assertThat(newest().details().get("refused")).isNotNull();
    assertThat(entries().get(1).target()).isEqualTo("backup 7");

    send("POST", "/", OPERATOR, "{\"a\":{\"handler\":\"delete_job\",\"job_id\":\"backup\"}}");
    assertThat(newest().status()).isEqualTo(403);
    assertThat(newest().target()).isEqualTo("delete_job");
  }

  @Test
  void itIsReadNewestFirstInPages() {
    for (int i = 0; i < 3; i++) {
      send("POST", "/api/v1/jobs/backup/pause", OPERATOR, "{\"reason\":\"" + i + "\"}");
    }
    Json.Obj page = page("?limit=2");
    assertThat(page.get("next")).isEqualTo(Json.of("2"));
    assertThat(page.toString()).contains("\"reason\":\"2\"").doesNotContain("\"reason\":\"0\"");
    Json.Obj last = page("?limit=2&after=2");
    assertThat(last.get("next")).isEqualTo(Json.of(""));
    assertThat(last.toString()).contains("\"reason\":\"0\"");
  }

  private Json.Obj page(String query) {
    HttpResponse<String> response =
        served.send(
            served
                .request(ApiV1.AUDIT + query)
                .header("Authorization", "Bearer " + OPERATOR)
                .build());
    return Served.object(response);
  }

  @Test
  void strangersCannotPushOutWhatOthersDid() {
    send("POST", "/api/v1/jobs/backup/pause", OPERATOR, "{}");
    for (int i = 0; i < 300; i++) {
      send("POST", "/api/v1/jobs/backup/pause", null, "{}");
    }
    assertThat(entries().size()).isBetween(50, 150);
  }

  @Test
  void aChangeIsAnsweredOnlyWhenItIsOnRecord() throws Exception {
    CompletableFuture<Void> disk = new CompletableFuture<>();
    try (Served slow = Served.with(ApiFixture.standard(), o -> o.withSecurity(slow(disk)))) {
      CompletableFuture<HttpResponse<String>> answer =
          slow.client.sendAsync(
              slow.request("/api/v1/jobs/backup/resume")
                  .POST(HttpRequest.BodyPublishers.noBody())
                  .build(),
              HttpResponse.BodyHandlers.ofString());
      org.awaitility.Awaitility.await().until(() -> !slow.scheduler.calls().isEmpty());
      assertThat(answer).isNotDone();
      disk.completeExceptionally(new IOException("no space left"));
      assertThat(answer.join().statusCode()).as("what is done is done").isEqualTo(200);
    }
  }

  private static WebSecurity slow(CompletableFuture<Void> disk) {
    return WebSecurity.open()
        .withAudit(
            new AuditLog() {
              @Override
              public CompletionStage<Void> append(AuditEntry entry) {
                return disk;
              }

              @Override
              public CompletionStage<List<AuditEntry>> before(long id, int limit) {
                return CompletableFuture.completedFuture(List.of());
              }

              @Override
              public Optional<String> problem() {
                return Optional.empty();
              }

              @Override
              public void close() {}
            });
  }
}
