package io.espalier.e2e.drill;

import io.espalier.core.json.Json;
import io.espalier.e2e.Distribution;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/**
 * A scheduler and two workers of which some are of another release, while tasks run: {@code
 * UpgradeDrill DIST [SITE]}, where DIST is the distribution of the release before. All are
 * upgraded, the scheduler first; then the workers first; and all are taken back. A scheduler is
 * stopped and started, as a worker is once it has been drained. Each pair must start tasks, and
 * none may start twice or be lost. Ends with 1 when it is not so.
 */
public final class UpgradeDrill implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofMinutes(3);
  private static final Duration LOOK_EVERY = Duration.ofMillis(100);
  private static final int WORKERS = 2;
  private static final int TASKS = 300;

  /** Each pair of releases has to start so many tasks, on each worker. */
  private static final int STARTS = 5;

  private final Path before;
  private final Path site;
  private final int basePort;
  private final OnceWork work;
  private final Api api;
  private final List<Part> workers = new ArrayList<>();
  private Part scheduler;

  private enum Release {
    BEFORE,
    THIS
  }

  private enum Order {
    SCHEDULER_FIRST,
    WORKERS_FIRST,
    BACK
  }

  private UpgradeDrill(Path before, Path site, int basePort, Release first) throws IOException {
    this.before = before;
    this.site = Files.createDirectories(site);
    this.basePort = basePort;
    work = new OnceWork(site);
    api = new Api(Hosts.loopback(1), basePort);
    Files.writeString(
        site.resolve("site.json"),
        """
        {
          "bistro_settings": {
            "enabled": true,
            "nodes": {"levels": ["n"], "node_sources": [
              {"source": "range_label",
               "prefs": {"parent_level": "instance", "start": 1, "end": TASKS, "format": "n{i}"}}]},
            "resources": {"worker": {"slots": {"default": 1, "limit": 4}}}
          },
          "bistro_job->drill": {
            "owner": "drill", "command": ["TASK"], "backoff": [1, "repeat"],
            "task_subprocess": {"pass_environment": ["DRILL_WORKER"]}
          }
        }
        """
            .replace("TASKS", Integer.toString(TASKS))
            .replace("TASK", work.task().toString()));
    scheduler = scheduler(first);
    scheduler.start();
    for (int i = 0; i < WORKERS; i++) {
      workers.add(worker(i, first));
      workers.get(i).start();
    }
  }

  public static void main(String[] args) throws Exception {
    Path before = Path.of(args[0]).toAbsolutePath();
    Path site =
        args.length > 1
            ? Files.createDirectories(Path.of(args[1]).toAbsolutePath())
            : Files.createTempDirectory("espalier-upgrade-");
    int basePort = 21_000 + (int) (ProcessHandle.current().pid() % 800) * 10;
    int bad = 0;
    for (Order order : Order.values()) {
      List<String> wrong;
      Release first = order == Order.BACK ? Release.THIS : Release.BEFORE;
      try (UpgradeDrill drill =
          new UpgradeDrill(before, site.resolve(order.toString()), basePort, first)) {
        wrong = drill.run(order);
      }
      System.out.println(order + ": " + (wrong.isEmpty() ? "ok" : "VIOLATED"));
      wrong.stream().limit(50).forEach(each -> System.out.println("  ! " + each));
      bad += wrong.isEmpty() ? 0 : 1;
    }
    System.out.printf("%d of %d violated; files in %s%n", bad, Order.values().length, site);
    System.exit(bad == 0 ? 0 : 1);
  }

  private List<String> run(Order order) throws InterruptedException {
    startsOnAll("at the beginning");
    switch (order) {
      case SCHEDULER_FIRST -> {
        replaceScheduler(Release.THIS);
        replaceWorkers(Release.THIS);
      }
      case WORKERS_FIRST -> {
        replaceWorkers(Release.THIS);
        replaceScheduler(Release.THIS);
      }
      case BACK -> {
        replaceScheduler(Release.BEFORE);
        replaceWorkers(Release.BEFORE);
      }
    }
    await("all are done", () -> done() >= TASKS);
    return work.violations(TASKS);
  }

  private void replaceScheduler(Release by) throws InterruptedException {
    scheduler.stop().waitFor();
    scheduler = scheduler(by);
    scheduler.start();
    startsOnAll("under the scheduler of " + by);
  }

  private void replaceWorkers(Release by) {
    for (int i = 0; i < WORKERS; i++) {
      Part worker = workers.get(i);
      String path = "/api/v1/workers/" + worker.name() + "/";
      await("drain " + worker.name(), () -> api.post(path + "drain"));
      await("the end of " + worker.name(), () -> !worker.isAlive());
      workers.set(i, worker(i, by));
      workers.get(i).start();
      await("uncordon " + worker.name(), () -> api.post(path + "uncordon"));
      starts(worker.name(), "as a worker of " + by);
    }
  }

  private void startsOnAll(String when) {
    workers.forEach(worker -> starts(worker.name(), when));
  }

  /** Waits until some more tasks have been started on a worker. */
  private void starts(String worker, String when) {
    long now = startsOn(worker);
    await(
        worker + " runs tasks " + when, () -> startsOn(worker) >= now + STARTS || done() >= TASKS);
    if (startsOn(worker) < now + STARTS) {
      throw new IllegalStateException("the tasks were over before " + worker + " ran any " + when);
    }
  }

  private long startsOn(String worker) {
    return work.lines().stream()
        .filter(line -> line.startsWith("S ") && line.contains(" " + worker + " "))
        .count();
  }

  private long done() throws IOException, InterruptedException {
    Json.@Nullable Obj job = api.get("/api/v1/jobs/drill");
    return job != null
            && job.get("progress") instanceof Json.Obj progress
            && progress.get("done") instanceof Json.Num done
        ? done.value().longValue()
        : 0;
  }

  private Part scheduler(Release release) {
    return new Part(
        "scheduler",
        site,
        launcher(release),
        List.of(
            "scheduler",
            "--config",
            site.resolve("site.json").toString(),
            "--runner",
            "remote",
            "--instance-node-name",
            "drill",
            "--data-dir",
            site.resolve("data").toString(),
            "--http",
            "127.0.0.1:" + basePort,
            "--thrift",
            "127.0.0.1:" + (basePort + 1)));
  }

  /** One that a scheduler of the release before can call as well. */
  private Part worker(int number, Release release) {
    return new Part(
        "w" + number,
        site,
        launcher(release),
        List.of(
            "worker",
            "--scheduler",
            "127.0.0.1:" + (basePort + 1),
            "--shard-id",
            "w" + number,
            "--data-dir",
            site.resolve("worker" + number).toString(),
            "--thrift",
            "127.0.0.1:" + (basePort + 2 + number)));
  }

  private List<String> launcher(Release release) {
    return release == Release.THIS
        ? Distribution.launcher()
        : List.of(before.resolve("espalier").toString());
  }

  private void await(String what, Callable<Boolean> condition) {
    if (!Patience.until(PATIENCE, LOOK_EVERY, condition)) {
      throw new IllegalStateException(
          "in vain: "
              + what
              + "\n"
              + scheduler.lastWords()
              + "\n"
              + workers.get(0).lastWords()
              + "\n"
              + workers.get(1).lastWords());
    }
  }

  @Override
  public void close() {
    workers.parallelStream().forEach(Part::close);
    scheduler.close();
  }
}
