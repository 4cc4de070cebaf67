package io.espalier.cli.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.cli.term.TextWidth;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The commands that show something, against bodies of the contract. */
class LookingCommandsTest extends FakedCommands {
  @Test
  void jobsSayHowFastTheyAreAndWhatIsLeft() {
    server.on(
        "GET /api/v1/jobs",
        "{'jobs':[{'name':'a','level':'db','valid':true,'enabled':true,'rate_per_second':12.5,"
            + "'seconds_left':3700,'progress':{'total':4,'done':1}},"
            + "{'name':'b','level':'db','valid':true,'enabled':true,'rate_per_second':0.05,"
            + "'progress':{'total':4,'done':1}}]}");
    assertThat(run("jobs").out())
        .isEqualToNormalizingNewlines(
            """
            JOB  LEVEL  STATE    DONE  TOTAL   %  RUNNING  READY  WAITING  FAILED     RATE   LEFT
            a    db     enabled     1      4  25        0      0        0       0   12.5/s  1h01m
            b    db     enabled     1      4  25        0      0        0       0  3.0/min
            """);
    assertThat(run("jobs", "--names").out()).isEqualToNormalizingNewlines("a\nb\n");
    run("jobs", "-l", "team=dba", "--label", "tier=1");
    assertThat(server.asked().get(server.asked().size() - 1))
        .isEqualTo("GET /api/v1/jobs?label=team%3Ddba&label=tier%3D1");
    assertThat(run(new FakeViewport(80, 24, 1, false, false), "jobs").out().lines())
        .allMatch(line -> line.length() <= 80)
        .first()
        .asString()
        .endsWith("RATE")
        .doesNotContain("…");
  }

  @Test
  void jobsSayHowManyOfTheirTasksCanNeverStart() {
    server.on(
        "GET /api/v1/jobs",
        "{'jobs':[{'name':'a','level':'db','valid':true,'enabled':true,'tasks_never':2,"
            + "'progress':{'total':4,'done':1,'running':1,'ready':2}}]}");
    assertThat(run("jobs").out())
        .isEqualToNormalizingNewlines(
            """
            JOB  LEVEL  STATE    DONE  TOTAL   %  RUNNING  READY  NEVER  WAITING  FAILED
            a    db     enabled     1      4  25        1      2      2        0       0
            """);
  }

  @Test
  void failuresAreOneLineForEachWay() {
    server.on(
        "GET /api/v1/jobs/backup/failures",
        "{'job':'backup','at_ms':1,'total':5,'groups':[{'fingerprint':'f00','message':'no table',"
            + "'count':5,'failed':2,'waiting':3,'samples':['d1','d2'],'newest_ms':1700000000000}]}");
    assertThat(run("failures", "backup", "--limit", "3").out())
        .isEqualToNormalizingNewlines(
            """
            FINGERPRINT  TASKS  FAILED  WAITING  NEWEST                SUCH AS  MESSAGE
            f00              5       2        3  2023-11-14T22:13:20Z  d1       no table
            """);
    assertThat(server.asked()).containsExactly("GET /api/v1/jobs/backup/failures?limit=3");
  }

  @ParameterizedTest
  @ValueSource(strings = {"waiting backup", "explain backup"})
  void waitingTasksAreCountedByReason(String command) {
    server.on(
        "GET /api/v1/jobs/backup/waiting",
        "{'job':'backup','at_ms':1700000000000,'counted':10,'total':1000,'sampled':true,'reasons':["
            + "{'kind':'resource','node':'r7','resource':'net','count':700,'message':'r7 is full',"
            + "'samples':['d1']},{'kind':'backoff','count':3,'message':'waits','samples':[]}]}");
    CommandRun run = run(command.split(" ", -1));
    assertThat(run.out())
        .isEqualToNormalizingNewlines(
            """
            TASKS  KIND      NODE  RESOURCE  SUCH AS  WHY
              700  resource  r7    net       d1       r7 is full
                3  backoff                            waits
            """);
    assertThat(run.err())
        .contains("counted over a sample of 10 of 1000 tasks at 2023-11-14T22:13:20Z");
  }

