package io.espalier.webui;

import static io.espalier.webui.Served.text;
import static io.espalier.webui.Served.texts;
import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.api.Command;
import io.espalier.core.api.ProblemAges;
import io.espalier.core.api.TaskSelection;
import io.espalier.core.api.view.RunningCall;
import io.espalier.core.api.view.RunningTaskView;
import io.espalier.core.api.view.TaskDeadlines;
import io.espalier.core.api.view.TaskView;
import io.espalier.core.json.Json;
import io.espalier.core.outcome.JobState;
import io.espalier.core.problem.Problem;
import io.espalier.core.running.CallPoll;
import io.espalier.core.running.Invocation;
import io.espalier.core.status.TaskStatus;
import io.espalier.testkit.api.ApiFixture;
import io.espalier.testkit.api.FakeScheduler;
import java.net.URLEncoder;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ApiV1Test {
  private final Served served = Served.standard();

  @AfterEach
  void stop() {
    served.close();
  }

  @Test
  void jobsTellTheirProgress() {
    Json.Obj body = served.read("/api/v1/jobs");
    assertThat(texts(body, "jobs", "name")).containsExactly("backup", "broken", "scrub");
    assertThat(((Json.Arr) Objects.requireNonNull(body.get("jobs"))).items().get(0))
        .isEqualTo(
            Served.json(
                """
                {"name":"backup","owner":"ops","enabled":true,"valid":true,"paused":false,"level":"db",
                 "priority":1,"depends_on":[],"set":"nightly","labels":{"team":"storage","tier":"1"},
                 "tasks_never":2,"never_reason":"it needs 2 of slots",
                 "queue":"default","rate_per_second":0,"progress":{"total":4,"done":1,"failed":1,"cancelled":0,
                 "running":1,"waiting":1,"ready":0,"blocked":0,"avoided":0,"disabled":0}}\
                """));
  }

  @Test
  void aJobTellsHowItStandsAsAWhole() {
    served.scheduler.jobState("backup", JobState.FAILED, "6 of 53 ended tasks failed, 5 % allowed");
    Json.Obj job = served.read("/api/v1/jobs/backup");
    assertThat(text(job, "state")).isEqualTo("failed");
    assertThat(text(job, "state_reason")).isEqualTo("6 of 53 ended tasks failed, 5 % allowed");
    assertThat(job.get("state_since_ms")).isEqualTo(Json.of(ApiFixture.NOW_MILLIS));
    assertThat(served.read("/api/v1/jobs/scrub").get("state")).isNull();
  }

  @Test
  void aJobTellsWhatItIsForAndWhereToReadOnWithoutSecrets() {
    Json.Obj job = served.read("/api/v1/jobs/backup");
    assertThat(text(job, "description")).isEqualTo("Copies all databases.");
    assertThat(job.get("labels")).isEqualTo(Served.json("{\"team\":\"storage\",\"tier\":\"1\"}"));
    assertThat(String.valueOf(job.get("links")))
        .contains("https://wiki.example/backup?token=")
        .doesNotContain("hunter2");
    Json.Obj silent = served.read("/api/v1/jobs/scrub");
    assertThat(silent.members()).doesNotContainKeys("description", "labels", "links");
    assertThat(served.get("/api/v1/jobs?label=team").statusCode()).isEqualTo(400);
  }

  @Test
  void aJobWithErrorsHasNothingReadyAndSaysWhy() {
    Json.Obj job = served.read("/api/v1/jobs/broken");
    assertThat(text(job, "problem")).contains("is missing");
    Json.Obj progress = (Json.Obj) Objects.requireNonNull(job.get("progress"));
    assertThat(progress.get("ready")).isEqualTo(Json.of(0));
    assertThat(progress.get("blocked")).isEqualTo(Json.of(4));
  }

  @Test
  void aJobTellsItsProblemsAndBothOfItsForms() {
    Json.Obj job = served.read("/api/v1/jobs/broken");
    assertThat(job.get("valid")).isEqualTo(Json.Bool.FALSE);
    assertThat(job.get("problems"))
        .isEqualTo(
            Served.json(
                """
                [{"severity":"error","path":"bistro_job->broken.owner","message":"is missing",
                  "hint":"add it"}]\
                """));
    assertThat(job.get("original")).isEqualTo(Served.json("{\"owner\":\"ops\"}"));
    assertThat(((Json.Obj) Objects.requireNonNull(job.get("effective"))).get("level_for_tasks"))
        .isEqualTo(Json.of("db"));
  }

  @Test
  void aRunningTaskTellsItsProgressItsCheckpointAndItsTime() {
    Json.Obj task = served.read("/api/v1/jobs/backup/tasks/d12");
    assertThat(task.get("checkpoint"))
        .isEqualTo(Served.json("{\"done\":120,\"total\":300,\"cursor\":\"pk=8\"}"));
    Json.Obj running = (Json.Obj) Objects.requireNonNull(task.get("running"));
    assertThat(running.get("timeout_at_ms")).isEqualTo(Json.of(1_700_000_300_000L));
  }

  @Test
  void aTaskIsGivenMoreTime() {
    HttpResponse<String> response =
        served.post("/api/v1/jobs/backup/tasks/d12/extend", "{\"seconds\": 60.5}");
    assertThat(Served.object(response))
        .isEqualTo(
            Served.json("{\"job\":\"backup\",\"node\":\"d12\",\"timeout_at_ms\":1700000360500}"));
    assertThat(served.scheduler.calls())
        .containsExactly(new Command.Extend("backup", "d12", 60_500, "", ""));
    for (String bad : new String[] {"0", "-1", "1e10", "\"60\"", "null"}) {
      assertThat(
              served
                  .post("/api/v1/jobs/backup/tasks/d12/extend", "{\"seconds\": " + bad + "}")
                  .statusCode())
          .as(bad)
          .isEqualTo(400);
    }
    assertThat(served.post("/api/v1/jobs/backup/tasks/d11/extend", "{\"seconds\": 1}").statusCode())
        .isEqualTo(409);
  }

  @Test
  void whatIsLeftOfAJobThatIsOverIsCancelled() {
    assertThat(texts(served.read("/api/v1/jobs/backup/tasks"), "tasks", "phase"))
        .containsExactly("succeeded", "running", "failed", "incomplete");
    served.scheduler.jobState("backup", JobState.STOPPED, "");
    assertThat(texts(served.read("/api/v1/jobs/backup/tasks"), "tasks", "phase"))
        .containsExactly("succeeded", "running", "failed", "cancelled");
    served.scheduler.jobState("backup", JobState.OPEN, "");
    assertThat(text(served.read("/api/v1/jobs/backup/tasks/d22"), "phase")).isEqualTo("incomplete");
  }

  @Test
  void queuesTellWhatTheyHaveAndWhatIsDueToThem() {
    assertThat(served.read("/api/v1/queues").get("queues"))
        .isEqualTo(
            Served.json(
                """
                [{"name":"etl","priority_factor":0.5,"running":3,"jobs":2,"waiting_jobs":1,
                  "waiting_tasks":40,"use":0.25,"current_priority":0.125,"effective_priority":0.0625,
                  "share":1,"resources":{"slots":{"held":3,"cap":5,"total":12},
                  "locks":{"held":1,"total":4}}}]\
                """));
  }

  @Test
  void groupsTellWhoIsBusy() {
    assertThat(served.read("/api/v1/groups").get("kinds"))
        .isEqualTo(
            Served.json(
                """
                [{"name":"replset","level":"host","by":"attribute:replset","groups":1,"full":1,
                  "members":2,"busy":1,"waiting":1,"outside":1}]\
                """));
    assertThat(served.read("/api/v1/groups/replset?state=full&limit=1"))
        .isEqualTo(
            Served.json(
                """
                {"groups":[{"name":"rs-1","limit":1,"size":2,"busy":1,"members":[
                  {"node":"h1","running":2,"job":"backup","task":"d11"},
                  {"node":"h2","running":0}]}],"next":""}\
                """));
  }

  @Test
  void aTaskTellsWhatIsKnownAndLeavesOutTheRest() {
    assertThat(served.read("/api/v1/jobs/backup/tasks/d11"))
        .isEqualTo(
            Served.json(
                """
                {"job":"backup","node":"d11","level":"db","status":"done","phase":"succeeded","bits":4,"attempts":1,
                 "since_ms":1700000000000,"data":{"rows":7},
                 "history":{"ended":0,"cpu_ms":0,"ran_ms":0,"waited_ms":0,"attempts":[]}}\
                """));
    assertThat(served.read("/api/v1/jobs/scrub/tasks/h1"))
        .isEqualTo(
            Served.json(
                """
                {"job":"scrub","node":"h1","level":"host","status":"unstarted","phase":"pending","bits":1,
                 "attempts":0,"history":{"ended":0,"cpu_ms":0,"ran_ms":0,"waited_ms":0,"attempts":[]}}\
                """));
  }

  @Test
  void aTaskHasItsPastAttempts() {
    assertThat(served.read("/api/v1/jobs/backup/tasks/d21").get("history"))
        .isEqualTo(
            Served.json(
                """
                {"ended":3,"cpu_ms":1500,"ran_ms":9900,"waited_ms":4000,"counters":{"rows":1300},"attempts":[
                 {"attempt":2,"invocation":"1.5","worker":"","waited_ms":4000,
                  "eligible_at_ms":1699999935000,"process_started_at_ms":1699999939100,
                  "started_at_ms":1699999939000,
                  "ended_at_ms":1699999940000,"end":"exited","status":"error_backoff","bits":96,
                  "exit_code":3,"core_dumped":false,"made_progress":false,"counters":{"rows":1200},"usage":{"cpu_ms":250,
                  "peak_memory_bytes":3000000,"read_bytes":0,"written_bytes":12345678},
                  "message":"no such table","fingerprint":"0123456789abcdef"},
                 {"attempt":3,"invocation":"1.7","worker":"w1","worker_instance":"ff",
                  "started_at_ms":1699999991000,"ended_at_ms":1700000000000,"end":"killed",
                  "status":"failed","bits":16,"signal":9,"core_dumped":true,"made_progress":false,
                  "stop_reason":"no_output","step":"ship","usage":{},"message":"ended by signal 9",
                  "fingerprint":"fedcba9876543210"}]}\
                """));
  }

  @Test
  void tasksBelowANodeHaveTheirHistoriesAndAddUp() {
    Json.Obj page = served.read("/api/v1/jobs/backup/tasks?under=h2&history=true");
    assertThat(((Json.Arr) Objects.requireNonNull(page.get("tasks"))).items())
        .map(task -> ((Json.Obj) task).get("history"))
        .containsExactly(
            served.read("/api/v1/jobs/backup/tasks/d21").get("history"),
            served.read("/api/v1/jobs/backup/tasks/d22").get("history"));
    assertThat(served.read("/api/v1/jobs/backup/sums?under=h2"))
        .isEqualTo(
            Served.json(
                """
                {"ended":3,"cpu_ms":1500,"ran_ms":9900,"waited_ms":4000,"counters":{"rows":1300},
                 "tasks":2}\
                """));
    assertThat(served.get("/api/v1/jobs/backup/tasks?history=true&limit=201").statusCode())
        .isEqualTo(400);
    assertThat(served.get("/api/v1/jobs/backup/tasks?history=x").statusCode()).isEqualTo(400);
  }

  @Test
  void onlySoManyJobsAreAddedUpAtATime() {
    CompletableFuture<Void> gate = new CompletableFuture<>();
    served.scheduler.answersAfter(gate);
    List<CompletableFuture<Integer>> statuses =
        IntStream.range(0, 9)
            .mapToObj(
                i ->
                    served
                        .client
                        .sendAsync(
                            served.request("/api/v1/jobs/backup/sums").build(),
                            HttpResponse.BodyHandlers.discarding())
                        .thenApply(HttpResponse::statusCode))
            .toList();
    assertThat(CompletableFuture.anyOf(statuses.toArray(new CompletableFuture<?>[0])).join())
        .isEqualTo(503);
    gate.complete(null);
    assertThat(statuses).map(CompletableFuture::join).containsOnlyOnce(503).contains(200);
    assertThat(served.get("/api/v1/jobs/backup/sums").statusCode()).isEqualTo(200);
  }

  @Test
  void namesMayContainAnything() {
    String odd = "a/b c%2F?ü";
    served.scheduler.task(
        TaskView.of("backup", odd, "db", TaskStatus.of(TaskStatus.Main.DONE, 0, 1)));
    HttpResponse<String> response =
        served.get("/api/v1/jobs/backup/tasks/a%2Fb%20c%252F%3F%C3%BC/explain");
    assertThat(text(Served.object(response), "detail")).contains("\"" + odd + "\"");
  }

  @Test
  void anExplanationGivesAllReasonsByKind() {
    assertThat(served.read("/api/v1/jobs/backup/tasks/d22/explain"))
        .isEqualTo(
            Served.json(
                """
                {"job":"backup","node":"d22","startable":false,"status":"error_backoff","reasons":[
                 {"kind":"backoff","until_ms":1700000105000,"message":"waits after an error"},
                 {"kind":"resource","node":"h2","resource":"conn","need":1,"free":0,"limit":2,
                  "holders":[{"job":"scrub","node":"h2","slots":2,"since_ms":1700000000000,
                   "expected_end_ms":1700000160000}],"holders_total":1,"free_at_ms":1700000160000,
                  "message":"host h2 has no free conn"}],
                 "path":[{"node":"here","level":"instance","enabled":true,"resources":[],"blocks":false},
                  {"node":"h2","level":"host","enabled":true,"blocks":true,
                   "resources":[{"resource":"conn","need":1,"used":2,"limit":2}]},
                  {"node":"d22","level":"db","enabled":false,"blocks":false,
                   "resources":[{"resource":"lock","need":1,"used":0,"limit":1}]}]}\
                """));
  }

  @Test
  void aHistogramHasBitsWordsAndBistrosCode() {
    Json.Obj histogram = served.read("/api/v1/jobs/scrub/histogram?samples=1");
    assertThat(histogram)
        .isEqualTo(
            Served.json(
                """
                {"job":"scrub","levels":{
                 "instance":[{"bits":1,"encoded":"B","status":"unstarted","count":1,
                   "samples":["here"]}],
                 "host":[{"bits":1,"encoded":"B","status":"unstarted","count":2,
                   "samples":["h1"]}]}}\
                """));
    assertThat(served.get("/api/v1/jobs/broken/histogram").statusCode()).isEqualTo(404);
  }

  @Test
  void runningTasksSayWhereAndSinceWhen() {
    assertThat(served.read("/api/v1/running?job=backup&job=other"))
        .isEqualTo(
            Served.json(
                """
                {"published_at_ms":1700000100000,"total":1,"running":[{"job":"backup","node":"d12",
                 "attempt":1,"worker":"here","started_at_ms":1700000000000,"invocation":"1.1",
                 "waited_ms":2500,"eligible_at_ms":1699999997500,"timeout_at_ms":1700000300000,"progress":{"done":120,"total":300,"cursor":"pk=8",
                 "rate_per_sec":1.5,"seconds_left":120},
                 "usage":{"cpu_ms":1234,"memory_bytes":8500000,"peak_memory_bytes":9000000,
                 "read_bytes":4096,"gpus":["K40 0:3"]}}],"next":""}\
                """));
    assertThat(texts(served.read("/api/v1/running?job=other"), "running", "node")).isEmpty();
  }

  @Test
  void aCallThatIsToBeReportedHasNoTimeUntilItsOutcomeIsUnknownUnlessItIsPolledOrInDoubt() {
    assertThat(calling(new RunningCall("http", true, 60_000, null)))
        .isEqualTo(Served.json("{\"executor\":\"http\",\"awaits\":\"callback\"}"));
    assertThat(calling(new RunningCall("http", false, 60_000, null)))
        .isEqualTo(
            Served.json("{\"executor\":\"http\",\"awaits\":\"answer\",\"unknown_hold_ms\":60000}"));
    assertThat(calling(new RunningCall("http", true, 60_000, new CallPoll(5, "lost", 0))))
        .isEqualTo(
            Served.json(
                """
                {"executor":"http","awaits":"callback","unknown_hold_ms":60000,"polled_at_ms":5,
                 "poll_answer":"lost","in_doubt":true}\
                """));
    assertThat(calling(new RunningCall("http", false, 60_000, new CallPoll(5, "running", 0))))
        .isEqualTo(
            Served.json(
                """
                {"executor":"http","awaits":"answer","unknown_hold_ms":60000,"polled_at_ms":5,
                 "poll_answer":"running","in_doubt":false}\
                """));
    assertThat(calling(new RunningCall("http", false, 60_000, new CallPoll(5, "HTTP 500", 9))))
        .isEqualTo(
            Served.json(
                """
                {"executor":"http","awaits":"answer","unknown_hold_ms":60000,"polled_at_ms":5,
                 "poll_answer":"HTTP 500","next_poll_at_ms":9,"in_doubt":false}\
                """));
  }

  /** Returns what is said of a running call. */
  private static Json calling(RunningCall call) {
    try (Served served = Served.standard()) {
      served.scheduler.runningTask(
          new RunningTaskView(
              "scrub",
              "d22",
              new Invocation(1, 9, 1_000),
              1,
              "here",
              null,
              TaskDeadlines.UNLIMITED,
              null,
              0,
              "",
              "",
              "",
              -1,
              call,
              null,
              null));
      served.scheduler.publish(6_000);
      Json.Obj running = served.read("/api/v1/running?job=scrub");
      Json task = ((Json.Arr) Objects.requireNonNull(running.get("running"))).items().get(0);
      return Objects.requireNonNull(((Json.Obj) task).get("call"));
    }
  }

  @Test
  void aTaskThatIsBeingStoppedSaysSinceWhenAndWhy() {
    assertThat(served.read("/api/v1/running").toString()).doesNotContain("stopping");
    served.scheduler.runningTask(
        new RunningTaskView(
            "scrub",
            "d22",
            new Invocation(1, 9, 1_000),
            1,
            "here",
            null,
            TaskDeadlines.UNLIMITED,
            null,
            0,
            "",
            "",
            "",
            -1,
            null,
            null,
            new RunningTaskView.Stopping(5_000, "killed by ann: it hangs")));
    served.scheduler.publish(6_000);
    Json.Obj running = served.read("/api/v1/running?job=scrub");
    assertThat(((Json.Arr) Objects.requireNonNull(running.get("running"))).items().get(0))
        .isEqualTo(
            Served.json(
                """
                {"job":"scrub","node":"d22","attempt":1,"worker":"here","started_at_ms":1000,
                 "invocation":"1.9",
                 "stopping":{"since_ms":5000,"reason":"killed by ann: it hangs"}}\
                """));
  }

  @Test
  void workersSayWhatTheyHaveMeasuredAndNothingIfTheyHaveNot() {
    List<Json> workers =
        ((Json.Arr) Objects.requireNonNull(served.read("/api/v1/workers").get("workers"))).items();
    assertThat(((Json.Obj) workers.get(0)).get("measured"))
        .isEqualTo(
            Json.object()
                .put("at_ms", ApiFixture.NOW_MILLIS - 2_000)
                .put("cpu_use", 0.35)
                .put("memory_use", 0.8)
                .put("load_1min", 1.25)
                .put("memory_total_bytes", 8_000_000_000L)
                .put("memory_available_bytes", 2_100_000_000L)
                .put("disk_total_bytes", 40_000_000_000L)
                .put("disk_free_bytes", 9_000_000_000L)
                .build());
    assertThat(((Json.Obj) workers.get(1)).get("measured")).isNull();
  }

  @Test
  void settingsAreEffectiveAndKeepTheirSecrets() {
    Json.Obj body = served.read("/api/v1/settings");
    assertThat(body.toString()).doesNotContain("hunter2").contains("reader:***@db");
    assertThat(text(body, "version")).isEqualTo("1.2.3");
    Json.Obj effective = (Json.Obj) Objects.requireNonNull(body.get("effective"));
    assertThat(effective.get("working_wait")).isEqualTo(Json.of(0.5));
    assertThat(effective.get("kill_orphan_tasks_after_sec")).isEqualTo(Json.Bool.FALSE);
    assertThat(effective.get("resources"))
        .isEqualTo(
            Served.json(
                """
                {"host":{"conn":{"default":1,"limit":2,"weight":0}},
                 "db":{"lock":{"default":1,"limit":1,"weight":3}}}\
                """));
  }

  @Test
  void mutationsReachTheScheduler() {
    assertThat(served.post("/api/v1/jobs/backup/forgive", "").body())
        .isEqualTo("{\"job\":\"backup\",\"changed\":1}");
    assertThat(served.post("/api/v1/jobs/backup/pause", "{\"reason\":\"upgrade\"}").body())
        .isEqualTo("{\"job\":\"backup\",\"paused\":true}");
    assertThat(served.post("/api/v1/jobs/backup/resume", "{}").body())
        .isEqualTo("{\"job\":\"backup\",\"paused\":false}");
    assertThat(served.post("/api/v1/jobs/backup/tasks/d12/kill", "").body())
        .isEqualTo("{\"job\":\"backup\",\"node\":\"d12\",\"signaled\":true}");
    assertThat(served.scheduler.calls())
        .containsExactly(
            new Command.Forgive(TaskSelection.all("backup", "", "")),
            new Command.Pause("backup", 0, "", "upgrade"),
            new Command.Resume("backup", "", ""),
            new Command.Kill("backup", "d12", "", ""));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "GET  | jobs/nobody                    | 404 | there is no job \"nobody\"",
        "GET  | jobs/nobody/tasks              | 404 | there is no job \"nobody\"",
        "GET  | jobs/backup/tasks/nowhere      | 404 | there is no node \"nowhere\"",
        "GET  | jobs/backup/tasks?status=dead  | 400 | must be one of unstarted, running",
        "GET  | jobs/backup/tasks?limit=0      | 400 | \"limit\" must be a whole number from 1 to"
            + " 1000",
        "GET  | jobs/backup/tasks?limit=1001   | 400 | not \"1001\"",
        "GET  | jobs/backup/tasks?limit=1&limit=2 | 400 | given more than once",
        "GET  | jobs/backup/tasks?limits=1     | 400 | unknown parameter \"limits\"; there are"
            + " status",
        "GET  | nodes?after=9:x                | 400 | begin again",
        "GET  | nodes?after=x                  | 400 | begin again",
        "GET  | nodes?level=worker             | 400 | must be one of instance, host, db",
        "GET  | logs?regex=(                   | 400 | is not a regular expression",
        "GET  | logs?stream=stdin              | 400 | must be one of stdout, stderr, statuses",
        "GET  | logs?order=up                  | 400 | must be one of asc, desc",
        "GET  | jobs/%zz                       | 400 | cannot be read",
        "GET  | jobs?x=%zz                     | 400 | cannot be read",
        "GET  | jobs?queue=%ff                 | 400 | cannot be read",
        "GET  | jobs/%c3                       | 400 | cannot be read",
        "GET  | jobs/%c3%a4                    | 404 | there is no job \"ä\"",
        "GET  | logs?until_done=               | 400 | unknown parameter \"until_done\"",
        "GET  | nothing                        | 404 | nothing at this path",
        "POST | jobs                           | 405 | this path takes GET, HEAD",
        "GET  | jobs/backup/forgive            | 405 | this path takes POST",
        "POST | jobs/nobody/forgive            | 404 | there is no job",
        "POST | jobs/backup/tasks/d11/kill     | 409 | is not running",
        "POST | jobs/backup/tasks/d12/extend   | 400 | '\"seconds\" is missing in the body'",
      })
  void whatIsWrongIsSaid(String method, String path, int status, String detail) {
    String raw =
        served.raw(
            method
                + " /api/v1/"
                + path
                + " HTTP/1.1\r\n"
                + "Host: localhost\r\n"
                + "Accept: application/json\r\n"
                + "Connection: close\r\n"
                + "Content-Length: 0\r\n\r\n");
    assertThat(raw).startsWith("HTTP/1.1 " + status + " ");
    assertThat(raw).contains("Content-Type: application/problem+json");
    Json.Obj problem = (Json.Obj) Served.json(raw.substring(raw.indexOf("\r\n\r\n")));
    assertThat(problem.get("status")).isEqualTo(Json.of(status));
    assertThat(text(problem, "type")).isEqualTo("about:blank");
    assertThat(text(problem, "title")).isNotEmpty();
    assertThat(text(problem, "detail")).contains(detail);
    assertThat(ContractDocument.SERVED.checkProblem(problem)).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{                | not valid JSON",
        "[]               | the body must be an object, not a list",
        "{\"reason\": 1}  | \"reason\" must be a string, not a number",
        "{\"reasons\": 1} | unknown member \"reasons\" in the body; there are reason",
      })
  void aBadBodyChangesNothing(String body, String detail) {
    HttpResponse<String> response = served.post("/api/v1/jobs/backup/pause", body);
    assertThat(response.statusCode()).isEqualTo(400);
    assertThat(text(Served.object(response), "detail")).contains(detail);
    assertThat(served.scheduler.calls()).isEmpty();
  }

  @Test
  void otherMethodsAreToldWhichThereAre() {
    HttpResponse<String> response =
        served.send(
            served
                .request("/api/v1/jobs/backup/pause")
                .method("DELETE", HttpRequest.BodyPublishers.noBody())
                .build());
    assertThat(response.statusCode()).isEqualTo(405);
    assertThat(response.headers().firstValue("Allow")).contains("POST");
  }

  @Test
  void problemsSaySinceWhenTheyAreThere() {
    Problem problem = Problem.error("bistro_settings", "is missing");
    FakeScheduler failing =
        new FakeScheduler()
            .problems(List.of(problem))
            .problemAges(
                new ProblemAges(
                    Map.of(), Map.of("ERROR bistro_settings is missing", 1_700_000_000_000L)));
    try (Served other = Served.of(failing)) {
      assertThat(other.get("/api/v1/problems").body())
          .contains("\"message\":\"is missing\",\"since_ms\":1700000000000");
      assertThat(other.get("/api/v1/problems?severity=error").body()).contains("is missing");
      assertThat(other.get("/api/v1/problems?severity=warning").body()).contains("\"problems\":[]");
    }
  }

  @Test
  void withoutAConfigurationThereAreOnlyProblems() {
    FakeScheduler empty =
        new FakeScheduler().problems(List.of(Problem.error("bistro_settings", "is missing")));
    try (Served starting = Served.of(empty)) {
      assertThat(starting.get("/api/v1/jobs").statusCode()).isEqualTo(503);
      assertThat(starting.get("/api/v1/nodes").statusCode()).isEqualTo(503);
      assertThat(starting.get("/api/v1/settings").statusCode()).isEqualTo(503);
      assertThat(starting.get("/api/v1/running").statusCode()).isEqualTo(200);
      assertThat(Served.object(starting.get("/api/v1/problems")))
          .isEqualTo(
              Served.json(
                  """
                  {"config_in_force":false,"errors":[],"problems":[{"severity":"error",
                   "path":"bistro_settings","message":"is missing"}]}\
                  """));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {".", "..", "d/1", "%2e", "-"})
  void aNodeOfAnyNameIsAskedForInTheQuery(String node) {
    String query = "?node=" + URLEncoder.encode(node, StandardCharsets.UTF_8);
    for (String path :
        List.of("jobs/backup/tasks/-", "jobs/backup/tasks/-/explain", "nodes/db/-")) {
      HttpResponse<String> answer = served.get("/api/v1/" + path + query);
      assertThat(text(Served.object(answer), "detail"))
          .as(path)
          .startsWith("there is no node \"" + node + "\"");
    }
    assertThat(served.get("/api/v1/jobs/backup/tasks/-" + query + "&node=x").statusCode())
        .isEqualTo(400);
  }
}
