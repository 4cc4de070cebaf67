package io.espalier.e2e.drill;

import io.espalier.core.json.Json;
import io.espalier.e2e.Distribution;
import io.espalier.json.JsonReader;
import io.espalier.testkit.database.DatabaseServer;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Schedulers, workers, an ensemble of ZooKeeper and a database, as real processes with default
 * timers; and a job whose tasks write down that they live.
 */
final class HaCluster implements AutoCloseable {
  private static final int NODES_PER_HOST = 20;
  private static final int AT_ONCE = 12;
  private static final Duration TABLES_WITHIN = Duration.ofMinutes(2);
  private static final Duration LOOK_EVERY = Duration.ofMillis(100);

  /** How a group of schedulers elects its leader, and where it keeps statuses. */
  enum Kind {
    /** By ZooKeeper; in SQLite, whose files the schedulers share. */
    SQLITE,
    /** By ZooKeeper; in a real MariaDB. */
    MYSQL,
    /** By the store, a real MariaDB. */
    STORE
  }

  /**
   * How large it is.
   *
   * @param hosts how many times twenty tasks there are to do
   * @param statuses how many tasks of other jobs have been done before, according to the store; not
   *     with SQLite
   */
  record Size(int schedulers, int workers, int hosts, int statuses) {}

  private final Path site;
  private final Size size;
  private final OnceWork work;
  private final @Nullable Ensemble zookeeper;
  private final @Nullable DatabaseServer database;
  private final List<Part> schedulers = new ArrayList<>();
  private final List<Part> workers = new ArrayList<>();
  private final int basePort;
  private final HttpClient http =
      HttpClient.newBuilder()
          .connectTimeout(Duration.ofSeconds(2))
          .proxy(HttpClient.Builder.NO_PROXY)
          .build();

  /** Starts everything; does not wait. */
  HaCluster(Path site, Kind kind, Size size, int basePort) throws Exception {
    this.site = site;
    this.size = size;
    this.basePort = basePort;
    work = new OnceWork(site);
    Path task = work.task();
    EarlierTasks earlier = new EarlierTasks(size.statuses(), NODES_PER_HOST);
    Path config = Files.writeString(site.resolve("site.json"), config(task, earlier));
    zookeeper = kind == Kind.STORE ? null : Ensemble.start(site, 3, basePort + 50);
    database =
        kind == Kind.SQLITE
            ? null
            : new DatabaseServer(
                DatabaseServer.Flavour.MARIADB,
                Files.createDirectories(site.resolve("db")),
                "--innodb-buffer-pool-size=512M");
    if (database != null) {
      database.sql("create database drill");
    }
    for (int i = 0; i < size.schedulers(); i++) {
      schedulers.add(new Part("s" + i, site, Distribution.launcher(), scheduler(i, config)));
    }
    for (int i = 0; i < size.workers(); i++) {
      workers.add(new Part("w" + i, site, Distribution.command("INFO"), worker(i)));
    }
    if (database != null && earlier.count() > 0) {
      makeTables();
      earlier.store(database);
    }
    schedulers.forEach(Part::start);
    workers.forEach(Part::start);
  }

  /** By a scheduler that leads for a moment, with no worker that could run anything. */
  private void makeTables() throws InterruptedException {
    Part first = schedulers.get(0);
    first.start();
    if (!Patience.until(TABLES_WITHIN, LOOK_EVERY, () -> leader() == 0)) {
      throw new IllegalStateException("it does not lead: " + first.lastWords());
    }
    first.stop().waitFor();
  }

  private List<String> scheduler(int number, Path config) {
    List<String> arguments =
        new ArrayList<>(
            List.of(
                "scheduler",
                "--config",
                config.toString(),
                "--runner",
                "remote",
                "--instance-node-name",
                "drill",
                "--http",
                "127.0.0.1:" + (basePort + number),
                "--thrift",
                thrift(number)));
    arguments.addAll(
        zookeeper == null ? List.of("--ha", "store") : List.of("--zookeeper", group(zookeeper)));
    arguments.addAll(
        database == null
            ? List.of("--data-dir", site.resolve("shared").toString())
            : List.of(
                "--data-dir",
                site.resolve("scheduler" + number).toString(),
                "--status-store",
                database.address("drill")));
    return arguments;
  }

  private List<String> worker(int number) {
    List<String> arguments =
        new ArrayList<>(
            List.of(
                "worker",
                "--shard-id",
                "w" + number,
                "--data-dir",
                site.resolve("worker" + number).toString()));
    arguments.addAll(
        zookeeper == null
            ? List.of(
                "--scheduler",
                IntStream.range(0, size.schedulers())
                    .mapToObj(this::thrift)
                    .collect(Collectors.joining(",")))
            : List.of("--zookeeper", group(zookeeper)));
    return arguments;
  }