  @Test
  void anExplanationNamesHoldersAndDrawsThePath() {
    server.on(
        "GET /api/v1/jobs/backup/tasks/d1/explain",
        "{'job':'backup','node':'d1','status':'unstarted','startable':false,'reasons':[{'kind':"
            + "'resource','message':'host h1 has no free conn','resource':'conn','need':1,'free':0,"
            + "'limit':2,'free_at_ms':1700000060000,'holders_total':9,'holders':["
            + "{'job':'scrub','node':'d2','slots':2,'since_ms':1700000000000,"
            + "'expected_end_ms':1700000060000}]}],'path':["
            + "{'node':'site','level':'instance','enabled':true,'resources':[],'blocks':false},"
            + "{'node':'h1','level':'host','enabled':true,'blocks':true,'resources':["
            + "{'resource':'conn','need':1,'used':2,'limit':2}]},"
            + "{'node':'d1','level':'db','enabled':true,'resources':[],'blocks':false}]}");
    assertThat(run("explain", "backup", "d1").out())
        .isEqualToNormalizingNewlines(
            """
            backup on d1 is unstarted; it cannot start:
              - host h1 has no free conn [resource: needs 1, free 0 of 2]
                  scrub on d2 holds 2 since 2023-11-14T22:13:20Z, should end 2023-11-14T22:14:20Z
                  and 4 more
                  enough should be free 2023-11-14T22:14:20Z

            site  instance
             └─ h1  host  conn 2/2 +1  <- blocks
                └─ d1  db
            """);
  }

  @Test
  void whatRunsIsExplainedToo() {
    server.on(
        "GET /api/v1/jobs/backup/tasks/d1/explain",
        "{'job':'backup','node':'d1','startable':false,'status':'running','running':{'job':'backup',"
            + "'node':'d1','attempt':2,'worker':'w1','started_at_ms':1700000000000,"
            + "'invocation':'3.1','step':'ship','call':{'executor':'http','awaits':'callback','unknown_hold_ms':600000}},'reasons':[{'kind':'already_running','message':'the"
            + " task is running'}],'path':[]}");
    assertThat(run("explain", "backup", "d1").out())
        .startsWith("backup on d1 is running\n")
        .contains(
            "running: attempt 2, step ship on worker w1 since 2023-11-14T22:13:20Z",
            "calls a service over http, which is to call back; the outcome is unknown after");
  }

  @ParameterizedTest
  @CsvSource(
      quoteCharacter = '"',
      delimiter = '|',
      value = {
        "'awaits':'callback'|which is to call back\\n",
        "'awaits':'answer','unknown_hold_ms':600000|and waits for its answer; the outcome is unknown"
            + " after 10m00s without any\\n",
        "'awaits':'callback','unknown_hold_ms':60000,'polled_at_ms':1700000000000,'poll_answer':"
            + "'running','next_poll_at_ms':1700000060000|which is to call back; the outcome is"
            + " unknown after 1m00s without any\\n  last polled at 2023-11-14T22:13:20Z: running; the"
            + " next poll is at 2023-11-14T22:14:20Z\\n",
        "'awaits':'answer','unknown_hold_ms':60000,'polled_at_ms':1700000000000,'poll_answer':'lost',"
            + "'in_doubt':true|; the outcome is unknown after 1m00s without any\\n"
            + "  in doubt since 2023-11-14T22:13:20Z: lost\\n"
      })
  void whatACallWaitsForIsShown(String call, String shown) {
    server.on(
        "GET /api/v1/jobs/j/tasks/d1/explain",
        "{'job':'j','node':'d1','status':'running','running':{'job':'j','node':'d1','attempt':1,"
            + "'started_at_ms':1,'call':{'executor':'http',"
            + call
            + "}},'path':[]}");
    assertThat(run("explain", "j", "d1").out())
        .contains(
            "  calls a service over http"
                + (shown.startsWith(";") ? "" : ", ")
                + shown.replace("\\n", "\n"));
  }

  @Test
  void howFastATaskWasToldToWorkIsShownWithTheReason() {
    String slow = "'job':'j','node':'d1','attempt':1,'throttle':{'ratio':0.25,'reason':'lag is 9'}";
    String paused = "'job':'j','node':'d2','attempt':1,'throttle':{'ratio':0,'reason':''}";
    server
        .on("GET /api/v1/jobs/j/tasks/d1/explain", "{'running':{" + slow + "},'path':[]}")
        .on("GET /api/v1/jobs/j/tasks/d2/explain", "{'running':{" + paused + "},'path':[]}")
        .on("GET /api/v1/running", "{'running':[{" + slow + "},{" + paused + "}],'total':2}");
    assertThat(run("explain", "j", "d1").out()).contains("told to work at 25 %: lag is 9");
    assertThat(run("explain", "j", "d2").out()).contains("  told to pause\n");
    assertThat(run("running").out()).contains("SPEED", "25 %", "paused");
  }

