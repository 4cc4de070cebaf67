package io.espalier.webui;

import static io.espalier.webui.Served.text;
import static io.espalier.webui.Served.texts;
import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.api.Command;
import io.espalier.core.json.Json;
import io.espalier.core.outcome.JobState;
import io.espalier.core.problem.Problem;
import io.espalier.core.status.store.LimitOverride;
import io.espalier.testkit.api.FakeScheduler;
import java.net.URLEncoder;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The lists of the API: their filters and pages. */
class ApiV1ListsTest {
  private final Served served = Served.standard();

  @AfterEach
  void stop() {
    served.close();
  }

  @Test
  void tasksComeInPages() {
    Json.Obj first = served.read("/api/v1/jobs/backup/tasks?limit=3");
    assertThat(texts(first, "tasks", "node")).containsExactly("d11", "d12", "d21");
    Json.Obj second = served.read("/api/v1/jobs/backup/tasks?limit=3&after=" + text(first, "next"));
    assertThat(texts(second, "tasks", "node")).containsExactly("d22");
    assertThat(text(second, "next")).isEmpty();
    assertThat(texts(served.read("/api/v1/jobs/backup/tasks?status=failed"), "tasks", "node"))
        .containsExactly("d21");
    assertThat(
            texts(
                served.read("/api/v1/jobs/backup/tasks?status=failed&status=done"),
                "tasks",
                "node"))
        .as("in the order of nodes, not of statuses")
        .containsExactly("d11", "d21");
    assertThat(texts(served.read("/api/v1/jobs/backup/tasks?prefix=d1"), "tasks", "node"))
        .containsExactly("d11", "d12");
    Json.Obj part = served.read("/api/v1/jobs/backup/tasks?contains=2&limit=1&total=true");
    assertThat(texts(part, "tasks", "node")).containsExactly("d12");
    assertThat(part.get("total")).isEqualTo(Json.of(3));
    assertThat(first.get("total")).as("nobody asked").isNull();
  }

  @Test
  void nodesComeInNodeOrderAndInPages() {
    Json.Obj first = served.read("/api/v1/nodes?limit=3");
    assertThat(texts(first, "nodes", "name")).containsExactly("here", "h1", "h2");
    Json.Obj second = served.read("/api/v1/nodes?limit=3&after=" + text(first, "next"));
    assertThat(texts(second, "nodes", "name")).containsExactly("d11", "d12", "d21");
    Json.Obj last = served.read("/api/v1/nodes?limit=3&after=" + text(second, "next"));
    assertThat(texts(last, "nodes", "name")).containsExactly("d22");
    assertThat(text(last, "next")).isEmpty();
    assertThat(texts(served.read("/api/v1/nodes?level=host&prefix=h2"), "nodes", "name"))
        .containsExactly("h2");
    assertThat(((Json.Arr) Objects.requireNonNull(second.get("nodes"))).items().get(2))
        .isEqualTo(
            Served.json(
                """
                {"name":"d21","level":"db","parents":["h2"],"enabled":true,"tags":["ssd"],
                 "attributes":{"size":3}}\
                """));
  }

  @Test
  void runningTasksAreFilteredAndComeInPagesByTheirStarts() {
    assertThat(served.read("/api/v1/running?node=d12&worker=here&fields=waited_ms").get("running"))
        .isEqualTo(
            Served.json(
                """
                [{"job":"backup","node":"d12","attempt":1,"worker":"here","waited_ms":2500,
                 "started_at_ms":1700000000000,"invocation":"1.1"}]\
                """));
    assertThat(texts(served.read("/api/v1/running?node=d11"), "running", "node")).isEmpty();
    assertThat(texts(served.read("/api/v1/running?worker=w9"), "running", "node")).isEmpty();
    assertThat(texts(served.read("/api/v1/running?after=1.0"), "running", "node"))
        .containsExactly("d12");
    assertThat(texts(served.read("/api/v1/running?after=1.1"), "running", "node")).isEmpty();
    assertThat(served.get("/api/v1/running?after=x").statusCode()).isEqualTo(400);
  }

