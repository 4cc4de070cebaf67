package io.espalier.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.espalier.e2e.Espalier.Ended;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.apache.curator.test.TestingServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Two real schedulers, real workers and a real ZooKeeper on one machine, where they can share the
 * files of one SQLite store: one at a time has them open.
 */
@Timeout(240)
@Tag("slow")
class FailoverIT {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final Site site;
  private final TestingServer zookeeper;
  private final List<Integer> ports = Ports.free(2);

  FailoverIT(@TempDir Path directory) throws Exception {
    System.setProperty("zookeeper.admin.enableServer", "false");
    site = new Site(directory);
    zookeeper = new TestingServer(true);
  }

  @BeforeEach
  void begin() {
    site.task("task.sh", "sleep 0.4");
    site.config(
        """
        {
          "bistro_settings": {
            "nodes": {
              "levels": ["n"],
              "node_sources": [
                {"source": "range_label",
                 "prefs": {"parent_level": "instance", "start": 1, "end": 2000, "format": "n{i}"}}
              ]
            },
            "resources": {"instance": {"c": {"default": 1, "limit": 4}}}
          },
          "bistro_job->work": {"owner": "me", "command": ["%s"]}
        }
        """
            .formatted(site.file("task.sh")));
  }

  @AfterEach
  void stop() throws IOException {
    site.close();
    zookeeper.close();
  }

  private String group() {
    return zookeeper.getConnectString() + "/espalier/test";
  }

  private Espalier scheduler(int number) {
    return site.scheduler(
        "shared", "--thrift", "127.0.0.1:" + ports.get(number), "--zookeeper", group());
  }

  private void worker(String name) {
    Espalier unused = site.worker(name, "--zookeeper", group());
  }

  private static HttpResponse<String> post(String url) throws Exception {
    return HttpClient.newBuilder()
        .followRedirects(HttpClient.Redirect.NORMAL)
        .build()
        .send(
            HttpRequest.newBuilder(URI.create(url))
                .POST(HttpRequest.BodyPublishers.ofString("{\"reason\": \"test\"}"))
                .build(),
            HttpResponse.BodyHandlers.ofString());
  }

  @Test
  void anotherLeadsWhenTheLeaderIsKilledStepsDownOrIsStopped() throws Exception {
    Espalier first = scheduler(0);
    first.awaitLeading();
    Espalier second = scheduler(1);
    worker("w1");
    worker("w2");
    second.awaitSaid("standing by at " + group());
    site.awaitNewStarts("work");

    second.awaitLeader(first);
    Http standby = new Http(second.url());
    assertThat(Site.text(standby.get("/api/v1/jobs"), "jobs", "0", "name")).isEqualTo("work");
    assertThat(standby.get("/api/v1/leadership").get("elected")).hasToString("true");
    Ended jobs = site.espalier("jobs", "--zookeeper", group());
    assertThat(jobs.code()).isZero();
    assertThat(jobs.stdout()).contains("work");

    first.signal("KILL");
    first.ended();
    second.awaitLeading();
    site.awaitNewStarts("work");

    Espalier third = scheduler(0);
    third.awaitSaid("standing by at " + group());
    Http leader = new Http(second.url());
    await()
        .atMost(PATIENCE)
        .until(
            () ->
                Site.at(leader.get("/api/v1/leadership"), "candidates")
                    .toString()
                    .contains(third.url().substring(7)));
    // The leader knows of its candidates before they know of it.
    third.awaitLeader(second);
    HttpResponse<String> asked = post(third.url() + "/api/v1/leadership/step-down");
    assertThat(asked.statusCode()).as(asked.body()).isEqualTo(200);
    second.awaitSaid("leading no more");
    third.awaitLeading();
    site.awaitNewStarts("work");

    third.signal("TERM");
    assertThat(third.ended().code()).isZero();
    second.awaitSaid(Espalier.LEADING, 2);
    site.awaitNewStarts("work");
    assertThat(Set.copyOf(site.starts("work").values()))
        .as("no task was started twice")
        .containsExactly(1);
  }

