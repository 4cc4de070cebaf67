package io.espalier.webui;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.json.Json;
import java.net.http.HttpResponse;
import java.util.Objects;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The tree, one node, and why a job does not get on. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class QueryResourcesTest {
  private final Served served = Served.standard();

  @AfterAll
  void close() {
    served.close();
  }

  private Json.Obj get(String path) {
    HttpResponse<String> response = served.get("/api/v1/" + path);
    assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
    return (Json.Obj) Served.json(response.body());
  }

  private static Json.Obj item(Json.Obj body, String list, int at) {
    return (Json.Obj) ((Json.Arr) Objects.requireNonNull(body.get(list))).items().get(at);
  }

  @Test
  void theTreeComesBreadthFirstWithTheIndexOfEachParent() {
    assertThat(get("tree?job=backup&depth=1"))
        .isEqualTo(
            Served.json(
                """
                {"at_ms":1700000100000,"root":"here","nodes":[
                 {"name":"here","level":"instance","parent":-1,"leaves":4,"children":2,"enabled":true,
                  "resources":[],
                  "states":{"done":1,"failed":1,"cancelled":0,"running":1,"waiting":1,"ready":0,"blocked":0}},
                 {"name":"h1","level":"host","parent":0,"leaves":2,"children":2,"enabled":true,
                  "resources":[{"resource":"conn","used":1,"limit":2}],
                  "states":{"done":1,"failed":0,"cancelled":0,"running":1,"waiting":0,"ready":0,"blocked":0}},
                 {"name":"h2","level":"host","parent":0,"leaves":2,"children":2,"enabled":true,
                  "resources":[{"resource":"conn","used":0,"limit":2}],
                  "states":{"done":0,"failed":1,"cancelled":0,"running":0,"waiting":1,"ready":0,"blocked":0},
                  "closed":[{"kind":"quarantine","node":"h2","until_ms":1700000700000,
                   "message":"the node is quarantined (bad disk)"}],
                  "reserved":{"job":"backup","task":"d22","since_ms":1700000010000,"idle_slots":2}}],
                 "truncated":false}\
                """));
  }

  @Test
  void aSubtreeBeginsAtItsRootAndSaysWhenSomethingIsLeftOut() {
    Json.Obj tree = get("tree?root=h2&level=host&limit=2");
    assertThat(tree.get("root")).isEqualTo(Json.of("h2"));
    assertThat(item(tree, "nodes", 1).get("name")).isEqualTo(Json.of("d21"));
    assertThat(tree.get("truncated")).isEqualTo(Json.Bool.TRUE);
  }

  @Test
  void aNodeTellsWhoHoldsItsSlotsAndWhatIsBelow() {
    Json.Obj node = get("nodes/host/h1");
    assertThat(node.get("parents")).isEqualTo(Served.json("[\"here\"]"));
    assertThat(node.get("resources"))
        .isEqualTo(
            Served.json("[{\"resource\":\"conn\",\"used\":1,\"limit\":2,\"configured\":2}]"));
    assertThat(node.get("holders"))
        .isEqualTo(
            Served.json(
                """
                [{"job":"backup","node":"d12","slots":1,"since_ms":1700000000000,"resource":"conn",
                  "expected_end_ms":1700000220000}]\
                """));
    assertThat(item(node, "jobs", 0))
        .isEqualTo(
            Served.json(
                """
                {"job":"backup",
                 "states":{"done":1,"failed":0,"cancelled":0,"running":1,"waiting":0,"ready":0,"blocked":0}}\
                """));
  }

  @Test
  void aNodeTellsWhatClosesIt() {
    assertThat(get("nodes/host/h1").get("closed")).as("it is open").isNull();
    assertThat(item(get("nodes/host/h2"), "closed", 0).get("message"))
        .isEqualTo(Json.of("the node is quarantined (bad disk)"));
  }

  @Test
  void failuresAreGroupedByCause() {
    assertThat(item(get("jobs/backup/failures"), "groups", 0))
        .isEqualTo(
            Served.json(
                """
                {"fingerprint":"0123456789abcdef","message":"no such table","count":2,"failed":1,
                 "waiting":1,"samples":["d21","d22"],"newest_ms":1700000000000}\
                """));
  }

  @Test
  void levelsCountNodesByStateWithSamples() {
    Json.Obj hosts = item(get("jobs/backup/levels?samples=1"), "levels", 1);
    assertThat(hosts)
        .isEqualTo(
            Served.json(
                """
                {"level":"host","nodes":2,"states":{"done":1,"failed":1,"cancelled":0,"running":1,"waiting":1,
                  "ready":0,"blocked":0,"avoided":0,"disabled":0},
                 "samples":{"done":["h1"],"running":["h1"],"failed":["h2"],"waiting":["h2"]}}\
                """));
  }

  @Test
  void theEndOfAJobIsEstimated() {
    Json.Obj eta = get("jobs/backup/eta?assume_ms=30000");
    assertThat(eta.without("at_ms"))
        .isEqualTo(
            Served.json(
                """
                {"job":"backup","left":7,"never":2,"p50_seconds":90,"p90_seconds":120,
                 "bottleneck":{"kind":"resource","level":"host","node":"h1","resource":"slots","limit":2,
                  "gain_seconds":30,"gain_of_level_seconds":40}}\
                """));
  }

  @Test
  void theLastHourOfAJobHasMinutesDurationsAndStragglers() {
    Json.Obj activity = get("activity?job=backup");
    assertThat(activity.get("starts"))
        .isInstanceOfSatisfying(Json.Arr.class, starts -> assertThat(starts.items()).hasSize(60));
    assertThat(activity.get("p50_ms")).isEqualTo(Json.of(2_000));
    assertThat(activity.get("p95_ms")).isEqualTo(Json.of(5_000));
    assertThat(activity.get("stragglers_total")).isEqualTo(Json.of(1));
    assertThat(get("activity").get("p50_ms")).isNull();
  }

  @Test
  void aSnapshotIsARecordingInBase64() {
    assertThat(get("snapshot")).isEqualTo(Served.json("{\"recording\":\"AQID\"}"));
  }

  @Test
  void waitingTasksAreCountedByReason() {
    Json.Obj waiting = get("jobs/backup/waiting");
    assertThat(waiting.get("sampled")).isEqualTo(Json.Bool.FALSE);
    assertThat(waiting.get("reasons"))
        .isEqualTo(
            Served.json(
                """
                [{"kind":"backoff","until_ms":1700000105000,"count":1,"message":"back off after their last attempt",
                  "samples":["d22"]}]\
                """));
  }

  @ParameterizedTest
  @CsvSource({
    "tree?root=nowhere, 404",
    "tree?job=nobody, 404",
    "tree?limit=20001, 400",
    "tree?depth=-1, 400",
    "tree?colour=red, 400",
    "nodes/host/d11, 404",
    "nodes/rack/h1, 404",
    "jobs/nobody/waiting, 404",
    "jobs/nobody/failures, 404",
    "jobs/backup/failures?limit=0, 400",
    "jobs/nobody/levels, 404",
    "jobs/backup/levels?samples=21, 400",
    "jobs/nobody/eta, 404",
    "activity?job=nobody, 404",
    "jobs/backup/eta?assume_ms=0, 400",
    "snapshot?full=yes, 400",
  })
  void whatIsWrongIsSaid(String path, int status) {
    assertThat(served.get("/api/v1/" + path).statusCode()).isEqualTo(status);
  }
}