  @Test
  void jobsAreFilteredAndComeInPages() {
    served.scheduler.jobState("backup", JobState.FAILED, "too many");
    assertThat(texts(served.read("/api/v1/jobs?state=failed&state=stuck"), "jobs", "name"))
        .containsExactly("backup");
    assertThat(served.read("/api/v1/jobs?state=&fields=&label=").get("jobs"))
        .as("an empty word is not given")
        .isEqualTo(served.read("/api/v1/jobs").get("jobs"));
    assertThat(texts(served.read("/api/v1/jobs?set=nightly&owner=ops"), "jobs", "name"))
        .containsExactly("backup");
    assertThat(texts(served.read("/api/v1/jobs?owner=nobody"), "jobs", "name")).isEmpty();
    assertThat(texts(served.read("/api/v1/jobs?queue=default&prefix=s"), "jobs", "name"))
        .containsExactly("scrub");
    assertThat(
            texts(served.read("/api/v1/jobs?label=team%3Dstorage&label=tier%3D1"), "jobs", "name"))
        .containsExactly("backup");
    assertThat(
            texts(served.read("/api/v1/jobs?label=team%3Dstorage&label=tier%3D2"), "jobs", "name"))
        .isEmpty();
    Json.Obj first = served.read("/api/v1/jobs?limit=2&fields=state");
    assertThat(texts(first, "jobs", "name")).containsExactly("backup", "broken");
    assertThat(((Json.Arr) Objects.requireNonNull(first.get("jobs"))).items().get(0))
        .isEqualTo(
            Served.json(
                """
                {"name":"backup","owner":"ops","enabled":true,"valid":true,"paused":false,
                 "level":"db","priority":1,"depends_on":[],"state":"failed"}\
                """));
    Json.Obj second = served.read("/api/v1/jobs?limit=2&after=" + text(first, "next"));
    assertThat(texts(second, "jobs", "name")).containsExactly("scrub");
    assertThat(text(second, "next")).isEmpty();
    assertThat(served.read("/api/v1/jobs").get("next")).isNull();
  }

  @Test
  void everythingThatIsWrongWithTheFilterOfAListIsSaid() {
    HttpResponse<String> refused =
        served.get("/api/v1/jobs?state=fine&fields=progress&fields=nope&limit=0&onwer=me");
    assertThat(refused.statusCode()).isEqualTo(400);
    assertThat(texts(Served.object(refused), "violations", "parameter"))
        .contains("state", "fields", "limit", "onwer");
    assertThat(served.get("/api/v1/workers?state=ill").statusCode()).isEqualTo(400);
  }

  @Test
  void queuesAreFilteredByTheirName() {
    assertThat(texts(served.read("/api/v1/queues?name=etl&name=none"), "queues", "name"))
        .containsExactly("etl");
    assertThat(texts(served.read("/api/v1/queues?name=none"), "queues", "name")).isEmpty();
    Json.Obj page = served.read("/api/v1/queues?limit=1");
    assertThat(texts(page, "queues", "name")).containsExactly("etl");
    assertThat(text(page, "next")).as("it is the last one").isEmpty();
    assertThat(texts(served.read("/api/v1/queues?after=etl"), "queues", "name")).isEmpty();
  }

  @Test
  void workersAndSetsComeInPagesIfWanted() {
    for (List<String> list : List.of(List.of("workers", "shard"), List.of("sets", "name"))) {
      String path = "/api/v1/" + list.get(0);
      Json.Obj whole = served.read(path);
      assertThat(whole.get("next")).as("v1 answers stay as they are").isNull();
      List<String> paged = new ArrayList<>();
      String after = "";
      do {
        String query =
            after.isEmpty() ? "" : "&after=" + URLEncoder.encode(after, StandardCharsets.UTF_8);
        Json.Obj page = served.read(path + "?limit=1" + query);
        assertThat(texts(page, list.get(0), list.get(1))).hasSizeLessThanOrEqualTo(1);
        paged.addAll(texts(page, list.get(0), list.get(1)));
        after = text(page, "next");
      } while (!after.isEmpty());
      assertThat(paged)
          .isNotEmpty()
          .isSorted()
          .containsExactlyInAnyOrderElementsOf(texts(whole, list.get(0), list.get(1)));
      assertThat(served.get(path + "?limit=1001").statusCode()).isEqualTo(400);
    }
    String first = text(served.read("/api/v1/workers?limit=1"), "next");
    assertThat(first).as("there is more than one worker").isNotEmpty();
  }

  @Test
  void overridesOfLimitsAreFilteredByWhatTheyLimit() {
    LimitOverride h1 = new LimitOverride("host", "slots", "h1", 3, "", "", 0, 0);
    LimitOverride level = new LimitOverride("host", "slots", "", 2, "", "", 0, 0);
    LimitOverride memory = new LimitOverride("db", "memory", "r1", 1, "", "", 0, 0);
    for (LimitOverride each : List.of(h1, level, memory)) {
      served.scheduler.run(new Command.SetLimit(each, 0)).toCompletableFuture().join();
    }
    assertThat(texts(served.read("/api/v1/limits?level=host"), "overrides", "resource"))
        .containsExactly("slots", "slots");
    assertThat(texts(served.read("/api/v1/limits?resource=memory"), "overrides", "node"))
        .containsExactly("r1");
    assertThat(texts(served.read("/api/v1/limits?node=h1&node=r1"), "overrides", "node"))
        .containsExactly("h1", "r1");
    assertThat(texts(served.read("/api/v1/limits?node=h1&level=db"), "overrides", "node"))
        .isEmpty();
    assertThat(served.read("/api/v1/limits").get("next")).as("nobody asked for a page").isNull();
    List<String> paged = new ArrayList<>();
    String after = "";
    do {
      Json.Obj page = served.read("/api/v1/limits?limit=1" + after);
      paged.addAll(texts(page, "overrides", "level"));
      after = "&after=" + URLEncoder.encode(text(page, "next"), StandardCharsets.UTF_8);
    } while (!after.equals("&after="));
    assertThat(paged).containsExactly("db", "host", "host");
  }