  @Test
  void aTaskThatIsBeingStoppedIsShownAsThat() {
    String task =
        "'job':'j','node':'d1','attempt':1,'stopping':{'since_ms':1700000000000,"
            + "'reason':'killed by ann: it hangs'}";
    server
        .on("GET /api/v1/jobs/j/tasks/d1/explain", "{'running':{" + task + "},'path':[]}")
        .on(
            "GET /api/v1/running",
            "{'published_at_ms':1700000012000,'running':[{" + task + "}],'total':1}");
    assertThat(run("explain", "j", "d1").out())
        .contains("  being stopped since 2023-11-14T22:13:20Z: killed by ann: it hangs\n");
    assertThat(run("running").out()).contains("STOPPING", "12s, killed by ann: it hangs");
  }

  @Test
  void oneAttemptIsOne() {
    server.on(
        "GET /api/v1/jobs/j/tasks/d1",
        "{'job':'j','node':'d1','status':'done','attempts':1,'since_ms':1700000000000,"
            + "'history':{'ended':1,'cpu_ms':0,'attempts':[]}}");
    assertThat(run("tasks", "j", "d1").out())
        .contains("done, 1 attempt since 2023-11-14T22:13:20Z\n", "ended: 1 attempt, ");
  }

  @Test
  void theTreeIsDrawn() {
    server.on(
        "GET /api/v1/tree",
        "{'at_ms':1,'root':'site','nodes':["
            + "{'name':'site','level':'instance','parent':-1,'enabled':true,'resources':[],"
            + "'states':{'done':3,'running':1,'failed':1}},"
            + "{'name':'h1','level':'host','parent':0,'enabled':true,'resources':["
            + "{'resource':'conn','used':1,'limit':2}],'states':{'done':3},"
            + "'reserved':{'job':'heavy','since_ms':1,'idle_slots':1}},"
            + "{'name':'h2','level':'host','parent':0,'enabled':false,'resources':[],"
            + "'states':{'running':1,'failed':1,'blocked':2}},"
            + "{'name':'h3','level':'host','parent':0,'enabled':true,'resources':[],'states':{},"
            + "'closed':[{'kind':'brake','node':'h3','message':'braked: new disks'},"
            + "{'kind':'quarantine','node':'h3','message':'3 tasks failed'}]},"
            + "{'name':'d1','level':'db','parent':1,'enabled':true,'resources':[],'states':{'done':3}}"
            + "],'truncated':true}");
    CommandRun run = run("tree", "site", "--job", "backup", "--depth", "2");
    assertThat(run.out())
        .isEqualToNormalizingNewlines(
            """
            NODE                               LEVEL     USE       TASKS  DONE  RUNNING  READY  BLOCKED  WAITING  FAILED  CANCELLED
            site                               instance                5     3        1      0                 0       1          0
            ├─ h1 (kept free for heavy)        host      conn 1/2      3     3        0      0                 0       0          0
            │  └─ d1                           db                      3     3        0      0                 0       0          0
            ├─ h2 (disabled)                   host                    4     0        1      0        2        0       1          0
            └─ h3 (closed: brake, quarantine)  host                    0     0        0      0                 0       0          0
            """);
    assertThat(run.err()).contains("there are more nodes");
    assertThat(server.asked().get(0))
        .startsWith("GET /api/v1/tree?")
        .contains("root=site", "job=backup", "depth=2", "limit=200")
        .doesNotContain("level=");
  }

  @Test
  void aNodeIsShownWithItsHoldersAndJobs() {
    server.on(
        "GET /api/v1/nodes/host/h1",
        "{'name':'h1','level':'host','parents':['r1'],'children':2,'leaves':4,'enabled':true,"
            + "'tags':['ssd'],'attributes':{'gb':8},'resources':[{'resource':'conn','used':1,"
            + "'limit':1,'configured':2}],'reserved':{'job':'heavy','task':'d7','since_ms':1700000000000,"
            + "'idle_slots':1},'holders':[{'job':'scrub','node':'d2','slots':1,"
            + "'since_ms':1700000000000}],'jobs':[{'job':'scrub','states':{'done':1,'failed':2,"
            + "'blocked':7}}],'closed':[{'kind':'brake','node':'r1','message':'braked: new disks'}]}");
    assertThat(run("node", "host", "h1").out())
        .isEqualToNormalizingNewlines(
            """
            host h1
            below: r1
            tags: ssd
            attributes: gb=8
            children: 2, leaves: 4
            closed: braked: new disks
            kept free for: heavy on d7 since 2023-11-14T22:13:20Z, idle slots: 1

            RESOURCE  USED  LIMIT  CONFIGURED
            conn         1      1           2

            HELD BY  ON  SLOTS  SINCE
            scrub    d2      1  2023-11-14T22:13:20Z

            JOB    DONE  RUNNING  READY  BLOCKED  WAITING  FAILED  CANCELLED
            scrub     1        0      0        7        0       2          0
            """);
  }

