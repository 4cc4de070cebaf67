package io.espalier.webui;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.espalier.core.api.view.TaskView;
import io.espalier.core.logs.LogLine;
import io.espalier.core.status.TaskStatus;
import io.espalier.testkit.api.ApiFixture;
import io.espalier.testkit.api.FakeScheduler;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class LogStreamTest {
  private static FakeScheduler scheduler() {
    return new FakeScheduler()
        .load(ApiFixture.config(), ApiFixture.topology(), ApiFixture.NOW_MILLIS);
  }

  private static void write(FakeScheduler scheduler, String node, int from, int to) {
    for (int i = from; i <= to; i++) {
      scheduler.log(
          new LogLine(i, LogLine.Stream.STDOUT, "backup", node, "1.7", i, "line " + i + "\n"));
    }
  }

  private static List<String> ids(Reading stream, String lastId) throws IOException {
    return stream.idsUntil("\"id\":\"" + lastId + "\"");
  }

  @Test
  void linesComeAsTheyAreWrittenFromNowOn() throws IOException {
    FakeScheduler scheduler = scheduler();
    write(scheduler, "d11", 1, 3);
    try (Served served = Served.of(scheduler);
        Reading stream = new Reading(served, "/api/v1/logs?job=backup")) {
      List<String> head = stream.until("retry:");
      assertThat(head.get(0)).isEqualTo("HTTP/1.1 200 OK");
      assertThat(head).contains("Content-Type: text/event-stream; charset=utf-8");
      // Now is when its first look is over; one more line each try until one is seen.
      int[] next = {4};
      Thread writer =
          new Thread(
              () ->
                  await()
                      .until(
                          () -> {
                            write(scheduler, "d11", next[0], next[0]);
                            return ++next[0] > 20;
                          }));
      writer.start();
      List<String> seen = stream.until("\"text\":\"line 1");
      assertThat(seen).noneMatch(line -> line.contains("\"id\":\"3\""));
      assertThat(seen.get(seen.size() - 1))
          .contains("\"stream\":\"stdout\",\"job\":\"backup\",\"node\":\"d11\"")
          .contains("\"invocation\":\"1.7\"");
    }
  }

  @Test
  void aClientBeginsWhereItWantsAndResumesAfterTheLastLineItHas() throws IOException {
    FakeScheduler scheduler = scheduler();
    write(scheduler, "d11", 1, 700);
    try (Served served = Served.of(scheduler);
        Reading begin = new Reading(served, "/api/v1/logs?from=100&job=backup");
        Reading resume = new Reading(served, "/api/v1/logs?from=1", "Last-Event-ID: 697")) {
      assertThat(ids(begin, "700")).hasSize(601).startsWith("100").endsWith("700");
      assertThat(ids(resume, "700")).containsExactly("698", "699", "700");
      write(scheduler, "d12", 701, 702);
      assertThat(ids(begin, "702")).containsExactly("701", "702");
      assertThat(ids(resume, "702")).containsExactly("701", "702");
    }
  }

  @Test
  void onlyWhatIsAskedForComes() throws IOException {
    FakeScheduler scheduler = scheduler();
    write(scheduler, "d11", 1, 50);
    write(scheduler, "d12", 51, 99);
    try (Served served = Served.of(scheduler);
        Reading stream = new Reading(served, "/api/v1/logs?from=0&node=d12&regex=5%24")) {
      assertThat(ids(stream, "95")).containsExactly("55", "65", "75", "85", "95");
    }
  }

  @Test
  void withUntilDoneTheStreamEndsAfterTheLastLineOfADoneTask() throws IOException {
    FakeScheduler scheduler = scheduler();
    write(scheduler, "d11", 1, 2);
    scheduler.task(view(TaskStatus.Main.RUNNING));
    try (Served served = Served.of(scheduler);
        Reading stream =
            new Reading(served, "/api/v1/logs?from=0&job=backup&node=d11&until_done=true")) {
      assertThat(ids(stream, "2")).hasSize(2);
      write(scheduler, "d11", 3, 3);
      scheduler.task(view(TaskStatus.Main.DONE));
      List<String> rest = stream.until("{\"end\"");
      assertThat(rest).anyMatch(line -> line.contains("\"id\":\"3\"")).contains("event: end");
    }
  }

  private static TaskView view(TaskStatus.Main main) {
    return TaskView.of("backup", "d11", "disk", TaskStatus.of(main, 0, 1));
  }

  @Test
  void badRequestsAreRefusedBeforeTheStreamBegins() throws IOException {
    try (Served served = Served.of(scheduler())) {
      for (String bad :
          List.of(
              "?regex=(",
              "?stream=x",
              "?from=-1",
              "?order=asc",
              "?until_done=true",
              "?until_done=maybe&job=a&node=b")) {
        try (Reading stream = new Reading(served, "/api/v1/logs" + bad)) {
          assertThat(stream.line()).as(bad).contains("400");
        }
      }
      try (Reading stream = new Reading(served, "/api/v1/logs", "Last-Event-ID: x")) {
        assertThat(stream.line()).contains("400");
      }
    }
  }

  @Test
  void aClientThatReadsNothingIsDisconnectedAndHoldsUpNobody() throws IOException {
    FakeScheduler scheduler = scheduler();
    String text = "x".repeat(20_000) + "\n";
    for (int i = 1; i <= 2000; i++) {
      scheduler.log(new LogLine(i, LogLine.Stream.STDOUT, "backup", "d11", i, text));
    }
    WebOptions.Limits limits =
        new WebOptions.Limits(
            1 << 20, 10, 10, Duration.ofMillis(900), Duration.ofSeconds(5), Duration.ofSeconds(30));
    try (Served served = Served.with(scheduler, o -> o.withLimits(limits));
        Reading stuck = new Reading(served, "/api/v1/logs?from=0");
        Reading other = new Reading(served, "/api/v1/logs?from=1990")) {
      stuck.until("retry:");
      assertThat(ids(other, "2000")).hasSize(11);
      await().until(() -> served.get("/metrics").body().contains("espalier_http_log_streams 1.0"));
      write(scheduler, "d12", 2001, 2001);
      assertThat(ids(other, "2001")).containsExactly("2001");
    }
  }
}
