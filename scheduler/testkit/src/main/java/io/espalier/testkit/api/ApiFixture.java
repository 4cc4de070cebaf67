package io.espalier.testkit.api;

import io.espalier.core.api.view.Explanation;
import io.espalier.core.api.view.ResourceHolder;
import io.espalier.core.api.view.RunningTaskView;
import io.espalier.core.api.view.TaskDeadlines;
import io.espalier.core.api.view.TaskView;
import io.espalier.core.api.view.WorkerView;
import io.espalier.core.config.Config;
import io.espalier.core.config.Job;
import io.espalier.core.config.JobCapacity;
import io.espalier.core.config.JobOptions;
import io.espalier.core.config.Levels;
import io.espalier.core.config.LimitRules;
import io.espalier.core.config.NodeOrder;
import io.espalier.core.config.NodeSourceSpec;
import io.espalier.core.config.Resource;
import io.espalier.core.config.ResourceCatalog;
import io.espalier.core.config.Settings;
import io.espalier.core.config.label.JobInfo;
import io.espalier.core.config.task.Program;
import io.espalier.core.config.task.StatusSource;
import io.espalier.core.config.window.Schedule;
import io.espalier.core.health.ProbeView;
import io.espalier.core.json.Json;
import io.espalier.core.logs.LogLine;
import io.espalier.core.problem.Problem;
import io.espalier.core.running.Counters;
import io.espalier.core.running.HostFigures;
import io.espalier.core.running.HostFigures.Space;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.MeasuredLoad;
import io.espalier.core.running.ResourceUsage;
import io.espalier.core.running.StopReason;
import io.espalier.core.running.TaskResult;
import io.espalier.core.running.WorkerRef;
import io.espalier.core.status.Attempt;
import io.espalier.core.status.ProgressParser;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.TaskStatus.Main;
import io.espalier.core.status.store.TaskHistory;
import io.espalier.core.status.store.TaskTotals;
import io.espalier.core.topology.NodeSpec;
import io.espalier.core.topology.Topology;
import io.espalier.core.topology.TopologyBuilder;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * A small cluster shared by all tests of the API: hosts h1 (d11, d12) and h2 (d21, and d22, which
 * is disabled); jobs {@code backup} on databases, {@code scrub} on hosts, and {@code broken}.
 */
public final class ApiFixture {
  /** The time at which the view was published. */
  private static final HostFigures FIGURES =
      new HostFigures(
          1_250,
          new Space(8_000_000_000L, 2_100_000_000L),
          new Space(40_000_000_000L, 9_000_000_000L));

  public static final long NOW_MILLIS = 1_700_000_100_000L;

  public static final Levels LEVELS = Levels.of(List.of("host", "db"));

  private ApiFixture() {}

  /** Returns two failures: one of the task itself, and one stopped on another worker. */
  private static TaskHistory history(long at) {
    Attempt first =
        new Attempt(
            "backup",
            "d21",
            2,
            new Invocation(1, 5, at - 61_000),
            WorkerRef.LOCAL,
            at - 60_000,
            TaskResult.Kind.EXITED,
            96,
            3,
            null,
            false,
            null,
            new ResourceUsage(250, 3_000_000, 0, 12_345_678),
            "no such table",
            "0123456789abcdef",
            false,
            0,
            4_000,
            at - 60_900,
            new Counters(Map.of("rows", 1_200L)),
            "");
    Attempt second =
        new Attempt(
            "backup",
            "d21",
            3,
            new Invocation(1, 7, at - 9_000),
            new WorkerRef("w1", 255),
            at,
            TaskResult.Kind.KILLED,
            16,
            null,
            9,
            true,
            StopReason.NO_OUTPUT,
            ResourceUsage.UNKNOWN,
            "ended by signal 9",
            "fedcba9876543210",
            false,
            0,
            Attempt.UNKNOWN_WAIT,
            0,
            Counters.NONE,
            "ship");
    return new TaskHistory(
        new TaskTotals(3, 1_500, 9_900, 4_000, new Counters(Map.of("rows", 1_300L))),
        List.of(first, second));
  }

