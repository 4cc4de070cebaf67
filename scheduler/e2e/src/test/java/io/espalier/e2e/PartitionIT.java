package io.espalier.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.e2e.Espalier.Ended;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Schedulers that share nothing split one configuration
 * (docs/design/design.md#schedulers-that-share-a-configuration).
 */
class PartitionIT {
  private static final int HOSTS = 24;

  private static Site site(Path directory) {
    StringBuilder hosts = new StringBuilder();
    for (int h = 0; h < HOSTS; h++) {
      hosts.append(h == 0 ? "" : ", ").append("\"host").append(h).append("\": [");
      // The database "shared" hangs under two hosts.
      hosts.append(h == 2 || h == 10 ? "\"shared\", " : "");
      hosts.append("\"d%d.a\", \"d%d.b\"]".formatted(h, h));
    }
    return new Site(directory)
        .task("task.sh", "")
        .config(
            """
            {"bistro_settings": {
               "nodes": {"levels": ["host", "db"], "node_sources": [
                 {"source": "manual", "prefs": {%s}}]},
               "resources": {"host": {"slots": {"limit": 1, "default": 1}}}},
             "bistro_job->dbs": {"owner": "e2e", "command": ["./task.sh"]},
             "bistro_job->all": {"owner": "e2e", "level_for_tasks": "instance",
               "command": ["./task.sh"]}}
            """
                .formatted(hosts));
  }

  @Test
  void three_processes_run_every_task_of_one_configuration_exactly_once(@TempDir Path directory) {
    Site site = site(directory);
    List<Espalier> running = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      running.add(
          Espalier.start(
              directory,
              "run",
              "site.json",
              "--json",
              "--instance-node-name",
              "here",
              "--shard",
              i + "/3"));
    }
    long done = 0;
    for (Espalier shard : running) {
      Ended ended = shard.ended();
      assertThat(ended.code()).as(ended.stderr()).isZero();
      done += Site.number(ended.json(), "jobs", "dbs", "done");
      shard.close();
    }
    assertThat(done).isEqualTo(2 * HOSTS + 1);
    Map<String, Integer> starts = site.starts("dbs");
    assertThat(starts).hasSize(2 * HOSTS + 1).containsKey("shared");
    assertThat(starts.values()).containsOnly(1);
    assertThat(site.starts("all")).isEqualTo(Map.of("here", 1));

    // What each left is its own: another number must not take it for its own.
    Ended other =
        site.run(
            "--shard",
            "0/4",
            "--instance-node-name",
            "here",
            "--data-dir",
            ".espalier/site-0-of-3");
    assertThat(other.code()).isEqualTo(2);
    assertThat(other.stderr()).contains("shard 0/3, not to").contains("shard 0/4");
    // Beginning with nothing, or with less than all, would do again what is done.
    String[] four = {"--shard", "2/4", "--instance-node-name", "here"};
    Ended forgetful = site.run(four);
    assertThat(forgetful.code()).isEqualTo(2);
    assertThat(forgetful.stderr()).contains("would be done again: take them with --statuses-from");
    Ended incomplete =
        site.run(
            four[0],
            four[1],
            four[2],
            four[3],
            "--statuses-from",
            ".espalier/site-0-of-3,.espalier/site-2-of-3");
    assertThat(incomplete.code()).isEqualTo(2);
    assertThat(incomplete.stderr()).contains("not that of shard 1/3: what it has done would be");
    // With four schedulers nothing is done twice: each takes what the three before have done.
    for (int i = 2; i < 4; i++) {
      Ended taken =
          site.run(
              "--shard",
              i + "/4",
              "--instance-node-name",
              "here",
              "--statuses-from",
              ".espalier/site-0-of-3,.espalier/site-1-of-3,.espalier/site-2-of-3");
      assertThat(taken.code()).as(taken.stderr()).isZero();
      assertThat(Site.number(taken.json(), "jobs", "dbs", "done")).isGreaterThan(4);
    }
    assertThat(site.starts("dbs").values()).containsOnly(1);

    // Nobody goes on where statuses were taken.
    Ended old = site.run("--shard", "0/3", "--instance-node-name", "here");
    assertThat(old.code()).isEqualTo(2);
    assertThat(old.stderr()).contains("have taken its statuses (--statuses-from)");

    // And can be asked about, with no more than the directory.
    Ended tasks = site.espalier("tasks", "dbs", "--json", "--data-dir", ".espalier/site-1-of-3");
    assertThat(tasks.code()).as(tasks.stderr()).isZero();
    assertThat(Site.byNode(tasks.json())).isNotEmpty().hasSizeLessThan(2 * HOSTS);
  }

  @Test
  void a_wrong_shard_is_refused_and_what_cannot_be_shared_is_said(@TempDir Path directory) {
    Site site = site(directory);
    for (String command : List.of("run", "nodes", "validate")) {
      Ended refused = site.espalier(command, "site.json", "--shard", "3/3");
      assertThat(refused.code()).isEqualTo(2);
      assertThat(refused.stderr())
          .contains("--shard 3/3: 3 schedulers have the numbers 0 to 2, not 3");
    }
    site.config(
        """
        {"bistro_settings": {
           "nodes": {"levels": ["host"], "node_sources": [{"source": "manual", "prefs": {"a": []}}]},
           "resources": {}},
         "bistro_job->first": {"owner": "e2e", "command": ["true"]},
         "bistro_job->last": {"owner": "e2e", "command": ["true"],
           "run_only_after_all_nodes_are_done_for": ["first"]}}
        """);
    Ended validated = site.espalier("validate", "site.json", "--shard", "0/2");
    assertThat(validated.code()).isEqualTo(2);
    assertThat(validated.stdout())
        .contains("bistro_job->last.run_only_after_all_nodes_are_done_for[0]")
        .contains("2 schedulers share the nodes");
    assertThat(site.espalier("validate", "site.json").code()).isZero();
  }
}