  @Test
  void groupsAreShownByKindAndByName() {
    server.on(
        "GET /api/v1/groups",
        "{'kinds':[{'name':'replset','level':'host','by':'attribute:set','groups':3,'full':2,"
            + "'members':9,'busy':2,'waiting':4,'outside':1}]}");
    assertThat(run("groups").out())
        .isEqualToNormalizingNewlines(
            """
            KIND     LEVEL  BY             GROUPS  FULL  MEMBERS  BUSY  WAITING  OUTSIDE
            replset  host   attribute:set       3     2        9     2        4        1
            """);
    server.on(
        "GET /api/v1/groups/replset",
        "{'groups':[{'name':'rs-1','limit':1,'size':3,'busy':1,'members':["
            + "{'node':'h1','running':2,'job':'backup','task':'d1'},{'node':'h2','running':0},"
            + "{'node':'h3','running':0}]},{'name':'rs-2','limit':1,'size':60,'busy':0,'members':["
            + "{'node':'h4','running':0}]}],'next':''}");
    assertThat(run("groups", "replset").out())
        .isEqualToNormalizingNewlines(
            """
            GROUP  BUSY  ALLOWED  MEMBERS  BUSY MEMBERS               OTHERS
            rs-1      1        1        3  h1 (backup d1 and 1 more)  h2, h3
            rs-2      0        1       60                             h4 and 59 more
            """);
    server.on("GET /api/v1/groups/replset", "{'groups':[],'next':''}");
    assertThat(run("groups", "replset", "--full").out() + run("groups", "replset", "--full").err())
        .contains("no group is full");
    assertThat(server.asked().get(server.asked().size() - 1)).contains("state=full");
  }