  private String thrift(int scheduler) {
    return "127.0.0.1:" + (basePort + 10 + scheduler);
  }

  private String config(Path task, EarlierTasks earlier) {
    String ours =
        IntStream.rangeClosed(1, size.hosts())
            .mapToObj(number -> "\"h" + number + "\"")
            .collect(Collectors.joining(", "));
    return """
    {
      "bistro_settings": {
        "enabled": true,
        "nodes": {
          "levels": ["host", "db"],
          "node_sources": [
            {"source": "range_label",
             "prefs": {"parent_level": "instance", "start": 1, "end": HOSTS, "format": "h{i}"}},
            {"source": "range_label",
             "prefs": {"parent_level": "host", "start": 1, "end": NODES, "format": "{parent}.{i}"}}
          ]
        },
        "resources": {
          "instance": {"all": {"default": 1, "limit": LIMIT}},
          "host": {"slots": {"default": 1, "limit": 2}}
        },
        "backoff": [1, "repeat"]
      },
      EARLIER
      "bistro_job->drill": {
        "owner": "drill", "command": ["TASK"], "filters": {"host": {"whitelist": [OURS]}},
        "task_subprocess": {"pass_environment": ["DRILL_WORKER"]}
      }
    }
    """
        .replace("HOSTS", Integer.toString(Math.max(size.hosts(), earlier.hosts())))
        .replace("NODES", Integer.toString(NODES_PER_HOST))
        .replace("LIMIT", Integer.toString(AT_ONCE))
        .replace("EARLIER", earlier.jobs(task))
        .replace("OURS", ours)
        .replace("TASK", task.toString());
  }

  /** As {@code --zookeeper} wants it. */
  private static String group(Ensemble zookeeper) {
    return zookeeper.connect() + "/espalier/drill";
  }

  int tasks() {
    return size.hosts() * NODES_PER_HOST;
  }

  OnceWork work() {
    return work;
  }

  List<Part> schedulers() {
    return schedulers;
  }

  /** The one that says that it leads; -1: none does. */
  int leader() {
    for (int i = 0; i < schedulers.size(); i++) {
      if (!schedulers.get(i).isFrozen()
          && ask(i, "/healthz")
              .filter(body -> Json.of("leader").equals(body.get("role")))
              .isPresent()) {
        return i;
      }
    }
    return -1;
  }

  /** How many could lead, as the leader sees it. */
  int candidates(int leader) {
    return ask(leader, "/api/v1/leadership")
        .map(body -> body.get("candidates") instanceof Json.Arr all ? all.items().size() : 0)
        .orElse(0);
  }

  /** How many tasks are done, as the leader sees it; -1: it does not say. */
  long done(int leader) {
    return ask(leader, "/api/v1/jobs/drill")
        .map(
            job ->
                job.get("progress") instanceof Json.Obj progress
                        && progress.get("done") instanceof Json.Num done
                    ? done.value().longValue()
                    : -1L)
        .orElse(-1L);
  }

  private Optional<Json.Obj> ask(int scheduler, String path) {
    if (scheduler < 0) {
      return Optional.empty();
    }
    try {
      HttpResponse<String> answer =
          http.send(
              HttpRequest.newBuilder(
                      URI.create("http://127.0.0.1:" + (basePort + scheduler) + path))
                  .timeout(Duration.ofSeconds(3))
                  .build(),
              HttpResponse.BodyHandlers.ofString());
      return answer.statusCode() == 200
              && JsonReader.parse(answer.body()).value() instanceof Json.Obj body
          ? Optional.of(body)
          : Optional.empty();
    } catch (IOException e) {
      return Optional.empty();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Optional.empty();
    }
  }

  /** The end of what everybody said. */
  String lastWords() {
    StringBuilder words = new StringBuilder();
    for (List<Part> parts : List.of(schedulers, workers)) {
      for (Part part : parts) {
        words.append("--- ").append(part.name()).append('\n').append(part.lastWords()).append('\n');
      }
    }
    return words.toString();
  }

  @Override
  public void close() throws IOException {
    // Together: each waits for its tasks.
    workers.parallelStream().forEach(Part::close);
    schedulers.parallelStream().forEach(Part::close);
    if (zookeeper != null) {
      zookeeper.close();
    }
    if (database != null) {
      database.close();
    }
  }
}