  /**
   * Returns a scheduler with d11 done, d12 running for 100 s (120 of 300 done), d21 failed and d22
   * waiting, three lines of output, and two workers.
   */
  public static FakeScheduler standard() {
    FakeScheduler scheduler = new FakeScheduler().load(config(), topology(), NOW_MILLIS);
    Json.Obj data = Json.object().put("rows", 7).build();
    long started = NOW_MILLIS - 100_000;
    scheduler
        .task(
            TaskView.of("backup", "d11", "db", TaskStatus.of(Main.DONE, started, 1).withData(data)))
        .runningTask(
            new RunningTaskView(
                "backup",
                "d12",
                new Invocation(1, 1, started),
                1,
                "here",
                new ResourceUsage(1_234, 9_000_000, 4_096, -1, 8_500_000, List.of("K40 0:3")),
                new TaskDeadlines(NOW_MILLIS + 200_000, 0, 0),
                ProgressParser.of(
                    Json.object().put("done", 120).put("total", 300).put("cursor", "pk=8").build()),
                1.5,
                "",
                "",
                "",
                2_500,
                null,
                null,
                null))
        .task(TaskView.of("backup", "d21", "db", TaskStatus.of(Main.FAILED, started, 3)))
        .history("backup", "d21", history(started))
        .task(TaskView.of("backup", "d22", "db", TaskStatus.waiting(started, 105, 2)))
        .explains(
            new Explanation(
                "backup",
                "d22",
                false,
                "error_backoff",
                List.of(
                    Explanation.Reason.of(Explanation.Kind.BACKOFF, null, "waits after an error")
                        .until(NOW_MILLIS + 5000),
                    Explanation.Reason.of(
                            Explanation.Kind.RESOURCE, "h2", "host h2 has no free conn")
                        .lacking("conn", 1, 0, 2)
                        .heldBy(
                            List.of(
                                new ResourceHolder(
                                    "scrub", "h2", "conn", 2, started, NOW_MILLIS + 60_000)),
                            1,
                            NOW_MILLIS + 60_000)),
                List.of(
                    new Explanation.Step("here", "instance", true, List.of(), false, null),
                    new Explanation.Step(
                        "h2",
                        "host",
                        true,
                        List.of(new Explanation.Use("conn", 1, 2, 2)),
                        true,
                        null),
                    new Explanation.Step(
                        "d22",
                        "db",
                        false,
                        List.of(new Explanation.Use("lock", 1, 0, 1)),
                        false,
                        null)),
                List.of(),
                0,
                null));
    for (int i = 0; i < 3; i++) {
      scheduler.log(
          new LogLine(
              line(i),
              LogLine.Stream.STDOUT,
              "backup",
              i == 2 ? "d12" : "d11",
              started + i * 1000L,
              "line " + i + "\n"));
    }
    scheduler
        .worker(worker("here", "healthy", 1, 1, "", new MeasuredLoad(350, 800), FIGURES))
        .worker(
            worker("away", "unhealthy", 0, 0, "silent", MeasuredLoad.UNKNOWN, HostFigures.UNKNOWN));
    scheduler.probe(
        new ProbeView(
            "lag",
            "db",
            "push",
            5,
            2,
            NOW_MILLIS,
            2,
            1,
            3,
            List.of(new ProbeView.Follower("lock", 0, 1, 0)),
            List.of(),
            ""));
    scheduler.errors(Map.of("nodes", "script \"list\" ended with 1")).publish(NOW_MILLIS);
    scheduler
        .events()
        .add(
            started, "task_started", Json.object().put("job", "backup").put("node", "d11").build());
    scheduler
        .events()
        .add(started, "task_ended", Json.object().put("job", "backup").put("node", "d11").build());
    return scheduler;
  }

  private static WorkerView worker(
      String shard,
      String state,
      int tasks,
      int used,
      String note,
      MeasuredLoad load,
      HostFigures figures) {
    return new WorkerView(
        new WorkerRef(shard, 1L << 60),
        "host-" + shard,
        "host-" + shard + ":6790",
        Map.of("zone", shard),
        state,
        state.equals("healthy"),
        null,
        tasks,
        0,
        List.of(new WorkerView.Slots("ram", used, 4)),
        NOW_MILLIS - 60_000,
        NOW_MILLIS - 1_000,
        note,
        load,
        figures,
        load.fullest() < 0 ? 0 : NOW_MILLIS - 2_000);
  }