  @Test
  void problemsSettingsAuditWhoamiLevelsAndLeadershipAreShown() {
    server.on(
        "GET /api/v1/problems",
        "{'config_in_force':false,'errors':[{'source':'nodes','message':'gone','since_ms':1700000000000}],"
            + "'problems':[{'severity':'warning','path':'x','message':'odd'},"
            + "{'severity':'error','path':'y','message':'bad','file':'a.json','line':3}]}");
    assertThat(run("problems").out())
        .isEqualToNormalizingNewlines(
            """
            error in nodes since 2023-11-14T22:13:20Z: gone
            warning at x: odd
            error at y (a.json, line 3): bad
            no configuration is in force: nothing starts
            """);
    server.on("GET /api/v1/settings", "{'version':'1','effective':{'a':{'b':2},'c':{},'d':[1]}}");
    assertThat(run("settings").out())
        .isEqualToNormalizingNewlines(
            """
            SETTING        VALUE
            version        1
            effective.a.b  2
            effective.c    {}
            effective.d    [1]
            """);
    server.on(
        "GET /api/v1/audit",
        "{'entries':[{'id':2,'at_ms':1700000000000,'who':'ann','role':'admin','address':'::1',"
            + "'action':'pause','target':'backup','reason':'busy','status':200,'details':{}}],'next':''}");
    assertThat(run("audit").out())
        .isEqualToNormalizingNewlines(
            """
            WHEN                  WHO  ROLE   FROM  DID    TO      STATUS  WHY
            2023-11-14T22:13:20Z  ann  admin  ::1   pause  backup     200  busy
            """);
    server.on("GET /api/v1/audit", "{'entries':[],'next':''}");
    run("audit");
    CommandRun none = run("audit", "--who", "ann", "--action", "put jobs", "--target", "a/b");
    assertThat(none.err()).contains("there are no such entries");
    assertThat(server.asked().get(server.asked().size() - 1))
        .contains("who=ann", "action=put%20jobs", "target=a%2Fb");
    server.on("GET /api/v1/me", "{'name':'ann','role':'operator','authenticated':true}");
    assertThat(run("whoami").out())
        .isEqualToNormalizingNewlines("ann, operator: may look and steer\n");
    server.on(
        "GET /api/v1/jobs/backup/levels",
        "{'levels':[{'level':'host','nodes':2,'states':{'done':1,'failed':1}}]}");
    assertThat(run("levels", "backup").out()).contains("host       2     1        0");
    server.on(
        "GET /api/v1/jobs/backup/eta",
        "{'job':'backup','left':7,'never':2,'p50_seconds':90,'p90_seconds':120,'bottleneck':{"
            + "'kind':'resource','level':'host','node':'h1','resource':'slots','limit':2,"
            + "'gain_seconds':30,'gain_of_level_seconds':40}}");
    assertThat(run("eta", "backup").out())
        .isEqualToNormalizingNewlines(
            """
            JOB     LEFT    P50    P90  NEVER  BOTTLENECK         GAIN  GAIN (ALL)
            backup     7  1m30s  2m00s      2  host/h1.slots = 2   30s         40s
            """);
    server.on(
        "GET /api/v1/jobs/shut/eta",
        "{'job':'shut','left':7,'never':7,'p50_seconds':0,'p90_seconds':0,'bottleneck':{"
            + "'kind':'resource','level':'host','node':'h1','resource':'slots','limit':0}}");
    assertThat(run("eta", "shut").out()).contains("  7  host/h1.slots = 0     -           -");
    server.on("GET /api/v1/jobs/new/eta", "{'job':'new','left':7,'never':0}");
    server.on("GET /api/v1/jobs/new/sums", "{'ended':0,'ran_ms':0}");
    assertThat(run("eta", "new").err()).contains("give --assume 30s");
    server.on(
        "GET /api/v1/leadership",
        "{'elected':true,'epoch':7,'candidates':['a:1','b:2'],'time_ms':1}");
    assertThat(run("leadership").out())
        .isEqualToNormalizingNewlines(
            """
            SCHEDULER  ROLE
            a:1        leads
            b:2        stands by
            epoch 7
            """);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      value = {
        "'kind':'queue','name':'q','resource':'slots','limit':3 | queue q.slots = 3",
        "'kind':'queue','name':'q','limit':3 | queue q = 3",
        "'kind':'group','level':'host','name':'rs r-3','limit':1 | group rs r-3 = 1",
        "'kind':'level_start_rate','level':'host','node':'h1','limit':0.5 | host/h1 start rate = 0.5/s",
        "'kind':'brake','level':'host','node':'h1','limit':0 | brake on host/h1",
        "'kind':'brake','level':'host','node':'h1','name':'quarantine','limit':0"
            + " | quarantine on host/h1"
      })
  void whatLimitsAJobIsNamed(String bottleneck, String shown) {
    server.on(
        "GET /api/v1/jobs/backup/eta",
        "{'job':'backup','left':7,'never':0,'p50_seconds':90,'p90_seconds':120,'bottleneck':{"
            + bottleneck
            + "}}");
    assertThat(run("eta", "backup").out()).contains("  " + shown + "  ");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "limits          | /limits",
        "failures backup | /jobs/backup/failures",
        "waiting backup  | /jobs/backup/waiting",
        "explain backup  | /jobs/backup/waiting",
        "levels backup   | /jobs/backup/levels",
        "tree            | /tree",
        "node host h1    | /nodes/host/h1",
        "groups          | /groups",
        "problems        | /problems",
        "settings        | /settings",
        "whoami          | /me",
        "leadership      | /leadership",
      })
  void jsonIsTheBodyOfTheResource(String command, String path) {
    server.on("GET /api/v1" + path, "{'what':'ever','more':[1,{'x':null}]}");
    CommandRun run = run((command + " --json").split(" ", -1));
    assertThat(run.code()).as(run.err()).isZero();
    assertThat(run.out().strip()).isEqualTo("{\"what\":\"ever\",\"more\":[1,{\"x\":null}]}");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "jobs -w=0               | --watch must be from 0.1 to 86400 seconds",
        "jobs --watch 50ms       | --watch must be from 0.1 to 86400 seconds",
        "jobs --watch 2d         | --watch must be from 0.1 to 86400 seconds",
        "jobs --json -o csv      | --json and --output csv exclude each other",
        "workers -o table --json | --json and --output table exclude each other",
      })
  void flagsThatMakeNoSenseAreRefused(String command, String message) {
    CommandRun run = run(command.split(" ", -1));
    assertThat(run.code()).isEqualTo(2);
    assertThat(run.err()).contains(message);
    assertThat(server.asked()).isEmpty();
  }

  @Test
  void watchingRedrawsInPlaceOnATerminal() {
    server
        .on("GET /api/v1/jobs", "{'jobs':[{'name':'a'},{'name':'b'},{'name':'c'}]}")
        .on("GET /api/v1/jobs", "{'jobs':[{'name':'a'}]}");
    FakeViewport terminal = new FakeViewport(80, 4, 2, false, false);
    CommandRun run = run(terminal, "jobs", "--names", "--watch", "5");
    assertThat(run.code()).isEqualTo(130);
    assertThat(run.out())
        .isEqualTo("\ra\u001b[K\n\rb\u001b[K\n\rc\u001b[K\n\u001b[J\u001b[3A\ra\u001b[K\n\u001b[J");
    assertThat(terminal.pauses()).containsExactly(Duration.ofSeconds(5), Duration.ofSeconds(5));
  }

  @Test
  void watchingCutsWhatIsHigherThanTheTerminal() {
    server.on("GET /api/v1/jobs", "{'jobs':[{'name':'a'},{'name':'b'},{'name':'c'}]}");
    FakeViewport terminal = new FakeViewport(80, 3, 1, false, false);
    assertThat(run(terminal, "jobs", "--names", "--watch").out())
        .isEqualTo("\ra\u001b[K\n… and 2 more lines\u001b[K\n\u001b[J");
  }

  @Test
  void watchingElsewhereRepeatsBelowTheTimeAndSurvivesARestart() {
    server.on("GET /api/v1/jobs", "{'jobs':[{'name':'a'}]}");
    FakeViewport plain = FakeViewport.plain(2);
    CommandRun run = run(plain, "jobs", "--names", "-w");
    assertThat(run.out().replaceAll("--- [0-9TZ:-]+", "--- T"))
        .isEqualToNormalizingNewlines("--- T\na\n--- T\na\n");
    assertThat(plain.pauses()).containsExactly(Duration.ofSeconds(2), Duration.ofSeconds(2));
    assertThat(run(FakeViewport.plain(2), "jobs", "--watch", "--json").out().lines())
        .as("for machines: one body a line, and nothing else")
        .hasSize(2)
        .allMatch(line -> line.startsWith("{\"jobs\""));
    assertThat(
            CommandRun.of(FakeViewport.plain(2), "jobs", "--watch", "--server", "127.0.0.1:1")
                .code())
        .as("a wrong address")
        .isEqualTo(3);
  }

  @Test
  void coloursAreForTerminalsAndAddNoWidth() {
    server.on(
        "GET /api/v1/jobs",
        "{'jobs':[{'name':'a','valid':false,'progress':{'failed':2,'total':2}}]}");
    String coloured = run(new FakeViewport(80, 24, 1, true, false), "jobs").out();
    assertThat(coloured).contains("\u001b[31minvalid\u001b[0m", "\u001b[31m2\u001b[0m");
    assertThat(coloured.replaceAll("\u001b\\[[0-9]*m", ""))
        .isEqualTo(run(new FakeViewport(80, 24, 1, false, false), "jobs").out());
  }

  @Test
  void wideCharactersKeepColumnsStraight() {
    server.on(
        "GET /api/v1/jobs",
        "{'jobs':[{'name':'日本語','level':'db'},{'name':'e\u0301te','level':'db'},"
            + "{'name':'a\u202eb','level':'db'}]}");
    assertThat(run("jobs").out())
        .contains("\n日本語  db ", "\ne\u0301te     db ", "\na\ufffdb     db ")
        .doesNotContain("\u202e");
    for (int width = 10; width < 60; width++) {
      int most = width;
      assertThat(run(new FakeViewport(width, 24, 1, false, false), "jobs").out().lines())
          .as("width %s", width)
          .allMatch(line -> TextWidth.width(line) <= most || most < 30);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {".", ".."})
  void aNodeThatNoPathCanHoldIsAskedForInTheQuery(String node) {
    server.on(
        "GET /api/v1/jobs/backup/tasks/-",
        "{'job':'backup','node':'" + node + "','status':'done','attempts':1}");
    assertThat(run("tasks", "backup", node).out()).startsWith("backup on " + node + ": done");
    assertThat(server.asked()).containsExactly("GET /api/v1/jobs/backup/tasks/-?node=" + node);
  }
}
