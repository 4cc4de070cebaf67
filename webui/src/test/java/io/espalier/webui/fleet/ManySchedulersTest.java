package io.espalier.webui.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.espalier.core.json.Json;
import io.espalier.json.JsonReader;
import io.espalier.webui.FleetServed;
import io.espalier.webui.fleet.poll.FleetOptions;
import io.espalier.webui.fleet.poll.FleetSchedulerState;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** A thousand schedulers, of whom some are slow, dead, or talk rubbish. */
@Tag("slow")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ManySchedulersTest {
  private static final int COUNT = 1_000;
  private static final int GOOD = COUNT - 6 * 20;

  /** The slow ones must still be waited for when all the others have answered. */
  private static final FleetOptions PATIENT =
      FleetOptions.DEFAULT
          .withTimes(Duration.ofSeconds(5), Duration.ofSeconds(5), Duration.ofMinutes(5))
          .withAnswerBytes(256 << 10);

  private final SimulatedSchedulers many = new SimulatedSchedulers(COUNT);
  private final FleetServed served = new FleetServed(many.addresses(), PATIENT);

  @BeforeAll
  void allButTheSlowOnesHaveAnswered() {
    await()
        .atMost(Duration.ofSeconds(60))
        .untilAsserted(
            () -> {
              Map<FleetSchedulerState, Integer> states = served.fleet.view().states();
              assertThat(states.get(FleetSchedulerState.ANSWERED)).isEqualTo(GOOD);
              assertThat(states.get(FleetSchedulerState.SLOW)).isEqualTo(20);
            });
  }

  @AfterAll
  void close() {
    served.close();
    many.close();
  }

  private static long number(Json.@Nullable Obj of, String key) {
    return ((Json.Num) Objects.requireNonNull(Objects.requireNonNull(of).get(key)))
        .value()
        .longValue();
  }

  private static List<Json> list(Json.Obj of, String key) {
    return ((Json.Arr) Objects.requireNonNull(of.get(key))).items();
  }

  private static Json.Obj object(Json.Obj of, String key) {
    return (Json.Obj) Objects.requireNonNull(of.get(key));
  }

  @Test
  void theOverviewIsThereWhileTheSlowOnesAreStillWaitedFor() {
    Json.Obj overview = served.get("/api/v1/fleet/overview");
    assertThat(many.slowAsked).hasValue(20);
    Json.Obj states = object(object(overview, "schedulers"), "states");
    assertThat(number(states, "answered")).isEqualTo(GOOD);
    assertThat(number(states, "slow")).isEqualTo(20);
    assertThat(number(states, "dead")).isEqualTo(20);
    assertThat(number(states, "refused")).isEqualTo(20);
    assertThat(number(states, "error")).isEqualTo(60);
    assertThat(list(overview, "jobs")).hasSize(SimulatedSchedulers.JOBS);
    Json.Obj progress = object(overview, "progress");
    assertThat(number(progress, "total")).isEqualTo(GOOD * 20_000L);
    assertThat(number(progress, "running")).isEqualTo(GOOD * 60L);
    assertThat(number(overview, "running_total")).isEqualTo(GOOD * 60L);
  }

  @Test
  void whoAnswersWithoutEndIsCutOff() {
    Json.Obj bad = served.get("/api/v1/fleet/schedulers?state=error&limit=100");
    assertThat(list(bad, "schedulers"))
        .extracting(one -> String.valueOf(((Json.Obj) one).get("detail")))
        .containsOnly(
            "\"the answer is longer than 262144 bytes\"",
            "\"the answer is not JSON: is it a scheduler?\"",
            "\"status 500: out of order\"");
    assertThat(number(bad, "matching")).isEqualTo(60);
  }

  @Test
  void troublesOfTheSameKindAreOneWithACount() {
    Json.Obj problems = served.get("/api/v1/fleet/problems");
    assertThat(list(problems, "problems"))
        .filteredOn(
            one ->
                ((Json.Obj) one).get("kind") instanceof Json.Str s
                    && s.value().equals("connection"))
        .allSatisfy(one -> assertThat(number((Json.Obj) one, "count")).isEqualTo(20))
        .hasSize(6);
  }

  @Test
  void differingSettingsAreShownWithWhoHasThem() {
    Json.Obj job = served.get("/api/v1/fleet/jobs/job3?only=differing");
    assertThat(number(job, "schedulers")).isEqualTo(GOOD);
    assertThat(number(job, "differing_on")).isEqualTo(10);
    assertThat(list(job, "hosts")).hasSize(10);
    List<Json> configs = list(job, "configs");
    assertThat(configs).hasSize(2);
    Json.Obj other = (Json.Obj) configs.get(1);
    assertThat(number(other, "count")).isEqualTo(10);
    assertThat(list(other, "differences"))
        .containsExactly(
            Json.object().put("path", "priority").put("majority", 1).put("here", 2).build());
  }

  @Test
  void stuckJobsAreCountedStandInFrontAndSayWhere() {
    Json.Obj overview = served.get("/api/v1/fleet/overview");
    assertThat(number(overview, "jobs_stuck")).isEqualTo(1);
    Json.Obj first = (Json.Obj) list(overview, "jobs").get(0);
    assertThat(first.get("name")).isEqualTo(Json.of("job5"));
    assertThat(number(first, "stuck_on")).isEqualTo(10);
    assertThat(list(served.get("/api/v1/fleet/jobs/job5?only=stuck"), "hosts"))
        .hasSize(10)
        .allSatisfy(
            host -> assertThat(((Json.Obj) host).get("job_state")).isEqualTo(Json.of("stuck")));
  }

  @Test
  void tasksThatCanNeverStartAreListedOverAllWithTheSchedulersThatHaveTheMost() {
    Json.Obj overview = served.get("/api/v1/fleet/overview");
    assertThat(number(overview, "jobs_hindered")).isEqualTo(2);
    Json.Obj most = (Json.Obj) list(overview, "hindered").get(0);
    assertThat(most.get("job")).isEqualTo(Json.of("job6"));
    assertThat(number(most, "tasks")).isEqualTo(10 * 9 + 100 * 45);
    assertThat(number(most, "schedulers")).isEqualTo(10);
    assertThat(list(most, "hosts"))
        .extracting(host -> String.valueOf(((Json.Obj) host).get("reason")))
        .containsExactly(
            "\"the limit of h909 is 0\"",
            "\"the limit of h809 is 0\"",
            "\"the limit of h709 is 0\"",
            "\"the limit of h609 is 0\"",
            "\"the limit of h509 is 0\"");
    Json.Obj second = (Json.Obj) list(overview, "hindered").get(1);
    assertThat(second.get("job")).isEqualTo(Json.of("job5"));
    assertThat(number(second, "tasks")).isEqualTo(970);
    assertThat(list(served.get("/api/v1/fleet/jobs/job6?only=hindered"), "hosts"))
        .hasSize(10)
        .first()
        .satisfies(
            host ->
                assertThat(((Json.Obj) host).get("never_reason"))
                    .isEqualTo(Json.of("the limit of h109 is 0")));
  }

  @Test
  void causesAndReasonsAreAddedUpOverAllThatHaveTheJob() {
    Json.Obj failures = served.get("/api/v1/fleet/jobs/job3/failures");
    assertThat(number(failures, "missing_total")).isEqualTo(COUNT - GOOD);
    Json.Obj cause = (Json.Obj) list(failures, "groups").get(0);
    assertThat(number(failures, "groups_total")).isEqualTo(1);
    assertThat(number(cause, "count")).isEqualTo(2 * GOOD);
    assertThat(number(cause, "failed")).isEqualTo(GOOD);
    assertThat(number(cause, "schedulers")).isEqualTo(GOOD);
    assertThat(list(cause, "hosts")).hasSize(20);
    Json.Obj waiting = served.get("/api/v1/fleet/jobs/job3/waiting");
    assertThat(list(waiting, "reasons")).as("they differ only in the node").hasSize(1);
    assertThat(number(waiting, "total")).isEqualTo(2 * GOOD);
  }

  @Test
  void oneKindOfAJobIsShownWithoutTheOthers() {
    Json.Obj job = served.get("/api/v1/fleet/jobs/job3");
    Json.Obj other = (Json.Obj) list(job, "configs").get(1);
    String kind = ((Json.Str) Objects.requireNonNull(other.get("hash"))).value();
    Json.Obj ofKind = served.get("/api/v1/fleet/jobs/job3?kind=" + kind);
    assertThat(number(ofKind, "schedulers")).isEqualTo(10);
    assertThat(list(ofKind, "configs")).hasSize(2);
    Json.Obj failures = served.get("/api/v1/fleet/jobs/job3/failures?kind=" + kind);
    assertThat(number(failures, "asked")).isEqualTo(10);
    HttpResponse<String> none =
        served.send(served.request("/api/v1/fleet/jobs/job3?kind=none").build());
    assertThat(none.statusCode()).isEqualTo(404);
    String preview = "{\"preview\":true,\"kind\":\"" + kind + "\"}";
    assertThat(served.post("/api/v1/fleet/jobs/job3/pause", preview).body())
        .contains("\"meant\":10,");
  }

  @Test
  void nodesThatTwoSchedulersHaveAreFound() {
    await()
        .atMost(Duration.ofSeconds(60))
        .untilAsserted(
            () ->
                assertThat(
                        number(
                            object(served.get("/api/v1/fleet/problems"), "duplicate_nodes"),
                            "checked"))
                    .isEqualTo(GOOD));
    Json.Obj nodes = object(served.get("/api/v1/fleet/problems"), "duplicate_nodes");
    assertThat(number(nodes, "total")).isEqualTo(GOOD / 2);
    assertThat(list(nodes, "duplicates")).hasSize(100);
  }

  @Test
  void logsOfAllComeMergedAndSayWhoIsMissing() {
    Json.Obj logs = served.get("/api/v1/fleet/logs?job=job1&limit=5");
    assertThat(list(logs, "lines"))
        .extracting(line -> String.valueOf(((Json.Obj) line).get("text")))
        .containsExactly(
            "\"line of 999\"",
            "\"line of 998\"",
            "\"line of 997\"",
            "\"line of 996\"",
            "\"line of 995\"");
    assertThat(number(logs, "missing_total")).isEqualTo(120);
    String next = ((Json.Str) Objects.requireNonNull(logs.get("next"))).value();
    assertThat(list(served.get("/api/v1/fleet/logs?job=job1&limit=1&after=" + next), "lines"))
        .extracting(line -> String.valueOf(((Json.Obj) line).get("text")))
        .containsExactly("\"line of 994\"");
  }

  @Test
  void anActionSaysWhatEachSchedulerMadeOfIt() {
    String path = "/api/v1/fleet/jobs/job5/pause";
    HttpResponse<String> preview = served.post(path, "{\"preview\":true}");
    assertThat(preview.body()).contains("\"meant\":" + COUNT);
    assertThat(many.told(8)).isEmpty();
    HttpResponse<String> wrong = served.post(path, "{\"expect_hosts\":3}");
    assertThat(wrong.statusCode()).isEqualTo(409);
    assertThat(many.told(8)).isEmpty();
    HttpResponse<String> done =
        served.post(
            path,
            "{\"reason\":\"a test\",\"hosts\":[\"h8\",\"h9\",\"h51\",\"h54\",\"h55\",\"h50\"]}");
    assertThat(done.statusCode()).isEqualTo(200);
    Json.Obj answer = (Json.Obj) Objects.requireNonNull(JsonReader.parse(done.body()).value());
    Json.Obj results = object(answer, "results");
    assertThat(number(results, "ok")).isEqualTo(2);
    assertThat(number(results, "unreachable")).isEqualTo(1);
    assertThat(number(results, "refused")).isEqualTo(1);
    assertThat(number(results, "failed")).isEqualTo(1);
    assertThat(number(results, "pending")).isEqualTo(1);
    assertThat(number(answer, "changed")).isEqualTo(3);
    assertThat(many.told(8)).containsExactly("/api/v1/jobs/job5/pause {\"reason\":\"a test\"}");
    assertThat(served.post(path, "{\"hosts\":[\"nobody\"]}").statusCode()).isEqualTo(404);
    assertThat(served.post("/api/v1/fleet/jobs/nojob/pause", "{}").statusCode()).isEqualTo(404);
    assertThat(served.post("/api/v1/fleet/jobs/job5/explode", "{}").statusCode()).isEqualTo(404);
  }

  @Test
  void aBrakeIsSetOnAllSchedulersAndEachHasAResult() {
    try (FleetServed some = new FleetServed(many.addresses().subList(104, 108), PATIENT)) {
      HttpResponse<String> done =
          some.post("/api/v1/brakes", "{\"reason\":\"the network\",\"throttle_running\":true}");
      assertThat(done.statusCode()).isEqualTo(200);
      Json.Obj answer = (Json.Obj) Objects.requireNonNull(JsonReader.parse(done.body()).value());
      assertThat(answer.get("job")).isNull();
      assertThat(number(answer, "meant")).isEqualTo(4);
      assertThat(number(object(answer, "results"), "ok")).isEqualTo(2);
      assertThat(number(object(answer, "results"), "refused")).isEqualTo(1);
      assertThat(number(object(answer, "results"), "failed")).isEqualTo(1);
      some.post("/api/v1/brakes/release", "{}");
      assertThat(many.told(106))
          .containsExactly(
              "/api/v1/brakes {\"reason\":\"the network\",\"throttle_running\":true}",
              "/api/v1/brakes/release {}");
      assertThat(some.post("/api/v1/brakes", "{\"what\":1}").statusCode()).isEqualTo(400);
    }
  }

  @Test
  void whoLeavesTheListIsNotShownAnyMoreAndTheOthersKeepWhatIsKnown() {
    try (FleetServed some = new FleetServed(many.addresses().subList(6, 12), PATIENT)) {
      await()
          .atMost(Duration.ofSeconds(30))
          .until(() -> some.fleet.view().count(FleetSchedulerState.ANSWERED) == 6);
      some.fleet.follow("a test", many.addresses().subList(8, 13));
      await().atMost(Duration.ofSeconds(30)).until(() -> some.fleet.view().hosts().size() == 5);
      assertThat(some.fleet.view().hosts().get(0).summary()).isNotNull();
      await()
          .atMost(Duration.ofSeconds(30))
          .until(() -> some.fleet.view().count(FleetSchedulerState.ANSWERED) == 5);
    }
  }
}