  @Test
  void aJobThatHasFailedIsNotResurrectedByTheNextLeader() throws Exception {
    site.task("bad.sh", "echo failed >\"$2\"; exit");
    site.config(
        """
        {
          "bistro_settings": {
            "nodes": {
              "levels": ["n"],
              "node_sources": [
                {"source": "range_label",
                 "prefs": {"parent_level": "instance", "start": 1, "end": 50, "format": "n{i}"}}
              ]
            },
            "resources": {"instance": {"c": {"default": 1, "limit": 2}}}
          },
          "bistro_job->bad": {
            "owner": "me", "command": ["%s"], "fail_job_when": {"failed_tasks": 3}
          }
        }
        """
            .formatted(site.file("bad.sh")));
    Espalier first = scheduler(0);
    first.awaitLeading();
    Espalier second = scheduler(1);
    second.awaitSaid("standing by at " + group());
    worker("w1");
    Http leader = new Http(first.url());
    await()
        .atMost(PATIENCE)
        .untilAsserted(
            () ->
                assertThat(Site.text(leader.get("/api/v1/jobs/bad"), "state")).isEqualTo("failed"));
    // Acknowledged: killed at once, the next one must know.
    first.signal("KILL");
    first.ended();
    second.awaitLeading();
    Http next = new Http(second.url());
    await()
        .atMost(PATIENCE)
        .untilAsserted(
            () -> {
              assertThat(Site.text(next.get("/api/v1/jobs/bad"), "state")).isEqualTo("failed");
              assertThat(Site.number(next.get("/api/v1/jobs/bad"), "progress", "running")).isZero();
            });
    int started = site.starts("bad").size();
    assertThat(started).as("the threshold, and what ran then").isBetween(3, 4);
    Ended resumed =
        site.espalier("resume", "bad", "--server", second.url(), "--reason", "once more");
    assertThat(resumed.code()).as(resumed.stderr()).isZero();
    await().atMost(PATIENCE).until(() -> site.starts("bad").size() > started);
  }

  @Test
  void aLeaderThatWasFrozenLeadsNoMore() {
    Espalier first = scheduler(0);
    first.awaitLeading();
    worker("w1");
    site.awaitNewStarts("work");
    Espalier second = scheduler(1);
    second.awaitSaid("standing by at " + group());

    first.signal("STOP");
    // The files of the store stay the frozen one's: on one machine nobody can take over.
    second.awaitSaid("cannot lead: ");
    first.signal("CONT");
    first.awaitSaid("leading no more");
    await()
        .atMost(PATIENCE)
        .until(
            () ->
                second.stderr().contains(Espalier.LEADING)
                    || first.stderr().split(Espalier.LEADING, -1).length == 3);
    site.awaitNewStarts("work");
    assertThat(Set.copyOf(site.starts("work").values())).containsExactly(1);
  }

  @Test
  void haCheckLooksAtTheGroupAndItsDrillMovesTheLead() {
    Espalier first = scheduler(0);
    first.awaitLeading();
    Espalier second = scheduler(1);
    worker("w1");
    second.awaitSaid("standing by at " + group());
    site.awaitNewStarts("work");
    String[] check = {"ha-check", "--zookeeper", group()};
    await()
        .atMost(PATIENCE)
        .untilAsserted(
            () -> {
              Ended looked = site.espalier(check);
              assertThat(looked.code()).as(looked.stdout() + looked.stderr()).isZero();
              assertThat(looked.stdout()).contains("candidates  2", "leads in epoch 1");
            });

    Ended drilled = site.espalier(check[0], check[1], check[2], "--drill");
    assertThat(drilled.code()).as(drilled.stdout() + drilled.stderr()).isZero();
    assertThat(drilled.stdout()).contains("drill");
    second.awaitLeading();
    site.awaitNewStarts("work");
  }

  @Test
  void whatCannotBeACandidateIsSaidAtTheStart() {
    String[] base = {
      "scheduler", "--config", "site.json", "--data-dir", "d", "--http", "127.0.0.1:0"
    };
    assertThat(refusal(base, "--zookeeper", group(), "--runner", "local"))
        .contains("--runner local: its tasks would die with the leader");
    assertThat(refusal(base, "--zookeeper", group(), "--status-store", "memory"))
        .contains("would know nothing of what runs");
    assertThat(refusal(base, "--zookeeper", zookeeper.getConnectString()))
        .contains("the path is missing");
    assertThat(refusal(base, "--zookeeper", group(), "--thrift", "127.0.0.1:0"))
        .contains("workers are told the port before it is chosen");
    assertThat(refusal(base, "--zookeeper", group(), "--paused"))
        .contains("each fail-over would stop all starts");
    assertThat(refusal(new String[] {"worker", "--shard-id", "w"}))
        .contains("--scheduler HOST:PORT, or --zookeeper");
    Ended nobody = site.espalier("jobs", "--zookeeper", group());
    assertThat(nobody.code()).isEqualTo(3);
    assertThat(nobody.stderr()).contains("there is no group of schedulers at " + group());
  }

  private String refusal(String[] base, String... more) {
    List<String> arguments = new ArrayList<>(List.of(base));
    arguments.addAll(List.of(more));
    Ended ended = site.espalier(arguments.toArray(String[]::new));
    assertThat(ended.code()).as(ended.stderr()).isEqualTo(2);
    return ended.stderr();
  }
}
