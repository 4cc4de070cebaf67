package io.espalier.cli.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The commands that change something, against bodies of the contract. */
class SteeringCommandsTest extends FakedCommands {
  private CommandRun answering(String answer, String... arguments) {
    InputStream before = System.in;
    System.setIn(new ByteArrayInputStream(answer.getBytes(StandardCharsets.UTF_8)));
    try {
      return run(new FakeViewport(80, 24, 1, false, true), arguments);
    } finally {
      System.setIn(before);
    }
  }

  @Test
  void aPauseMayEndByItself() {
    server.on("POST /api/v1/jobs/backup/pause", "{'job':'backup','paused':true}");
    assertThat(run("pause", "backup", "--for", "2h", "--reason", "busy").out())
        .isEqualToNormalizingNewlines("backup is paused for 2h00m\n");
    assertThat(server.asked())
        .containsExactly(
            "POST /api/v1/jobs/backup/pause {\"reason\":\"busy\",\"expires_in_seconds\":7200}");
  }

  @ParameterizedTest
  @ValueSource(strings = {"0", "-1", "2w", "h", "1.5h", "99999999999"})
  void aSpanThatIsNoneIsWrongUse(String span) {
    CommandRun run = run("pause", "backup", "--for", span);
    assertThat(run.code()).isEqualTo(2);
    assertThat(run.err()).contains("is no span of time such as 90s, 5m, 2h or 1d");
    assertThat(server.asked()).isEmpty();
  }

  @Test
  void stoppingSaysHowManyTasksWereSignaled() {
    server.on("POST /api/v1/jobs/backup/stop", "{'job':'backup','paused':true,'signaled':3}");
    assertThat(run("stop", "backup").out())
        .isEqualToNormalizingNewlines("backup is paused; 3 tasks signaled\n");
  }

  @Test
  void limitsAreSetOnALevelOrANodeAndCleared() {
    String set = "{'level':'host','resource':'slots','limit':1}";
    server.on("PUT /api/v1/limits/host/slots", set).on("PUT /api/v1/limits/host/slots/h%201", set);
    server.on("DELETE /api/v1/limits/host/slots", "{}");
    server.on("DELETE /api/v1/limits/host/slots/h%201", "{}");
    assertThat(run("set-limit", "host", "slots", "1", "--for", "90s").out())
        .isEqualToNormalizingNewlines("the limit of slots on every host is 1 for 1m30s\n");
    assertThat(run("set-limit", "host", "slots", "0", "--node", "h 1", "--reason", "x").out())
        .isEqualToNormalizingNewlines("the limit of slots on host h 1 is 0\n");
    assertThat(run("clear-limit", "host", "slots").code()).isZero();
    assertThat(run("clear-limit", "host", "slots", "--node", "h 1").out())
        .contains("slots on host h 1 is what the configuration says");
    assertThat(server.asked())
        .containsExactly(
            "PUT /api/v1/limits/host/slots {\"limit\":1,\"expires_in_seconds\":90}",
            "PUT /api/v1/limits/host/slots/h%201 {\"reason\":\"x\",\"limit\":0}",
            "DELETE /api/v1/limits/host/slots",
            "DELETE /api/v1/limits/host/slots/h%201");
    assertThat(run("set-limit", "host", "slots", "-1").code()).isEqualTo(2);
    assertThat(run("set-limit", "host", "slots").code()).isEqualTo(2);
  }

  @Test
  void aBrakeNamesTheWorkersThatHaveNotConfirmedIt() {
    String all = "'words':'everything','message':'nothing starts'";
    server.on(
        "POST /api/v1/brakes",
        "{"
            + all
            + ",'factor':0,'durable':true,'unconfirmed':3,'unconfirmed_workers':['w1','w2']}");
    assertThat(run("brake").out())
        .isEqualToNormalizingNewlines(
            """
            nothing starts on everything; not confirmed by w1, w2 and 1 more: they may start what \
            they were given before, until their lease ends
            """);
  }