  @Test
  void workersAreFilteredByTheirState() {
    List<String> all = texts(served.read("/api/v1/workers"), "workers", "state");
    assertThat(all).isNotEmpty();
    assertThat(texts(served.read("/api/v1/workers?state=" + all.get(0)), "workers", "state"))
        .containsOnly(all.get(0));
    assertThat(texts(served.read("/api/v1/workers?state=gone"), "workers", "state")).isEmpty();
  }

  @Test
  void logsComeInPages() {
    Json.Obj first = served.read("/api/v1/logs?job=backup&order=asc&limit=2");
    assertThat(texts(first, "lines", "text")).containsExactly("line 0\n", "line 1\n");
    Json.Obj second =
        served.read("/api/v1/logs?job=backup&order=asc&limit=2&from=" + text(first, "next"));
    assertThat(texts(second, "lines", "text")).containsExactly("line 2\n");
    assertThat(text(second, "next")).isEmpty();
    assertThat(texts(served.read("/api/v1/logs?node=d12&regex=%5Eline"), "lines", "text"))
        .containsExactly("line 2\n");
    assertThat(texts(served.read("/api/v1/logs?stream=stderr"), "lines", "text")).isEmpty();
  }

  @Test
  void problemsArePagedByTheirSeverityAndPath() {
    List<Problem> all = new ArrayList<>();
    for (int i = 0; i < 1_200; i++) {
      String path = "bistro_settings.jobs.\u00e4+" + i;
      all.add(Problem.warning(path, "is odd"));
      all.add(Problem.error(path, "is wrong"));
      all.add(Problem.error(path, "is wrong in another way"));
    }
    try (Served other = Served.of(new FakeScheduler().problems(all))) {
      assertThat(Served.object(other.get("/api/v1/problems")).members())
          .as("nobody asked for a page")
          .doesNotContainKeys("next", "total");
      assertThat(pagesOfProblems(other, "", 1_000))
          .hasSize(3_600)
          .doesNotHaveDuplicates()
          .isSortedAccordingTo(
              Comparator.comparing((Json.Obj it) -> text(it, "severity"))
                  .thenComparing(it -> text(it, "path")));
      assertThat(pagesOfProblems(other, "&severity=warning", 500))
          .hasSize(1_200)
          .allSatisfy(it -> assertThat(text(it, "message")).isEqualTo("is odd"));
      Json.Obj first = Served.object(other.get("/api/v1/problems?severity=error&limit=7"));
      assertThat(first.get("total")).isEqualTo(Json.of(2_400));
      for (String limit : List.of("0", "1001", "x")) {
        assertThat(other.get("/api/v1/problems?limit=" + limit).statusCode()).isEqualTo(400);
      }
    }
  }

  @Test
  void aProblemThatEndsBetweenTwoPagesHidesNoOther() {
    Problem a = Problem.error("a", "is wrong");
    Problem b = Problem.error("b", "is wrong");
    Problem third = Problem.error("c", "is wrong");
    FakeScheduler scheduler = new FakeScheduler().problems(List.of(a, b, third, b));
    try (Served other = Served.of(scheduler)) {
      Json.Obj first = Served.object(other.get("/api/v1/problems?limit=2"));
      assertThat(texts(first, "problems", "path")).containsExactly("a", "b");
      scheduler.problems(List.of(third));
      Json.Obj second =
          Served.object(other.get("/api/v1/problems?limit=2&after=" + encoded(first)));
      assertThat(texts(second, "problems", "path")).containsExactly("c");
      assertThat(text(second, "next")).isEmpty();
    }
  }

  private static List<Json.Obj> pagesOfProblems(Served server, String filter, int size) {
    List<Json.Obj> found = new ArrayList<>();
    String after = "";
    do {
      Json.Obj page =
          Served.object(server.get("/api/v1/problems?limit=" + size + filter + "&after=" + after));
      ((Json.Arr) Objects.requireNonNull(page.get("problems")))
          .items()
          .forEach(item -> found.add((Json.Obj) item));
      after = encoded(page);
    } while (!after.isEmpty());
    return found;
  }

  private static String encoded(Json.Obj page) {
    return URLEncoder.encode(text(page, "next"), StandardCharsets.UTF_8);
  }
}