  /** Returns the id of the {@code i}-th line of output; lines are a second apart. */
  public static long line(int i) {
    return ((NOW_MILLIS - 100_000) / 1000 + i) << 32 | i;
  }

  public static Config config() {
    Settings settings =
        new Settings(
            true,
            Duration.ofMillis(500),
            "roundrobin",
            false,
            "roundrobin",
            LEVELS,
            List.of(
                new NodeSourceSpec(
                    "sql",
                    Json.object()
                        .put("url", "jdbc:mysql://reader:hunter2@db/x?password=hunter2")
                        .put("password", "hunter2")
                        .put("headers", Json.object().put("X-Api-Key", "hunter2").build())
                        .build(),
                    "bistro_settings.nodes.node_sources[0]")),
            NodeOrder.ORIGINAL,
            new ResourceCatalog(
                List.of(new Resource(0, "conn", 1, 1, 2, 0), new Resource(1, "lock", 2, 1, 1, 3))),
            Map.of(),
            List.of(),
            LimitRules.NONE,
            JobCapacity.NONE,
            Map.of(),
            Map.of(),
            Schedule.ALWAYS,
            List.of(),
            Instant.EPOCH,
            JobOptions.usual(2),
            "hash",
            Json.Obj.EMPTY);
    TreeMap<String, Job> jobs = new TreeMap<>();
    jobs.put("backup", job("backup", 2, List.of(), List.of()));
    jobs.put("scrub", job("scrub", 1, List.of("backup"), List.of()));
    jobs.put(
        "broken",
        job(
            "broken",
            2,
            List.of(),
            List.of(Problem.error("bistro_job->broken.owner", "is missing").withHint("add it"))));
    return new Config(settings, jobs, List.of());
  }

  private static Job job(String name, int level, List<String> dependsOn, List<Problem> problems) {
    return new Job(
        name,
        problems.isEmpty() ? "ops" : "",
        name.equals("backup")
            ? new JobInfo(
                "Copies all databases.",
                new TreeMap<>(Map.of("team", "storage", "tier", "1")),
                new TreeMap<>(Map.of("Run book", "https://wiki.example/backup?token=hunter2")))
            : JobInfo.NONE,
        name.equals("backup") ? "nightly" : "",
        true,
        1.0,
        Json.Obj.EMPTY,
        List.of(1, 1),
        Map.of(),
        dependsOn,
        List.of(),
        Optional.empty(),
        "",
        List.of("/bin/true"),
        StatusSource.STATUS_LINE,
        Optional.empty(),
        Program.NONE,
        JobOptions.usual(level),
        -1,
        0,
        0,
        problems,
        name.equals("scrub") ? withSecrets() : Json.object().put("owner", "ops").build());
  }

  /** Returns a job with {@code hunter2} where people put passwords. */
  public static Json.Obj withSecrets() {
    Json.Obj environment =
        Json.object().put("LOGIN", "hunter2").put("DB_PASSWORD", "hunter2").build();
    return Json.object()
        .put("owner", "ops")
        .put("command", Json.strings(List.of("/bin/scrub", "--db=mysql://me:hunter2@db/x")))
        .put("task_subprocess", Json.object().put("environment", environment).build())
        .put("resources", Json.object().put("token", 3).build())
        .build();
  }

  public static Topology topology() {
    TopologyBuilder builder = new TopologyBuilder(LEVELS, "here");
    builder.add(NodeSpec.child(1, "h1", null));
    builder.add(NodeSpec.child(1, "h2", null));
    builder.add(NodeSpec.child(2, "d11", "h1"));
    builder.add(NodeSpec.child(2, "d12", "h1"));
    builder.add(
        new NodeSpec(2, "d21", "h2", 1, true, Set.of("ssd"), Json.object().put("size", 3).build()));
    builder.add(new NodeSpec(2, "d22", "h2", 1, false, Set.of(), Json.Obj.EMPTY));
    return Objects.requireNonNull(builder.build(NodeOrder.ORIGINAL).value());
  }
}
