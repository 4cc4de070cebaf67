package io.espalier.cli.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code plan} and {@code apply}, against bodies of the contract. */
class PlanCommandsTest extends FakedCommands {
  private static final String IMPACT =
      "'impact':{'nodes_before':900,'nodes_added':0,'nodes_removed':30,'tasks_added':3999600,"
          + "'tasks_removed':4,'running':20,'kills':14,'orphans':12,'orphan_kills':12,"
          + "'orphan_tasks':[{'job':'b','node':'n1','killed_after_seconds':0},"
          + "{'job':'b','node':'n2'}],'over_limit':1,'over_limit_kills':2,"
          + "'over_limit_nodes':[{'level':'host','node':'h1','resource':'slots','used':4,"
          + "'limit':2,'over_by':2,'killed_after_seconds':90}],"
          + "'jobs':[{'job':'b','level':'db','before':400,'after':4000000,'added':3999600,"
          + "'removed':4,'statuses_left':7,'orphans':12}],"
          + "'never':[{'severity':'warning','path':'bistro_job->b','message':'it can never run'}]}";

  private static final String PLAN =
      "{'version':'v','valid':true,'problems':[],'consent':{'kills':14,'new':3999600},"
          + "'settings':[{'path':'resources.host.slots.limit','before':4,'after':2}],"
          + "'jobs':[{'job':'b','change':'changed','keys':['filters']},"
          + "{'job':'c','change':'added','keys':[],'renamed_from':'a'}],"
          + "'token':'t.s','until_ms':1000,"
          + IMPACT
          + ",'forecast':{'peaks':[{'level':'host','resource':'slots','now':{'used':30,'slots':36},"
          + "'then':{'used':18,'slots':1800}},{'level':'host','resource':'io',"
          + "'then':{'used':1,'slots':2}}],'ends':[{'job':'b','now':{'left':400,'never':0,"
          + "'p50_seconds':1102,'p90_seconds':1138},'then':{'left':4000000,'never':3,"
          + "'p50_seconds':2190,'p90_seconds':2232.5}},"
          + "{'job':'c','then':{'left':4,'never':0,'p50_seconds':30,'p90_seconds':31}}],"
          + "'more_jobs':2}}";

  @TempDir
  @SuppressWarnings("NullAway.Init")
  private Path directory;

  private String config = "";

  @BeforeEach
  void write() throws IOException {
    config =
        Files.writeString(
                directory.resolve("jobs.yaml"), "espalier: v1\njobs:\n  b: {owner: ann}\n")
            .toString();
  }

  @Test
  void aPlanIsShownWithTheCommandThatAppliesIt() {
    server.on("POST /api/v1/plans", PLAN);
    CommandRun run = run("plan", config, "--prune");
    assertThat(run.code()).as(run.err()).isZero();
    assertThat(run.out())
        .contains("settings: resources.host.slots.limit: 4 -> 2")
        .contains("job b: changed (filters)")
        .contains("job c: added, the same as a, which is removed")
        .contains("0 nodes come, 30 of 900 go")
        .contains("3,999,600 tasks are new, 4 are gone; 12 of 20 running tasks become orphans")
        .contains("  b on n1, killed at once", "  b on n2, never killed")
        .contains("  host h1: 4 of slots in use, 2 more than 2, killed after 1m30s")
        .contains("warning at bistro_job->b: it can never run")
        .containsPattern("host.slots +30 of 36 +18 of 1,800\n")
        .containsPattern("host.io +- +1 of 2\n")
        .containsPattern("b +18m22s +18m58s +36m30s +37m12s +\\+18m08s +3\n")
        .containsPattern("c +- +- +30s +31s")
        .contains("the ends of 2 more jobs are not estimated")
        .contains("apply " + config + " --prune --consent kills=14,new=3999600 --plan t.s");
    assertThat(server.asked())
        .containsExactly(
            "POST /api/v1/plans {\"config\":{\"bistro_job->b\":{\"owner\":\"ann\"}},"
                + "\"prune\":true}");
  }

  @Test
  void aPlanWithErrorsExitsWithTwo() {
    server.on(
        "POST /api/v1/plans",
        "{'version':'v','valid':false,'settings':[],'jobs':[],'consent':{},'problems':"
            + "[{'severity':'error','path':'bistro_job->b','message':'it is wrong','line':1}]}");
    CommandRun run = run("plan", config);
    assertThat(run.code()).isEqualTo(2);
    assertThat(run.out()).contains("error at bistro_job->b: it is wrong", "cannot be applied");
  }

  @Test
  void consentsAreSent() {
    server.on(
        "POST /api/v1/plans/apply",
        "{'jobs':[{'job':'b','version':3,'deleted':false},{'job':'c','version':1,'deleted':true}],"
            + "'settings':true,'applied':"
            + PLAN
            + "}");
    CommandRun run = run("apply", config, "--plan", "t.s", "--consent", "kills=14,new=400000");
    assertThat(run.out())
        .isEqualToNormalizingNewlines("1 job is saved, 1 deleted, the settings are replaced\n");
    assertThat(server.asked()).hasSize(1);
    assertThat(server.asked().get(0))
        .contains("\"plan\":\"t.s\",\"consent\":{\"kills\":14,\"new\":400000}");
  }

  @Test
  void whatMakesNoSenseIsNotSent() throws IOException {
    Path job = Files.writeString(directory.resolve("job.json"), "{\"owner\": \"ann\"}");
    assertThat(run("plan", job.toString()).err()).contains("name it with --job");
    assertThat(run("plan", job.toString(), "--job", "b", "--prune").err()).contains("--prune");
    assertThat(run("plan", directory.resolve("none").toString()).code()).isEqualTo(2);
    assertThat(run("apply", config, "--plan", "t", "--consent", "kills").code()).isEqualTo(2);
    assertThat(run("apply", config).err()).contains("--plan");
    assertThat(server.asked()).isEmpty();
  }

  @Test
  void savingAJobTellsWhatItDoes() throws IOException {
    Path job = Files.writeString(directory.resolve("job.json"), "{\"owner\": \"ann\"}");
    server.on("PUT /api/v1/jobs/b", "{'job':'b','version':2,'deleted':false}");
    assertThat(run("save-job", "b", job.toString()).err()).as("an older server").isEmpty();
    server.on("POST /api/v1/plans", PLAN);
    CommandRun run = run("save-job", "b", job.toString());
    assertThat(run.out()).isEqualToNormalizingNewlines("b is saved as version 2\n");
    assertThat(run.err())
        .startsWith("3,999,600 tasks are new, 4 are gone; 12 of 20 running")
        .endsWith("; the last job ends in about 18m22s now, in about 36m30s then\n");
  }

  @Test
  void unknownDurationsCanBeAssumed() {
    server
        .on(
            "POST /api/v1/plans",
            PLAN.replace("'p50_seconds':2190,'p90_seconds':2232.5", "'at_ms':1"))
        .on("POST /api/v1/plans", PLAN);
    CommandRun run = run("plan", config);
    assertThat(run.err()).contains("--assume 30s");
    assertThat(run.out()).containsPattern("b +18m22s +18m58s +- +-");
    assertThat(run("plan", config, "--assume", "30s").err()).isEmpty();
    assertThat(server.asked().get(1)).startsWith("POST /api/v1/plans?assume_ms=30000 ");
  }
}
