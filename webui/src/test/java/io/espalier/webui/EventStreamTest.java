package io.espalier.webui;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.espalier.core.json.Json;
import io.espalier.testkit.api.ApiFixture;
import io.espalier.testkit.api.FakeEventFeed;
import io.espalier.testkit.api.FakeScheduler;
import java.io.IOException;
import java.io.InputStream;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class EventStreamTest {
  private static FakeScheduler schedulerHolding(int capacity) {
    return new FakeScheduler(new FakeEventFeed(capacity))
        .load(ApiFixture.config(), ApiFixture.topology(), ApiFixture.NOW_MILLIS);
  }

  private static void happen(FakeScheduler scheduler, int from, int to) {
    for (int i = from; i <= to; i++) {
      scheduler.events().add(i, "step", Json.object().put("i", i).build());
    }
  }

  private static List<String> ids(Reading stream, String lastId) throws IOException {
    return stream.idsUntil("\"sequence\":" + lastId + ",");
  }

  @Test
  void eventsComeAsTheyHappenFromNowOn() throws IOException {
    FakeScheduler scheduler = schedulerHolding(100);
    happen(scheduler, 1, 3);
    try (Served served = Served.of(scheduler);
        Reading stream = new Reading(served, "/api/v1/events")) {
      List<String> head = stream.until("retry:");
      assertThat(head.get(0)).isEqualTo("HTTP/1.1 200 OK");
      assertThat(head).contains("Content-Type: text/event-stream; charset=utf-8");
      await().until(() -> scheduler.events().subscribers() == 1);

      happen(scheduler, 4, 5);

      assertThat(stream.until("id: 4")).noneMatch(line -> line.startsWith("id: 3"));
      assertThat(stream.until("data:"))
          .contains("data: {\"sequence\":4,\"time_ms\":4,\"kind\":\"step\",\"data\":{\"i\":4}}");
      assertThat(stream.until("id: 5")).isNotEmpty();
    }
    await().until(() -> scheduler.events().subscribers() == 0);
  }

  @Test
  void aClientResumesAfterTheLastEventItKnowsWithoutLossOrRepetition() throws IOException {
    FakeScheduler scheduler = schedulerHolding(1000);
    happen(scheduler, 1, 500);
    try (Served served = Served.of(scheduler);
        Reading header = new Reading(served, "/api/v1/events?after=1", "Last-Event-ID: 497");
        Reading parameter = new Reading(served, "/api/v1/events?after=200")) {
      assertThat(ids(header, "500")).containsExactly("498", "499", "500");
      assertThat(ids(parameter, "500")).hasSize(300).startsWith("201").endsWith("500");
      happen(scheduler, 501, 501);
      assertThat(ids(header, "501")).containsExactly("501");
    }
  }

  @Test
  void aClientIsToldOfAGapFirst() throws IOException {
    FakeScheduler scheduler = schedulerHolding(10);
    happen(scheduler, 1, 50);
    try (Served served = Served.of(scheduler);
        Reading stream = new Reading(served, "/api/v1/events", "Last-Event-ID: 5")) {
      assertThat(stream.until("event: gap")).noneMatch(line -> line.startsWith("id:"));
      assertThat(stream.until("data:")).containsExactly("data: {\"after\":5,\"oldest\":41}");
      assertThat(ids(stream, "50")).hasSize(10).startsWith("41");
    }
  }

  @Test
  void whatIsNoLongerInTheBufferIsReadFromTheStoreWithoutLossOrRepetition() throws IOException {
    FakeScheduler scheduler =
        new FakeScheduler(new FakeEventFeed(10).storingAll())
            .load(ApiFixture.config(), ApiFixture.topology(), ApiFixture.NOW_MILLIS);
    happen(scheduler, 1, 500);
    try (Served served = Served.of(scheduler);
        Reading stream = new Reading(served, "/api/v1/events", "Last-Event-ID: 5")) {
      assertThat(ids(stream, "500")).hasSize(495).startsWith("6").endsWith("500");
      happen(scheduler, 501, 501);
      assertThat(ids(stream, "501")).containsExactly("501");
      assertThat(served.get("/api/v1/events?after=7&limit=2").body())
          .startsWith("{\"oldest\":8,\"newest\":501,")
          .contains("\"sequence\":8,", "\"sequence\":9,");
    }
  }

  private static void about(FakeScheduler scheduler, String kind, String job, String node) {
    Json.Obj data = Json.object().put("job", job).put("node", node).build();
    scheduler.events().add(ApiFixture.NOW_MILLIS, kind, data);
  }

  @Test
  void aFilteredStreamTellsHowFarItIsAndResumesThereWithoutLossOrRepetition() throws IOException {
    WebOptions.Limits limits =
        new WebOptions.Limits(
            1 << 20, 10, 10, Duration.ofMillis(900), Duration.ofSeconds(5), Duration.ofSeconds(30));
    FakeScheduler scheduler = schedulerHolding(1000);
    String path = "/api/v1/events?job=backup&kind=task_started&kind=task_ended&after=0";
    try (Served served = Served.with(scheduler, o -> o.withLimits(limits))) {
      try (Reading stream = new Reading(served, path)) {
        about(scheduler, "task_started", "backup", "a"); // 1
        about(scheduler, "task_started", "scrub", "a"); // 2
        about(scheduler, "job_paused", "backup", ""); // 3
        about(scheduler, "task_ended", "backup", "a"); // 4
        about(scheduler, "task_ended", "scrub", "a"); // 5
        assertThat(ids(stream, "4")).containsExactly("1", "4");
        // A block without data is no event, but its id counts.
        assertThat(stream.until("id: 5")).noneMatch(line -> line.contains("scrub"));
        assertThat(stream.line()).isEmpty();
      }
      about(scheduler, "task_started", "scrub", "b"); // 6
      about(scheduler, "task_started", "backup", "b"); // 7
      try (Reading again = new Reading(served, path, "Last-Event-ID: 5")) {
        assertThat(ids(again, "7")).containsExactly("7");
      }
      // Whoever has seen no id of events that do not fit loses nothing either.
      try (Reading again = new Reading(served, path, "Last-Event-ID: 1")) {
        assertThat(ids(again, "7")).containsExactly("4", "7");
      }
    }
  }

  @Test
  void aFilteredStreamReadsFromTheStoreWhatIsNoLongerInTheBuffer() throws IOException {
    FakeScheduler scheduler =
        new FakeScheduler(new FakeEventFeed(10).storingAll())
            .load(ApiFixture.config(), ApiFixture.topology(), ApiFixture.NOW_MILLIS);
    for (int i = 1; i <= 3_000; i++) {
      about(scheduler, "task_ended", i % 1_000 == 0 ? "backup" : "scrub", "a");
    }
    try (Served served = Served.of(scheduler);
        Reading stream = new Reading(served, "/api/v1/events?job=backup", "Last-Event-ID: 5");
        Reading node = new Reading(served, "/api/v1/events?node=b&after=0")) {
      assertThat(ids(stream, "3000")).containsExactly("1000", "2000", "3000");
      Json tasks = Json.strings(List.of("a", "b"));
      Json.Obj many = Json.object().put("job", "scrub").put("tasks", tasks).build();
      scheduler.events().add(1, "tasks_rerun", many);
      assertThat(ids(node, "3001")).containsExactly("3001");
    }
  }

  @Test
  void aStreamBeginsAtATime() throws IOException {
    FakeScheduler scheduler = schedulerHolding(1000);
    happen(scheduler, 1, 500);
    try (Served served = Served.of(scheduler);
        Reading stream = new Reading(served, "/api/v1/events?since_ms=498")) {
      assertThat(ids(stream, "500")).containsExactly("498", "499", "500");
      happen(scheduler, 501, 501);
      assertThat(ids(stream, "501")).containsExactly("501");
    }
  }

  @Test
  void aPageHasTheNewestEventsThatFitOrTheFirstSinceATime() {
    FakeScheduler scheduler =
        new FakeScheduler(new FakeEventFeed(10).storingAll())
            .load(ApiFixture.config(), ApiFixture.topology(), ApiFixture.NOW_MILLIS);
    for (int i = 1; i <= 5_000; i++) {
      String job = i % 100 == 0 ? "backup" : "scrub";
      scheduler.events().add(i, "task_ended", Json.object().put("job", job).build());
    }
    try (Served served = Served.of(scheduler)) {
      assertThat(sequences(served, "job=backup&limit=2")).containsExactly(4_900L, 5_000L);
      assertThat(sequences(served, "job=backup&limit=2&before=4900"))
          .containsExactly(4_700L, 4_800L);
      assertThat(sequences(served, "job=backup&limit=2&since_ms=150")).containsExactly(200L, 300L);
      assertThat(sequences(served, "job=backup&limit=2&since_ms=150&after=300"))
          .containsExactly(400L, 500L);
      assertThat(sequences(served, "kind=job_state")).isEmpty();
      assertThat(sequences(served, "kind=&set=&limit=2"))
          .as("an empty word is not given")
          .containsExactly(4_999L, 5_000L);
      Json.Obj page = Served.object(served.get("/api/v1/events?job=backup&limit=2"));
      assertThat(page.get("searched_after")).isEqualTo(Json.of(4_899));
      assertThat(page.get("searched_to")).isEqualTo(Json.of(5_000));
      assertThat(page.get("oldest")).isEqualTo(Json.of(1));
    }
  }

  private static List<Long> sequences(Served served, String query) {
    Json events = Served.object(served.get("/api/v1/events?" + query)).get("events");
    return ((Json.Arr) Objects.requireNonNull(events))
        .items().stream()
            .map(event -> (Json.Num) Objects.requireNonNull(((Json.Obj) event).get("sequence")))
            .map(number -> number.value().longValueExact())
            .toList();
  }

  @Test
  void filtersThatCannotFitAnythingAreRefusedBothWays() {
    try (Served served = Served.standard()) {
      for (String accept : List.of("application/json", "text/event-stream")) {
        assertThat(refusal(served, accept, "kind=task_end", 400))
            .contains("there is no kind of event", "did you mean", "task_ended");
        assertThat(refusal(served, accept, "since_ms=32503680000000", 400))
            .contains("since_ms", "is in the future: 3000-01-01T00:00:00Z");
        assertThat(refusal(served, accept, "since_ms=yesterday", 400)).contains("since_ms");
        assertThat(refusal(served, accept, "set=nothing", 404)).contains("no job belongs to a set");
        assertThat(refusal(served, accept, "jobs=a", 400)).contains("unknown parameter");
      }
      assertThat(refusal(served, "application/json", "after=1&before=5", 400)).contains("not both");
    }
  }

  private static String refusal(Served served, String accept, String query, int status) {
    HttpResponse<String> answer =
        served.send(served.request("/api/v1/events?" + query).header("Accept", accept).build());
    assertThat(answer.statusCode()).as(query).isEqualTo(status);
    return answer.body();
  }

  @Test
  void aNumberOfAnotherLifeOfTheSchedulerIsAGapToo() throws IOException {
    FakeScheduler scheduler = schedulerHolding(10);
    happen(scheduler, 1, 2);
    try (Served served = Served.of(scheduler);
        Reading stream = new Reading(served, "/api/v1/events", "Last-Event-ID: 999")) {
      stream.until("event: gap");
      assertThat(ids(stream, "2")).containsExactly("1", "2");
    }
  }

  @Test
  void aClientThatDoesNotReadIsDroppedAndNothingIsBufferedForIt() throws IOException {
    FakeScheduler scheduler = schedulerHolding(50);
    Json.Obj large = Json.object().put("text", "x".repeat(20_000)).build();
    try (Served served = Served.of(scheduler);
        Reading stalled = new Reading(served, "/api/v1/events");
        Reading reading = new Reading(served, "/api/v1/events")) {
      stalled.until("retry:");
      reading.until("retry:");
      await().until(() -> scheduler.events().subscribers() == 2);

      long sent = 0;
      for (int i = 0; i < 100_000 && scheduler.events().subscribers() == 2; i++) {
        sent = scheduler.events().add(i, "large", large).sequence();
        // The other client reads everything and must not be disturbed.
        reading.until("\"sequence\":" + sent + ",");
      }

      assertThat(scheduler.events().subscribers()).isEqualTo(1);
      assertThat(sent).as("far less than would be needed to fill memory").isLessThan(5_000);
      happen(scheduler, 1, 1);
      reading.until("\"kind\":\"step\"");
      assertThat(served.get("/metrics").body())
          .contains("espalier_http_streams_dropped_total 1.0")
          .contains("espalier_http_streams 1.0");
    }
  }

  @Test
  void aQuietStreamIsKeptAlive() throws IOException {
    WebOptions.Limits limits =
        new WebOptions.Limits(
            1 << 20, 10, 10, Duration.ofMillis(900), Duration.ofSeconds(5), Duration.ofSeconds(30));
    try (Served served = Served.with(schedulerHolding(10), o -> o.withLimits(limits));
        Reading stream = new Reading(served, "/api/v1/events")) {
      for (int i = 0; i < 5; i++) {
        stream.until(": alive");
      }
    }
  }

  @Test
  void tooManyStreamsAreTurnedAway() throws IOException {
    try (Served served =
            Served.with(
                schedulerHolding(10), o -> o.withLimits(Served.limits(1, Duration.ofSeconds(5))));
        Reading first = new Reading(served, "/api/v1/events")) {
      first.until("retry:");
      HttpRequest second =
          served.request("/api/v1/events").header("Accept", "text/event-stream").build();
      assertThat(served.send(second).statusCode()).isEqualTo(429);
      first.hangUp();
      await()
          .untilAsserted(
              () -> {
                try (Reading third = new Reading(served, "/api/v1/events")) {
                  assertThat(third.line()).isEqualTo("HTTP/1.1 200 OK");
                }
              });
    }
  }

  @Test
  void oneAddressGetsHalfOfTheStreamsAndKeepsNobodyElseOut() throws IOException {
    try (Served served =
            Served.with(
                schedulerHolding(10), o -> o.withLimits(Served.limits(4, Duration.ofSeconds(5))));
        Reading first = new Reading(served, "/api/v1/events");
        Reading second = new Reading(served, "/api/v1/events")) {
      first.until("retry:");
      second.until("retry:");
      try (Reading third = new Reading(served, "/api/v1/events")) {
        List<String> refused = third.until("too many event streams at a time from this address");
        assertThat(refused.get(0)).isEqualTo("HTTP/1.1 429 Too Many Requests");
        assertThat(refused).contains("Retry-After: 1");
      }
      try (Reading elsewhere = Reading.from("127.0.0.2", served, "/api/v1/events")) {
        assertThat(elsewhere.line()).isEqualTo("HTTP/1.1 200 OK");
      }
      first.hangUp();
      await()
          .untilAsserted(
              () -> {
                try (Reading again = new Reading(served, "/api/v1/events")) {
                  assertThat(again.line()).isEqualTo("HTTP/1.1 200 OK");
                }
              });
    }
  }

  @Test
  void aClientThatTakesOnlyJsonGetsAPage() {
    FakeScheduler scheduler = schedulerHolding(10);
    happen(scheduler, 1, 50);
    try (Served served = Served.of(scheduler)) {
      Json.Obj recent = Served.object(served.get("/api/v1/events?limit=2"));
      assertThat(recent)
          .isEqualTo(
              Served.json(
                  "{\"oldest\":41,\"newest\":50,\"events\":["
                      + "{\"sequence\":49,\"time_ms\":49,\"kind\":\"step\",\"data\":{\"i\":49}},"
                      + "{\"sequence\":50,\"time_ms\":50,\"kind\":\"step\",\"data\":{\"i\":50}}]}"));
    }
  }

  @Test
  void whereToBeginMustBeANumber() {
    try (Served served = Served.standard()) {
      for (String bad : List.of("x", "-1", "1e3", "99999999999999999999")) {
        HttpResponse<String> refused =
            served.send(
                served
                    .request("/api/v1/events")
                    .header("Accept", "text/event-stream")
                    .header("Last-Event-ID", bad)
                    .build());
        assertThat(refused.statusCode()).as(bad).isEqualTo(400);
      }
      assertThat(served.send(served.request("/api/v1/events?since=1").build()).statusCode())
          .isEqualTo(400);
    }
  }

  @Test
  void whoDoesNotAskForAStreamGetsAPageThatEnds() {
    try (Served served = Served.standard()) {
      for (String accept : List.of("*/*", "application/json", "text/html, */*;q=0.8")) {
        HttpResponse<String> page =
            served.send(served.request("/api/v1/events?limit=1").header("Accept", accept).build());
        assertThat(page.statusCode()).as(accept).isEqualTo(200);
        assertThat(String.valueOf(Served.object(page).get("events")))
            .as(accept)
            .contains("task_ended");
      }
    }
  }

  @Test
  void whoResumesGetsAStreamUnlessItAsksForAPage() throws Exception {
    try (Served served = Served.standard()) {
      for (String path : List.of("/api/v1/events", "/api/v1/logs?stream=stderr")) {
        HttpRequest page =
            served
                .request(path)
                .header("Accept", "application/json")
                .header("Last-Event-ID", "1")
                .build();
        assertThat(served.send(page).statusCode()).as(path).isEqualTo(200);
        HttpRequest stream =
            served.request(path).header("Accept", "*/*").header("Last-Event-ID", "1").build();
        HttpResponse<InputStream> open =
            served.client.send(stream, HttpResponse.BodyHandlers.ofInputStream());
        try (InputStream body = open.body()) {
          assertThat(open.headers().firstValue("Content-Type"))
              .as(path)
              .hasValueSatisfying(type -> assertThat(type).startsWith("text/event-stream"));
          assertThat(body.read()).as(path).isPositive();
        }
      }
    }
  }
}