  @ParameterizedTest
  @CsvSource({
    "brake --job _, --job",
    "release --node _, --node",
    "set-limit host slots 2 --node _, --node",
    "forgive backup _, JOB",
    "kill backup _, JOB [NODE...]",
    "node disable _ h1, LEVEL"
  })
  void anEmptyArgumentIsRefused(String line, String name) {
    String[] arguments = line.split(" ");
    Arrays.setAll(arguments, i -> arguments[i].equals("_") ? "" : arguments[i]);
    CommandRun run = run(arguments);
    assertThat(run.code()).isEqualTo(2);
    assertThat(run.err()).startsWith(name + ": a value is empty");
    assertThat(server.asked()).isEmpty();
  }

  @Test
  void brakesAreSetReleasedAndListed() {
    String all = "'words':'everything','message':'nothing starts, by ann: net'";
    server
        .on("POST /api/v1/brakes", "{" + all + ",'factor':0,'durable':true}")
        .on("POST /api/v1/brakes/release", "{" + all + ",'factor':1,'released':true}")
        .on("GET /api/v1/brakes", "{'brakes':[{" + all + ",'factor':0.25,'author':'ann'}]}");
    assertThat(run("brake", "--reason", "net").out())
        .isEqualToNormalizingNewlines("nothing starts on everything\n");
    assertThat(
            run("brake", "--set", "s", "--factor", "0.25", "--for", "30m", "--ramp", "25%/5m")
                .code())
        .isZero();
    assertThat(run("release", "--node", "h1").out())
        .isEqualToNormalizingNewlines("the brake on everything is released\n");
    assertThat(run("brakes").out()).contains("25 %").contains("ann");
    server.on("GET /api/v1/jobs", "{'jobs':[],'brakes':[{" + all + "}]}");
    assertThat(run("jobs").out()).startsWith("brake: nothing starts, by ann: net");
    assertThat(server.asked())
        .containsExactly(
            "POST /api/v1/brakes {\"reason\":\"net\",\"factor\":0}",
            "POST /api/v1/brakes {\"set\":\"s\",\"ramp\":{\"step\":0.25,\"every_seconds\":300},"
                + "\"factor\":0.25,\"expires_in_seconds\":1800}",
            "POST /api/v1/brakes/release {\"node\":\"h1\"}",
            "GET /api/v1/brakes",
            "GET /api/v1/jobs");
    for (String ramp : List.of("25", "25/5m", "25%", "0%/5m", "101%/5m", "x%/5m", "25%/x")) {
      assertThat(run("brake", "--ramp", ramp).err()).contains("must be like 25%/5m");
    }
    assertThat(run("brake", "--factor", "1").code()).isEqualTo(2);
  }

  @Test
  void quarantinesAreSetLiftedAndListed() {
    String host = "'level':'host','node':'h1','job':'j','words':'host h1 for job j'";
    server
        .on("POST /api/v1/quarantines", "{" + host + "}")
        .on("POST /api/v1/quarantines/lift", "{" + host + "}")
        .on(
            "GET /api/v1/quarantines",
            "{'quarantines':[{"
                + host
                + ",'suggested':true,'set_at_ms':1600000000000,'author':'','reason':'it fails'}]}");
    assertThat(run("quarantine", "h1", "--job", "j", "--reason", "disk").out())
        .isEqualToNormalizingNewlines("host h1 for job j is quarantined\n");
    assertThat(run("lift", "h1", "--level", "host").out())
        .isEqualToNormalizingNewlines("host h1 for job j is not quarantined any more\n");
    assertThat(run("quarantines").out()).contains("suggested").contains("it fails");
    assertThat(server.asked())
        .containsExactly(
            "POST /api/v1/quarantines {\"reason\":\"disk\",\"node\":\"h1\",\"job\":\"j\"}",
            "POST /api/v1/quarantines/lift {\"node\":\"h1\",\"level\":\"host\"}",
            "GET /api/v1/quarantines");
    assertThat(run("quarantine").code()).isEqualTo(2);
  }

  @Test
  void limitsAreListed() {
    server.on(
        "GET /api/v1/limits",
        "{'overrides':[{'level':'host','resource':'slots','limit':1,'configured':4,'author':'ann',"
            + "'expires_at_ms':1700000000000,'set_at_ms':1600000000000,'reason':'busy'},"
            + "{'level':'rack','resource':'net','node':'r7','limit':0,'configured':2,'set_at_ms':1}]}");
    assertThat(run("limits").out())
        .isEqualToNormalizingNewlines(
            """
            LEVEL  RESOURCE  NODE   LIMIT  CONFIGURED  UNTIL                 SET                   WHO  WHY
            host   slots     (all)      1           4  2023-11-14T22:13:20Z  2020-09-13T12:26:40Z  ann  busy
            rack   net       r7         0           2  -                     1970-01-01T00:00:00Z
            """);
  }

