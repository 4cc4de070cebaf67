package io.espalier.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.espalier.e2e.Espalier.Ended;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
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
  private final List<Espalier> running = new ArrayList<>();
  private final int[] ports = new int[4];

  FailoverIT(@TempDir Path directory) throws Exception {
    System.setProperty("zookeeper.admin.enableServer", "false");
    site = new Site(directory);
    zookeeper = new TestingServer(true);
  }

  @BeforeEach
  void site() throws IOException {
    List<ServerSocket> free = new ArrayList<>();
    for (int i = 0; i < ports.length; i++) {
      ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
      free.add(socket);
      ports[i] = socket.getLocalPort();
    }
    for (ServerSocket socket : free) {
      socket.close();
    }
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
    running.forEach(Espalier::close);
    zookeeper.close();
  }

  private String group() {
    return zookeeper.getConnectString() + "/espalier/test";
  }

  private Espalier start(String... arguments) {
    Espalier espalier = Espalier.start(site.directory(), arguments);
    running.add(espalier);
    return espalier;
  }

  private Espalier scheduler(int number) {
    return start(
        "scheduler",
        "--config",
        "site.json",
        "--data-dir",
        "shared",
        "--runner",
        "remote",
        "--http",
        "127.0.0.1:" + ports[2 * number],
        "--thrift",
        "127.0.0.1:" + ports[2 * number + 1],
        "--zookeeper",
        group());
  }

  private Espalier worker(String name) {
    return start("worker", "--shard-id", name, "--data-dir", name, "--zookeeper", group());
  }

  private static void awaitSaid(Espalier espalier, String words) {
    await()
        .failFast("it has ended", () -> !espalier.isAlive() && !espalier.stderr().contains(words))
        .atMost(PATIENCE)
        .untilAsserted(() -> assertThat(espalier.stderr()).contains(words));
  }

  private void awaitNewStarts() {
    int before = site.starts("work").size();
    await().atMost(PATIENCE).until(() -> site.starts("work").size() > before + 4);
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
    awaitSaid(first, "espalier: leading");
    Espalier second = scheduler(1);
    worker("w1");
    worker("w2");
    awaitSaid(second, "standing by at " + group());
    awaitNewStarts();

    awaitLeader(second, first);
    Http standby = new Http(second.url());
    assertThat(Site.text(standby.get("/api/v1/jobs"), "jobs", "0", "name")).isEqualTo("work");
    assertThat(standby.get("/api/v1/leadership").get("elected")).hasToString("true");
    Ended jobs = site.espalier("jobs", "--zookeeper", group());
    assertThat(jobs.code()).isZero();
    assertThat(jobs.stdout()).contains("work");

    first.signal("KILL");
    first.ended();
    awaitSaid(second, "espalier: leading");
    awaitNewStarts();

    Espalier third = scheduler(0);
    awaitSaid(third, "standing by at " + group());
    Http leader = new Http(second.url());
    await()
        .atMost(PATIENCE)
        .until(
            () ->
                Site.at(leader.get("/api/v1/leadership"), "candidates")
                    .toString()
                    .contains(third.url().substring(7)));
    // The leader knows of its candidates before they know of it.
    awaitLeader(third, second);
    HttpResponse<String> asked = post(third.url() + "/api/v1/leadership/step-down");
    assertThat(asked.statusCode()).as(asked.body()).isEqualTo(200);
    awaitSaid(second, "leading no more");
    awaitSaid(third, "espalier: leading");
    awaitNewStarts();

    third.signal("TERM");
    assertThat(third.ended().code()).isZero();
    await()
        .atMost(PATIENCE)
        .until(() -> second.stderr().split("espalier: leading\n", -1).length == 3);
    awaitNewStarts();
    assertThat(Set.copyOf(site.starts("work").values()))
        .as("no task was started twice")
        .containsExactly(1);
  }

  private static void awaitLeader(Espalier standby, Espalier leader) {
    Http http = new Http(standby.url());
    await()
        .atMost(PATIENCE)
        .untilAsserted(
            () -> assertThat(Site.text(http.get("/readyz"), "leader_url")).isEqualTo(leader.url()));
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
    awaitSaid(first, "espalier: leading");
    Espalier second = scheduler(1);
    awaitSaid(second, "standing by at " + group());
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
    awaitSaid(second, "espalier: leading");
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
    awaitSaid(first, "espalier: leading");
    worker("w1");
    awaitNewStarts();
    Espalier second = scheduler(1);
    awaitSaid(second, "standing by at " + group());

    first.signal("STOP");
    // The files of the store stay the frozen one's: on one machine nobody can take over.
    awaitSaid(second, "cannot lead: ");
    first.signal("CONT");
    awaitSaid(first, "leading no more");
    await()
        .atMost(PATIENCE)
        .until(
            () ->
                second.stderr().contains("espalier: leading\n")
                    || first.stderr().split("espalier: leading\n", -1).length == 3);
    awaitNewStarts();
    assertThat(Set.copyOf(site.starts("work").values())).containsExactly(1);
  }

  @Test
  void haCheckLooksAtTheGroupAndItsDrillMovesTheLead() {
    Espalier first = scheduler(0);
    awaitSaid(first, "espalier: leading");
    Espalier second = scheduler(1);
    worker("w1");
    awaitSaid(second, "standing by at " + group());
    awaitNewStarts();
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
    awaitSaid(second, "espalier: leading");
    awaitNewStarts();
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
