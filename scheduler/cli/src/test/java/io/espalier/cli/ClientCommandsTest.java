package io.espalier.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.cli.client.CommandRun;
import io.espalier.cli.term.JsonFields;
import io.espalier.core.api.Command;
import io.espalier.core.api.TaskSelection;
import io.espalier.core.api.view.TaskView;
import io.espalier.core.json.Json;
import io.espalier.core.logs.LogLine;
import io.espalier.core.outcome.JobState;
import io.espalier.core.running.WorkerCordon;
import io.espalier.core.status.TaskStatus;
import io.espalier.json.JsonReader;
import io.espalier.testkit.api.ApiFixture;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ClientCommandsTest extends ServedCommands {
  private static final long BEGIN = 1_700_000_000_000L;

  private String body(String path) throws IOException, InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(server.uri() + path))
            .header("Accept", "application/json")
            .build();
    return HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString()).body();
  }

  @Test
  void jobsAreATable() {
    CommandRun run = run("jobs");
    assertThat(run.code()).isZero();
    assertThat(run.out())
        .isEqualToNormalizingNewlines(
            """
            JOB     LEVEL  STATE    DONE  TOTAL   %  RUNNING  READY  BLOCKED  NEVER  WAITING  FAILED
            backup  db     enabled     1      4  25        1      0               2        1       1
            broken  db     invalid     0      4   0        0      0        4               0       0
            scrub   host   enabled     0      2   0        0      2                        0       0
            """);
    assertThat(run.err()).isEmpty();
  }

  @Test
  void jobsShowTheirStateAndAreChosenByIt() {
    scheduler.jobState("scrub", JobState.SUCCEEDED, "all 2 tasks are done");
    assertThat(run("jobs").out()).containsPattern("scrub +host +succeeded +0");
    assertThat(run("jobs", "--state", "succeeded,failed", "--names").out().lines())
        .containsExactly("scrub");
    assertThat(run("jobs", "--state", "invalid", "--json").out())
        .contains("broken")
        .doesNotContain("scrub");
    assertThat(run("jobs", "--state", "stopped").err()).contains("no job is in such a state");
    CommandRun wrong = run("jobs", "--state", "done");
    assertThat(wrong.code()).isEqualTo(2);
    assertThat(wrong.err()).contains("there is no state \"done\" of a job");
  }

  @Test
  void aTableFitsTheTerminal() {
    String longName = "node-" + "x".repeat(100);
    scheduler.load(ApiFixture.config(), ApiFixture.topology(), ApiFixture.NOW_MILLIS);
    scheduler.task(
        TaskView.of(
            "backup",
            "d11",
            "db",
            TaskStatus.of(TaskStatus.Main.FAILED, 0, 1)
                .withData(Json.object().put("exception", longName + "\u001b[31m").build())));
    for (int width : new int[] {60, 80, 120}) {
      CommandRun run = sized(width, "tasks", "backup");
      assertThat(run.out().lines()).as("width %s", width).allMatch(line -> line.length() <= width);
      assertThat(run.out()).contains("…").doesNotContain("\u001b");
    }
    assertThat(run("tasks", "backup").out())
        .as("not a terminal: nothing is cut")
        .contains(longName);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "jobs                        | /api/v1/jobs",
        "tasks backup                | /api/v1/jobs/backup/tasks",
        "tasks backup --limit 2      | /api/v1/jobs/backup/tasks?limit=2",
        "tasks backup --status failed --prefix d2 |"
            + " /api/v1/jobs/backup/tasks?status=failed&prefix=d2",
        "tasks backup --status done,failed | /api/v1/jobs/backup/tasks?status=done&status=failed",
        "running                     | /api/v1/running",
        "running backup              | /api/v1/running?job=backup",
        "explain backup d22          | /api/v1/jobs/backup/tasks/d22/explain",
        "logs backup                 | /api/v1/logs?job=backup",
        "logs backup d11 --asc --limit 1 --regex line |"
            + " /api/v1/logs?job=backup&node=d11&order=asc&limit=1",
        "logs backup --stream stderr | /api/v1/logs?job=backup&stream=stderr",
        "events                      | /api/v1/events",
        "workers                     | /api/v1/workers",
      })
  void jsonIsTheBodyOfTheResource(String command, String path)
      throws IOException, InterruptedException {
    CommandRun run = run((command + " --json").split(" +", -1));
    assertThat(run.code()).as(run.err()).isZero();
    assertThat(run.out().strip()).isEqualTo(body(path));
    assertThat(run.err()).isEmpty();
  }

  @Test
  void tasksGoOnOverPagesUntilTheLimit() {
    CommandRun some = run("tasks", "backup", "--limit", "3");
    assertThat(some.out().lines().skip(1).map(line -> line.substring(0, 3)))
        .containsExactly("d11", "d12", "d21");
    assertThat(some.err()).contains("there are more tasks");
    CommandRun all = run("tasks", "backup", "--limit", "100000");
    assertThat(all.out().lines()).hasSize(5);
    assertThat(all.out()).contains("{\"rows\":7}").contains("2023-11-14T22:13:20Z");
    assertThat(all.err()).isEmpty();
    assertThat(run("tasks", "backup", "--status", "lost").err()).contains("no such tasks");
    assertThat(run("tasks", "backup", "--status", "running,done,lost", "-o", "name").out().lines())
        .containsExactly("d11", "d12");
    CommandRun cut = run("tasks", "backup", "--status=running", "--status=done", "--limit=1");
    assertThat(cut.out()).contains("d11").doesNotContain("d12");
    assertThat(cut.err()).contains("there are more tasks");
  }

  @Test
  void aReportHasALineForEachTask() {
    assertThat(run("report", "backup").out())
        .isEqualTo(
            """
            node,status,attempts,ended,started,since,ran_ms,waited_ms,cpu_ms,step,worker,exit_code,message,data
            d11,done,1,0,,2023-11-14T22:13:20Z,0,0,0,,,,,"{""rows"":7}"
            d12,running,1,0,2023-11-14T22:13:20Z,2023-11-14T22:13:20Z,0,0,0,,here,,,
            d21,failed,3,3,2023-11-14T22:13:11Z,2023-11-14T22:13:20Z,9900,4000,1500,ship,w1,,ended by signal 9,
            d22,error_backoff,2,0,,2023-11-14T22:13:20Z,0,0,0,,,,,
            """
                .replace("\n", "\r\n"));
    assertThat(run("report", "backup", "--under", "h2", "--sum").out())
        .isEqualTo("tasks,ended,ran_ms,waited_ms,cpu_ms,count.rows\r\n2,3,9900,4000,1500,1300\r\n");
    assertThat(run("report", "backup", "--format", "json", "--status", "failed").out().lines())
        .singleElement()
        .asString()
        .startsWith("{\"job\":\"backup\",\"node\":\"d21\"")
        .contains("\"attempts\":[");
    assertThat(run("report", "backup", "--sum", "--status", "done").code()).isEqualTo(2);
    assertThat(run("report", "nobody").code()).isEqualTo(1);
    assertThat(run("report", "backup", "--format", "xml").code()).isEqualTo(2);
  }

  @Test
  void oneTaskIsShownWithItsAttempts() {
    CommandRun failed = run("tasks", "backup", "d21");
    assertThat(failed.out())
        .isEqualToNormalizingNewlines(
            """
            backup on d21: failed, 3 attempts since 2023-11-14T22:13:20Z
            ended: 3 attempts, 1.50 s of CPU time
            counted by them: rows 1300
            #  STEP  WAITED  STARTED               FOR  WORKER  STATUS         END                                             CPU  MEMORY  READ  WRITTEN  COUNTERS   CAUSE             MESSAGE
            2            4s  2023-11-14T22:12:19Z   1s          error_backoff  exited with 3                                0.25 s  3.0 MB   0 B    12 MB  rows 1200  0123456789abcdef  no such table
            3  ship          2023-11-14T22:13:11Z   9s  w1      failed         killed by signal 9, core dumped (no output)                                            fedcba9876543210  ended by signal 9
            """);
    assertThat(failed.err()).contains("and 1 older attempt, which is");
    CommandRun running = run("tasks", "backup", "d12");
    assertThat(running.out())
        .contains(
            "running: attempt 1 on worker here since 2023-11-14T22:13:20Z, waited 2s; CPU 1.23 s,"
                + " memory 8.5 MB, at most 9.0 MB, read 4.1 kB, GPUs K40 0:3",
            "progress: 120 of 300");
    assertThat(running.err()).contains("not ended any attempt");
    assertThat(run("tasks", "backup", "d21", "--json").out()).contains("\"stop_reason\"");
    assertThat(run("tasks", "backup", "nowhere").code()).isEqualTo(1);
  }

  @Test
  void anExplanationIsSentences() {
    assertThat(run("explain", "backup", "d22").out())
        .isEqualToNormalizingNewlines(
            """
            backup on d22 is error_backoff; it cannot start:
              - waits after an error [backoff until 2023-11-14T22:15:05Z]
              - host h2 has no free conn [resource: needs 1, free 0 of 2]
                  scrub on h2 holds 2 since 2023-11-14T22:13:20Z, should end 2023-11-14T22:16:00Z
                  enough should be free 2023-11-14T22:16:00Z

            here  instance
             └─ h2  host  conn 2/2 +1  <- blocks
                └─ d22  db  disabled  lock 0/1 +1
            """);
    assertThat(run("explain", "scrub", "h1").out())
        .contains("scrub on h1 is unstarted; nothing keeps it from starting");
  }

  @Test
  void logsShowTheLastLinesOldestFirst() {
    assertThat(run("logs", "backup", "--limit", "2").out())
        .isEqualToNormalizingNewlines(
            """
            2023-11-14T22:13:21Z  d11  line 1
            2023-11-14T22:13:22Z  d12  line 2
            """);
    assertThat(run("logs", "backup", "d11", "--limit", "1", "--asc").out())
        .isEqualToNormalizingNewlines("2023-11-14T22:13:20Z  line 0\n");
    assertThat(run("logs", "backup", "--regex", "nothing").err())
        .isEqualToNormalizingNewlines("there are no such lines\n");
  }

  @Test
  void logsNameTheOtherStreamThatHasTheLines() {
    scheduler.log(
        new LogLine(
            7L << 32,
            LogLine.Stream.STDERR,
            "backup",
            "d22",
            "1.7",
            ApiFixture.NOW_MILLIS,
            "disk full\n"));
    CommandRun run = run("logs", "backup", "d22");
    assertThat(run.code()).isZero();
    assertThat(run.out()).isEmpty();
    assertThat(run.err())
        .isEqualToNormalizingNewlines(
            "there are no such lines on stdout, but on stderr: --stream stderr\n");
    assertThat(run("logs", "backup", "d22", "--regex", "quota").err())
        .isEqualToNormalizingNewlines("there are no such lines\n");
    assertThat(run("logs", "backup", "d11", "--stream", "stderr,statuses").err())
        .isEqualToNormalizingNewlines(
            "there are no such lines on stderr and statuses, but on stdout: --stream stdout\n");
  }

  @Test
  void aMisspeltNameIsNotTakenForNoLines() {
    CommandRun job = run("logs", "bakcup", "d11");
    assertThat(job.code()).isEqualTo(1);
    assertThat(job.err()).contains("did you mean \"backup\"?");
    assertThat(run("logs", "bakcup").err()).contains("did you mean \"backup\"?");
    CommandRun node = run("logs", "backup", "nowhere");
    assertThat(node.code()).isEqualTo(1);
    assertThat(node.err()).contains("nowhere");
  }

  @Test
  void aMisspeltNodeIsNotTakenForNoTasks() {
    for (String command : List.of("rerun", "forgive", "cancel")) {
      for (List<String> more : List.of(List.<String>of(), List.of("--preview"))) {
        List<String> args = new ArrayList<>(List.of(command, "backup", "--node", "nowhere"));
        args.addAll(more);
        CommandRun run = run(args.toArray(String[]::new));
        assertThat(run.code()).as("%s", args).isEqualTo(1);
        assertThat(run.err()).as("%s", args).contains("nowhere");
      }
    }
  }

  @Test
  void runningTasksAndWorkersAreTables() {
    assertThat(run("running").out())
        .isEqualToNormalizingNewlines(
            """
            JOB     NODE  ATTEMPT  WAITED    FOR   LEFT  PROGRESS                                       WORKER     CPU  MEMORY    READ  GPUS
            backup  d12         1      2s  1m40s  3m20s  120 of 300, 40 %, at pk=8 (1.5/s, 2m00s left)  here    1.23 s  8.5 MB  4.1 kB  K40 0:3
            """);
    assertThat(run("workers").out())
        .isEqualToNormalizingNewlines(
            """
            WORKER  KIND   HOST       LABELS     STATE      RUNNING   CPU  LOAD  MEMORY FREE  DISK FREE  SLOTS    NOTE
            here    local  host-here  zone=here  healthy          1  35 %  1.25       2.1 GB     9.0 GB  ram 1/4
            away    local  host-away  zone=away  unhealthy        0                                      ram 0/4  silent
            """);
    assertThat(run("running", "scrub").err()).contains("nothing is running");
  }

  @Test
  void workersAreDrainedCordonedAndUncordoned() {
    assertThat(run("drain", "here", "--reason", "new kernel").out())
        .isEqualToNormalizingNewlines("here is draining; 1 task still runs on it\n");
    assertThat(run("workers").out()).contains("draining").contains("new kernel");
    assertThat(run("drain", "away", "--wait").out().strip()).isEqualTo("away is drained");
    CommandRun impatient = run("drain", "here", "--wait", "--at-most", "1");
    assertThat(impatient.code()).isEqualTo(1);
    assertThat(impatient.out())
        .isEqualToNormalizingNewlines("here is draining; 1 task still runs on it after 1 s\n");
    assertThat(run("uncordon", "here").out()).contains("takes tasks again");
    assertThat(run("cordon", "here").out()).contains("here is cordoned; 1 task still runs on it");
    assertThat(run("workers").out()).contains("healthy, cordoned");
    CommandRun unknown = run("cordon", "nobody");
    assertThat(unknown.code()).isEqualTo(1);
    assertThat(unknown.err()).contains("no such worker: nobody");
    assertThat(scheduler.calls())
        .containsExactly(
            new Command.Cordon("here", WorkerCordon.Kind.DRAIN, "", "new kernel"),
            new Command.Cordon("away", WorkerCordon.Kind.DRAIN, "", ""),
            new Command.Cordon("here", WorkerCordon.Kind.DRAIN, "", ""),
            new Command.Uncordon("here", "", ""),
            new Command.Cordon("here", WorkerCordon.Kind.CORDON, "", ""));
  }

  @Test
  void mutationsReachTheScheduler() {
    assertThat(run("forgive", "backup", "scrub").out())
        .isEqualToNormalizingNewlines("backup: 1 task\nscrub: 0 tasks\n");
    assertThat(run("kill", "backup", "d12").out()).contains("signaled");
    assertThat(run("extend", "backup", "d12", "60").out())
        .isEqualToNormalizingNewlines("backup on d12: may run until 2023-11-14T22:19:20Z\n");
    assertThat(run("pause", "backup", "--reason", "an upgrade").out()).contains("paused");
    assertThat(run("resume", "backup", "--json").out().strip())
        .isEqualTo("{\"job\":\"backup\",\"paused\":false}");
    assertThat(scheduler.calls())
        .containsExactly(
            new Command.Forgive(TaskSelection.all("backup", "", "")),
            new Command.Forgive(TaskSelection.all("scrub", "", "")),
            new Command.Kill("backup", "d12", "", ""),
            new Command.Extend("backup", "d12", 60_000, "", ""),
            new Command.Pause("backup", 0, "", "an upgrade"),
            new Command.Resume("backup", "", ""));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "tasks nobody               | 1 | there is no job \"nobody\"",
        "explain backup nowhere     | 1 | there is no node \"nowhere\"",
        "kill backup d11            | 1 | is not running",
        "extend backup d11 5        | 1 | is not running",
        "pause nobody               | 1 | there is no job \"nobody\"",
        "forgive backup nobody      | 1 | there is no job \"nobody\"",
        "tasks backup --status dead | 2 | must be one of unstarted",
        "logs backup --regex (      | 2 | is not a regular expression",
        "logs backup --stream x     | 2 | must be one of stdout, stderr, statuses",
      })
  void refusalsAreOneLineAndACode(String command, int code, String message) {
    CommandRun run = run(command.split(" +", -1));
    assertThat(run.code()).isEqualTo(code);
    assertThat(run.err().strip().lines()).singleElement().asString().contains(message);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "tasks",
        "explain",
        "kill backup",
        "extend backup d12",
        "extend backup d12 0",
        "extend backup d12 x",
        "forgive",
        "jobs --nonsense",
        "logs",
        "tasks backup --limit x",
        "tasks backup --limit 0",
        "logs backup --limit -1"
      })
  void wrongUseIsTwo(String command) {
    CommandRun run = run(command.split(" +", -1));
    assertThat(run.code()).isEqualTo(2);
    assertThat(run.out()).isEmpty();
    assertThat(run.err()).contains("Usage:");
  }

  @Test
  void recentEventsAreLines() {
    assertThat(run("events", "--limit", "1").out())
        .isEqualToNormalizingNewlines("2023-11-14T22:13:20Z  task_ended  backup on d11\n");
  }

  @Test
  void eventsAreFilteredAndSearchedPageByPage() {
    scheduler.events().storingAll();
    for (int i = 0; i < 2_500; i++) {
      Json.Obj data = Json.object().put("job", i % 2 == 0 ? "scrub" : "backup").build();
      scheduler.events().add(1_700_000_100_000L + i, "job_state", data);
    }
    CommandRun some = run("events", "--job", "scrub", "--limit", "1100", "--json");
    Json.Obj body = (Json.Obj) Objects.requireNonNull(JsonReader.parse(some.out()).value());
    List<Json.Obj> events = JsonFields.objects(body, "events");
    assertThat(events).hasSize(1_100);
    assertThat(events).extracting(e -> JsonFields.number(e, "sequence")).isSorted();
    assertThat(events)
        .extracting(e -> JsonFields.text(JsonFields.object(e, "data"), "job"))
        .containsOnly("scrub");
    assertThat(JsonFields.number(events.get(1_099), "time_ms")).isEqualTo(1_700_000_102_498L);

    CommandRun first =
        run("events", "--set", "upgrade", "--job", "scrub", "--since", "2023-11-14T22:15:02.4Z");
    assertThat(first.code()).isEqualTo(1);
    assertThat(first.err()).contains("no job belongs to a set \"upgrade\"");
    first =
        run("events", "--kind", "job_state", "--since", "2023-11-14T22:15:02.4Z", "--limit", "2");
    assertThat(first.out().lines()).hasSize(2).allMatch(line -> line.contains("22:15:02"));
    assertThat(first.err()).contains("there may be more");

    assertThat(run("events", "--node", "nowhere").err()).contains("there are no such events");
    CommandRun misspelt = run("events", "--kind", "task_end");
    assertThat(misspelt.code()).isEqualTo(2);
    assertThat(misspelt.err()).contains("did you mean \"task_ended\"?");
    assertThat(run("events", "--since", "tomorrow").err()).contains("is no time");
    CommandRun future = run("events", "--since", "2999-01-01T00:00:00Z");
    assertThat(future.code()).isEqualTo(2);
    assertThat(future.err()).contains("is in the future");
  }

  @Test
  void aSpanThatEndsBeforeItBeginsIsRefusedWithBothEnds() {
    CommandRun logs = run("logs", "backup", "--since", "5m", "--until", "10m");
    assertThat(logs.code()).isEqualTo(2);
    assertThat(logs.err())
        .containsPattern(
            "--until \"10m\" \\(20.*Z\\) is before --since \"5m\" \\(20.*Z\\): there is nothing")
        .contains("in between");
    assertThat(run("history", "backup", "--from", "1h", "--at", "2026-01-01T00:00:00Z").err())
        .contains("--at \"2026-01-01T00:00:00Z\" (2026-01-01T00:00:00Z) is before --from \"1h\"");
  }

  @Test
  void aJobForWhichThereIsNoRoomIsRefusedWithTheReason(@TempDir Path directory) throws IOException {
    Path job =
        Files.writeString(directory.resolve("job.json"), "{\"owner\": \"a\", \"full\": true}");
    CommandRun run = run("save-job", "new", job.toString());
    assertThat(run.code()).isEqualTo(1);
    assertThat(run.err().strip()).isEqualTo("job new is not taken: 2 jobs wait already");
  }

  @Test
  void theNewestVersionsOfAJobAreListedWithoutTheOthers(@TempDir Path directory)
      throws IOException {
    Path job = Files.writeString(directory.resolve("job.json"), "{\"owner\": \"a\"}");
    for (String reason : List.of("one", "two", "three")) {
      assertThat(run("save-job", "new", job.toString(), "--reason", reason).code()).isZero();
    }
    assertThat(run("job-history", "new").out()).contains("one", "two", "three");
    CommandRun newest = run("job-history", "new", "--limit", "2");
    assertThat(newest.out()).containsSubsequence("two", "three").doesNotContain("one");
    assertThat(newest.err()).contains("there are older versions");
    assertThat(run("job-history", "new", "--limit", "3").err()).isEmpty();
    assertThat(run("job-history", "new", "--limit", "0").code()).isEqualTo(2);
  }

  @Test
  void theTasksOfAJobAreListedAsTheyWere() {
    scheduler.events().storingAll();
    for (int i = 0; i < 3; i++) {
      Json row =
          new Json.Arr(
              LongStream.of(2, BEGIN + i, 0, 0, 1, 3, i, BEGIN).<Json>mapToObj(Json::of).toList());
      Json.Obj data =
          Json.object().put("job", "backup").put("node", "d1" + i).put("row", row).build();
      scheduler.events().add(BEGIN + 1_000L * i, "task_started", data);
    }
    CommandRun run = run("history", "backup", "--at", "2023-11-14T22:13:21.5Z", "--limit", "1");
    assertThat(run.code()).isZero();
    assertThat(run.out())
        .contains("backup at 2023-11-14T22:13:21Z: 2 running", "d10")
        .doesNotContain("d11");
    assertThat(run.err())
        .contains("events before 2023-11-14T22:13:20Z are gone", "there are more tasks");
    CommandRun gone = run("history", "backup", "--at", "2023-11-14T22:00:00Z");
    assertThat(gone.code()).isEqualTo(1);
    assertThat(gone.err()).contains("events of 2023-11-14T22:00:00Z are gone");
    CommandRun future = run("history", "backup", "--at", "2999-01-01T00:00:00Z");
    assertThat(future.code()).isEqualTo(2);
    assertThat(future.err()).contains("is in the future");
  }
}