  @Test
  void aRerunOnATerminalAsksAndDoesWhatWasAskedAbout() {
    server
        .on(
            "POST /api/v1/jobs/backup/rerun",
            "{'job':'backup','matched':2,'running':1,'samples':['d1','d2'],'preview':true,'changed':0}")
        .on(
            "POST /api/v1/jobs/backup/rerun",
            "{'job':'backup','matched':2,'running':1,'samples':[],'preview':false,'changed':2}");
    CommandRun run = answering("y\n", "rerun", "backup", "--status", "failed,done");
    assertThat(run.code()).isZero();
    assertThat(run.out())
        .isEqualToNormalizingNewlines(
            """
            backup: 2 tasks would start again; 1 task running now left alone
            such as d1, d2
            backup: 2 tasks will run again
            """);
    assertThat(run.err()).isEqualTo("Run 2 tasks again? [y/N] ");
    assertThat(server.asked())
        .containsExactly(
            "POST /api/v1/jobs/backup/rerun"
                + " {\"selector\":{\"statuses\":[\"failed\",\"done\"]},\"preview\":true}",
            "POST /api/v1/jobs/backup/rerun"
                + " {\"selector\":{\"statuses\":[\"failed\",\"done\"]},\"expect\":2}");
  }

  @Test
  void aRerunOfASetAsksOnceAndDoesToEachJobWhatWasAskedAbout() {
    server
        .on("GET /api/v1/sets/upgrade", "{'name':'upgrade','jobs':[{'name':'a'},{'name':'b'}]}")
        .on(
            "POST /api/v1/jobs/a/rerun",
            "{'job':'a','matched':2,'running':0,'samples':[],'preview':true,'changed':0}")
        .on(
            "POST /api/v1/jobs/b/rerun",
            "{'job':'b','matched':0,'running':0,'samples':[],'preview':true,'changed':0}")
        .on("POST /api/v1/jobs/a/rerun", "{'job':'a','matched':2,'samples':[],'changed':2}")
        .on("POST /api/v1/jobs/b/rerun", "{'job':'b','matched':0,'samples':[],'changed':0}");
    CommandRun run = answering("y\n", "rerun", "--set", "upgrade", "--status", "failed");
    assertThat(run.code()).isZero();
    assertThat(run.err()).isEqualTo("Run 2 tasks again? [y/N] ");
    assertThat(run.out())
        .isEqualToNormalizingNewlines(
            """
            a: 2 tasks would start again
            b: 0 tasks would start again
            a: 2 tasks will run again
            b: 0 tasks will run again
            """);
    assertThat(server.asked())
        .containsExactly(
            "GET /api/v1/sets/upgrade",
            "POST /api/v1/jobs/a/rerun {\"selector\":{\"statuses\":[\"failed\"]},\"preview\":true}",
            "POST /api/v1/jobs/b/rerun {\"selector\":{\"statuses\":[\"failed\"]},\"preview\":true}",
            "POST /api/v1/jobs/a/rerun {\"selector\":{\"statuses\":[\"failed\"]},\"expect\":2}",
            "POST /api/v1/jobs/b/rerun {\"selector\":{\"statuses\":[\"failed\"]},\"expect\":0}");
    assertThat(run("rerun", "backup", "--set", "upgrade", "--all").err()).contains("either JOB");
    assertThat(run("rerun", "--all").err()).contains("either JOB");
  }

  @ParameterizedTest
  @ValueSource(strings = {"n\n", "\n", "", "yeah\n"})
  void anythingButYesChangesNothing(String answer) {
    server.on(
        "POST /api/v1/jobs/backup/rerun", "{'matched':2,'running':0,'samples':[],'preview':true}");
    CommandRun run = answering(answer, "rerun", "backup", "--all");
    assertThat(run.code()).isEqualTo(1);
    assertThat(run.err()).contains("nothing was changed");
    assertThat(server.asked()).hasSize(1);
  }

  @Test
  void runningTasksThatAreNotNamedAreKilledByOneRequestOnceThatIsConfirmed() {
    server
        .on("POST /api/v1/jobs/backup/tasks/r7-a/kill", "{}")
        .on("POST /api/v1/jobs/backup/tasks/r7-b/kill", "{}")
        .on(
            "POST /api/v1/jobs/backup/kill",
            "{'job':'backup','matched':2,'running':0,'samples':['r7-a','r7-b'],'changed':3}");
    assertThat(run("kill", "backup").err()).contains("say which tasks");
    assertThat(run("kill", "backup", "r7-a", "--all").err()).contains("say which tasks");
    assertThat(run("kill").err()).contains("either JOB or --set");
    assertThat(server.asked()).isEmpty();
    // Others may have started meanwhile: that is no reason to kill none.
    assertThat(answering("y\n", "kill", "backup", "--prefix", "r7-").out())
        .isEqualToNormalizingNewlines(
            """
            backup: 2 tasks would be signaled
            such as r7-a, r7-b
            backup: 3 tasks signaled
            """);
    assertThat(run("kill", "backup", "--all", "--expect", "2", "--reason", "bad").code()).isZero();
    assertThat(run("kill", "backup", "r7-a", "r7-b", "--reason", "stuck").out())
        .isEqualToNormalizingNewlines("backup on r7-a: signaled\nbackup on r7-b: signaled\n");
    assertThat(run("kill", "backup", "r7-a", "--preview").code()).isZero();
    assertThat(server.asked())
        .containsExactly(
            "POST /api/v1/jobs/backup/kill {\"selector\":{\"prefix\":\"r7-\"},\"preview\":true}",
            "POST /api/v1/jobs/backup/kill {\"selector\":{\"prefix\":\"r7-\"}}",
            "POST /api/v1/jobs/backup/kill"
                + " {\"reason\":\"bad\",\"selector\":{\"all\":true},\"expect\":2}",
            "POST /api/v1/jobs/backup/tasks/r7-a/kill {\"reason\":\"stuck\"}",
            "POST /api/v1/jobs/backup/tasks/r7-b/kill {\"reason\":\"stuck\"}",
            "POST /api/v1/jobs/backup/kill {\"selector\":{\"nodes\":[\"r7-a\"]},\"preview\":true}");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "forgive backup           | Forgive 2 tasks?",
        "cancel backup --all      | Cancel 2 tasks?",
        "rerun backup --all       | Run 2 tasks again?",
        "kill backup --all        | Kill 2 tasks?",
        "kill --set nightly --all | Kill 2 tasks?",
        "stop backup              | Pause backup and kill 2 tasks?",
        "stop --set nightly       | Pause nightly and kill 2 tasks?",
        "delete-job backup        | Delete backup, of which 2 tasks run now?",
        "delete-job --set nightly | Delete backup, of which 2 tasks run now?",
      })
  void whatChangesManyTasksAsksOnATerminalAndNowhereElse(String command, String question) {
    String many = "{'job':'backup','matched':2,'running':0,'samples':[],'changed':2,'signaled':2}";
    for (String action : List.of("forgive", "cancel", "rerun", "kill", "stop")) {
      server.on("POST /api/v1/jobs/backup/" + action, many);
    }
    server
        .on("POST /api/v1/sets/nightly/stop", "{'jobs':[" + many + "],'refused':0}")
        .on("DELETE /api/v1/jobs/backup", "{}")
        .on("GET /api/v1/jobs/backup", "{'progress':{'running':2}}")
        .on("GET /api/v1/sets/nightly", "{'progress':{'running':2},'jobs':[{'name':'backup'}]}");
    CommandRun refused = answering("n\n", command.split(" ", -1));
    assertThat(refused.code()).isEqualTo(1);
    assertThat(refused.err())
        .isEqualToNormalizingNewlines(question + " [y/N] nothing was changed\n");
    assertThat(run((command + " --preview").split(" ", -1)).out()).contains("2 tasks");
    assertThat(changes()).isEmpty();
    CommandRun told = answering("", (command + " --yes").split(" ", -1));
    assertThat(told.code()).isZero();
    assertThat(told.err()).isEmpty();
    assertThat(changes()).hasSize(1);
    CommandRun script = run(command.split(" ", -1));
    assertThat(script.code()).isZero();
    assertThat(script.err()).isEmpty();
    assertThat(changes()).hasSize(2);
  }

  private List<String> changes() {
    return server.asked().stream()
        .filter(asked -> !asked.startsWith("GET ") && !asked.contains("\"preview\":true"))
        .toList();
  }

  @Test
  void aStopThatKillsNothingDoesNotAsk() {
    server
        .on("GET /api/v1/jobs/backup", "{'progress':{'running':0}}")
        .on("POST /api/v1/jobs/backup/stop", "{'job':'backup','paused':true,'signaled':0}");
    CommandRun run = answering("", "stop", "backup");
    assertThat(run.code()).isZero();
    assertThat(run.err()).isEmpty();
    assertThat(run("stop", "--preview").err()).contains("either JOB");
    assertThat(run("stop", "backup", "--preview", "--json").out())
        .isEqualToNormalizingNewlines("{\"running\":0,\"preview\":true}\n");
  }

  @Test
  void aNodeIsDisabledByABrakeAndEnabledByItsRelease() {
    server.on("POST /api/v1/brakes", "{'durable':true}").on("POST /api/v1/brakes/release", "{}");
    assertThat(run("node", "disable", "host", "db7", "--for", "2h").out())
        .isEqualToNormalizingNewlines("host db7 is disabled for 2h00m: nothing starts there\n");
    assertThat(run("node", "enable", "host", "db7").out())
        .isEqualToNormalizingNewlines("host db7 is enabled\n");
    assertThat(server.asked())
        .containsExactly(
            "POST /api/v1/brakes {\"level\":\"host\",\"node\":\"db7\",\"factor\":0,"
                + "\"expires_in_seconds\":7200}",
            "POST /api/v1/brakes/release {\"level\":\"host\",\"node\":\"db7\"}");
  }

  @Test
  void aListIsPrintedAsPeopleOrProgramsWantIt() {
    server.on(
        "GET /api/v1/brakes",
        "{'brakes':[{'words':'node a, b','factor':0.5,'author':'${ann}','reason':'x'}]}");
    assertThat(run("limit", "brakes", "-o", "csv").out())
        .isEqualTo("ON,LEFT,UNTIL,SET,WHO,WHY,RUNNING\r\n\"node a, b\",50 %,-,-,${ann},x,\r\n");
    assertThat(run("brakes", "-o", "name").out()).isEqualTo("node a, b\n");
    assertThat(run("brakes", "-o", "yaml").out())
        .contains("words: \"node a, b\"")
        .contains("author: \"${ann}\"");
    assertThat(run("brakes", "-o", "json").out()).isEqualTo(run("brakes", "--json").out());
    assertThat(run("brakes", "--output=name").out()).isEqualTo("node a, b\n");
    assertThat(run("brakes", "-o", "xml").code()).isEqualTo(2);
  }

  @Test
  void aJobIsComparedWithAFile(@TempDir Path dir) throws IOException {
    Path file = dir.resolve("backup.json");
    Files.writeString(file, "{\"level\": \"db\", \"config\": {\"batch\": 9}, \"version_id\": 7}");
    server
        .on(
            "GET /api/v1/jobs/backup",
            "{'name':'backup','version':3,'state':'running','progress':{'total':1},"
                + "'original':{'level':'db','config':{'batch':5,'old':true},'version_id':3}}")
        .on("POST /api/v1/plans", "{'impact':{'tasks_added':2}}");
    CommandRun diff = run("job", "diff", "backup", file.toString());
    assertThat(diff.code()).isEqualTo(1);
    assertThat(diff.out())
        .startsWith("- config.batch: 5\n+ config.batch: 9\n- config.old: true\n2 tasks are new");
    assertThat(run("job", "show", "backup").out())
        .startsWith("backup, version 3: running, 0 of 1 task done, 0 running, 0 failed\n{");
    assertThat(run("job", "show", "backup", "--definition").out()).startsWith("{");
  }

  @Test
  void aRerunSaysWhichTasks() {
    assertThat(run("rerun", "backup").err()).contains("say which tasks");
    assertThat(server.asked()).isEmpty();
  }

  @Test
  void aRerunMaySayYesOrLookFirst() {
    server.on(
        "POST /api/v1/jobs/backup/rerun",
        "{'job':'backup','matched':1,'running':0,'samples':['d1'],'preview':true,'changed':1}");
    CommandRun run =
        run(
            "rerun",
            "backup",
            "--prefix",
            "d",
            "--node",
            "a",
            "--node",
            "b",
            "--yes",
            "--expect=1");
    assertThat(run.out()).isEqualToNormalizingNewlines("backup: 1 task will run again\n");
    assertThat(run("rerun", "backup", "--fingerprint", "f", "--preview").out())
        .isEqualToNormalizingNewlines("backup: 1 task would start again\nsuch as d1\n");
    assertThat(server.asked())
        .containsExactly(
            "POST /api/v1/jobs/backup/rerun"
                + " {\"selector\":{\"prefix\":\"d\",\"nodes\":[\"a\",\"b\"]},\"expect\":1}",
            "POST /api/v1/jobs/backup/rerun"
                + " {\"selector\":{\"fingerprint\":\"f\"},\"preview\":true}");
  }

  @Test
  void forgivingMayChooseAndLookFirst() {
    server.on(
        "POST /api/v1/jobs/backup/forgive",
        "{'job':'backup','matched':4,'samples':['d1'],'preview':true,'changed':0}");
    assertThat(run("forgive", "backup", "--fingerprint", "f", "--preview").out())
        .isEqualToNormalizingNewlines("backup: 4 tasks would be forgiven\nsuch as d1, …\n");
    assertThat(server.asked())
        .containsExactly(
            "POST /api/v1/jobs/backup/forgive"
                + " {\"selector\":{\"fingerprint\":\"f\"},\"preview\":true}");
  }

  @Test
  void aJobIsValidatedWithoutBeingSaved(@TempDir Path dir) throws IOException {
    Path file = Files.writeString(dir.resolve("job.json"), "{\"owner\": 1}");
    server
        .on(
            "POST /api/v1/jobs/backup/validate",
            "{'valid':false,'problems':[{'severity':'error','path':'owner','message':'must be"
                + " text','value':1,'expected':'a string','hint':'quote it','line':1}]}")
        .on("POST /api/v1/jobs/backup/validate", "{'valid':true,'problems':[]}");
    CommandRun wrong = run("validate-job", "backup", file.toString());
    assertThat(wrong.code()).isEqualTo(2);
    assertThat(wrong.out())
        .isEqualToNormalizingNewlines(
            """
            error at owner (line 1): must be text (value: 1); expected: a string; quote it
            backup cannot be saved
            """);
    assertThat(run("validate-job", "backup", file.toString()).out()).contains("can be saved");
    assertThat(server.asked()).contains("POST /api/v1/jobs/backup/validate {\"owner\":1}");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "pause backpu        | did you mean \"backup\"?",
        "rerun back --all --yes | did you mean \"backup\"?",
        "kill back --all --yes | did you mean \"backup\"?",
        "failures zzz        | there are backup, scrub",
      })
  void anUnknownJobIsAnsweredWithTheOneThatWasMeant(String command, String hint) {
    String job = command.split(" ", -1)[1];
    server.on("GET /api/v1/jobs", "{'jobs':[{'name':'backup'},{'name':'scrub'}]}");
    for (String action :
        new String[] {"POST %s/pause", "POST %s/rerun", "POST %s/kill", "GET %s/failures"}) {
      server.on(
          action.formatted("").replaceFirst(" ", " /api/v1/jobs/" + job),
          404,
          "{'detail':'there is no job \\'" + job + "\\''}");
    }
    CommandRun run = run(command.split(" ", -1));
    assertThat(run.code()).isEqualTo(1);
    assertThat(run.err().strip()).isEqualTo("there is no job \"" + job + "\" (" + hint + ")");
  }

  @Test
  void aRefusalOfAKnownJobIsLeftAsItIs() {
    server.on("GET /api/v1/jobs", "{'jobs':[{'name':'backup'}]}");
    server.on("POST /api/v1/jobs/backup/stop", 409, "{'detail':'not now'}");
    CommandRun run = run("stop", "backup");
    assertThat(run.code()).isEqualTo(1);
    assertThat(run.err().strip()).isEqualTo("not now");
  }
}
