package io.espalier.cli.client.inspect;

import io.espalier.cli.client.Client;
import io.espalier.cli.client.CommandContext;
import io.espalier.cli.client.DataDirFlag;
import io.espalier.cli.client.ListCommand;
import io.espalier.cli.term.AnsiStyle;
import io.espalier.cli.term.HumanFormat;
import io.espalier.cli.term.JsonFields;
import io.espalier.cli.term.Table;
import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import io.espalier.webui.v1.ApiV1;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Commands that list tasks. */
public final class TaskListCommands {
  private TaskListCommands() {}

  /** {@code tasks JOB [NODE]}: lists the tasks of a job, or shows one with its history. */
  @Command(
      name = "tasks",
      mixinStandardHelpOptions = true,
      description = "List the tasks of a job, in node order, or show one with its attempts.",
      footerHeading = "%nEXAMPLES%n",
      footer = {
        "  espalier tasks backup --status failed,error_backoff",
        "  espalier tasks backup db17",
        "  espalier tasks backup --prefix rack7- --limit 1000 --json"
      })
  public static final class Tasks extends ListCommand {
    @Parameters(index = "0", paramLabel = "JOB", description = "Name of the job.")
    private String job = "";

    @Parameters(
        index = "1",
        arity = "0..1",
        paramLabel = "NODE",
        description = "Show this task and its newest 20 attempts.")
    private String node = "";

    @Option(
        names = "--status",
        paramLabel = "STATUS",
        split = ",",
        description = "Only tasks in these statuses, such as failed,error_backoff.")
    private List<String> statuses = List.of();

    @Option(
        names = "--fingerprint",
        paramLabel = "TEXT",
        description = "Only tasks that failed in this way, as `failures` shows it.")
    private String fingerprint = "";

    @Option(
        names = "--prefix",
        paramLabel = "TEXT",
        description = "Only nodes whose names begin with this.")
    private String prefix = "";

    @Option(
        names = "--contains",
        paramLabel = "TEXT",
        description = "Only nodes whose names contain this.")
    private String contains = "";

    @Option(
        names = "--limit",
        paramLabel = "N",
        defaultValue = "100",
        description = "At most so many tasks (default: ${DEFAULT-VALUE}).")
    private int limit = 100;

    public Tasks(CommandContext clients) {
      super(clients, new DataDirFlag());
    }

    @Override
    public Json.Obj ask(Client client) {
      requireLimit(limit);
      return node.isEmpty()
          ? all(client)
          : get(client, ApiV1.TASK, Map.of("job", job, "node", node), Map.of());
    }

    @Override
    public void show(Json.Obj body) {
      if (node.isEmpty()) {
        showAll(body);
      } else {
        showOne(body);
      }
    }

    private void showAll(Json.Obj body) {
      Table table =
          new Table(
                  "NODE",
                  "STATUS",
                  "PHASE",
                  ">ATTEMPTS",
                  "?STEP",
                  "SINCE",
                  "~UNTIL",
                  "?~ELIGIBLE",
                  "?~>WAITED",
                  "?>SPEED",
                  "?PROGRESS",
                  "?WORKER",
                  "DATA")
              .paint("STATUS", AnsiStyle::ofState);
      for (Json.Obj task : JsonFields.objects(body, "tasks")) {
        Json.Obj data = JsonFields.object(task, "data");
        table.row(
            JsonFields.text(task, "node"),
            JsonFields.text(task, "status"),
            JsonFields.text(task, "phase"),
            JsonFields.number(task, "attempts"),
            JsonFields.text(task, "step"),
            HumanFormat.time(JsonFields.number(task, "since_ms")),
            HumanFormat.time(JsonFields.number(task, "until_ms")),
            JsonFields.number(task, "eligible_at_ms") == 0
                ? ""
                : HumanFormat.time(JsonFields.number(task, "eligible_at_ms")),
            TaskDetail.waited(JsonFields.object(task, "running")),
            TaskDetail.speed(JsonFields.object(task, "running")),
            progress(task),
            JsonFields.text(JsonFields.object(task, "running"), "worker"),
            data.isEmpty() ? "" : JsonWriter.compact(data));
      }
      print(table, "there are no such tasks");
      if (!JsonFields.text(body, "next").isEmpty()) {
        remark("there are more tasks; see --limit, --status and --prefix");
      }
    }

    private Json.Obj all(Client client) {
      return pages(
          "tasks",
          limit,
          (after, size) -> get(client, ApiV1.TASKS, Map.of("job", job), query(after, size)));
    }

    private Map<String, List<String>> query(String after, int page) {
      Map<String, List<String>> query = new HashMap<>();
      query.put("status", statuses);
      query.put("prefix", optional(prefix));
      query.put("contains", optional(contains));
      query.put("after", optional(after));
      query.put("limit", List.of(Integer.toString(page)));
      if (!fingerprint.isEmpty()) {
        query.put(
            "fingerprint", List.of(fingerprint)); // older schedulers do not know this parameter
      }
      return query;
    }

    private void showOne(Json.Obj task) {
      for (String line : TaskDetailPrinter.heading(task)) {
        out().println(HumanFormat.clean(line));
      }
      Json.Obj history = JsonFields.object(task, "history");
      print(TaskDetailPrinter.attempts(history), "it has not ended any attempt yet");
      long older =
          JsonFields.number(history, "ended") - JsonFields.objects(history, "attempts").size();
      if (older > 0) {
        remark(
            older == 1
                ? "and 1 older attempt, which is only counted"
                : "and " + older + " older attempts, which are only counted");
      }
    }

    private static String progress(Json.Obj task) {
      Json.Obj running = JsonFields.object(task, "running");
      return running.isEmpty() || JsonFields.object(running, "progress").isEmpty()
          ? TaskDetail.counts(JsonFields.object(task, "checkpoint"))
          : TaskDetail.progress(running);
    }
  }

  /** {@code running [JOB...]}: lists running tasks. */
  @Command(
      name = "running",
      mixinStandardHelpOptions = true,
      description = "List the tasks that run now.",
      footerHeading = "%nEXAMPLES%n",
      footer = {"  espalier running", "  espalier running backup --watch 1"})
  public static final class Running extends ListCommand {
    @Parameters(paramLabel = "JOB", arity = "0..*", description = "Only of these jobs.")
    private List<String> jobs = List.of();

    @Option(
        names = "--limit",
        paramLabel = "N",
        defaultValue = "1000",
        description = "At most so many tasks (default: ${DEFAULT-VALUE}).")
    private int limit = 1000;

    public Running(CommandContext clients) {
      super(clients);
    }

    @Override
    public Json.Obj ask(Client client) {
      return get(
          client,
          ApiV1.RUNNING,
          Map.of(),
          Map.of("job", jobs, "limit", List.of(Integer.toString(limit))));
    }

    @Override
    public void show(Json.Obj body) {
      long now = JsonFields.number(body, "published_at_ms");
      Table table =
          new Table(
              "JOB",
              "NODE",
              ">ATTEMPT",
              "?STEP",
              "?~BATCH",
              "?~>WAITED",
              ">FOR",
              "?>LEFT",
              "?STOPPING",
              "?>SPEED",
              "?PROGRESS",
              "?~COUNTERS",
              "WORKER",
              "?~>CPU",
              "?~>MEMORY",
              "?~>READ",
              "?~>WRITTEN",
              "?~GPUS");
      List<Json.Obj> running = JsonFields.objects(body, "running");
      for (Json.Obj task : running) {
        Json.Obj usage = JsonFields.object(task, "usage");
        table.row(
            JsonFields.text(task, "job"),
            JsonFields.text(task, "node"),
            JsonFields.number(task, "attempt"),
            JsonFields.text(task, "step"),
            JsonFields.text(task, "batch"),
            TaskDetail.waited(task),
            HumanFormat.duration(now - JsonFields.number(task, "started_at_ms")),
            TaskDetail.timeLeft(task, now),
            TaskDetail.stopping(task, now),
            TaskDetail.speed(task),
            TaskDetail.progress(task),
            TaskDetail.counters(task),
            JsonFields.text(task, "worker"),
            HumanFormat.seconds(usage, "cpu_ms"),
            HumanFormat.bytes(usage, "memory_bytes"),
            HumanFormat.bytes(usage, "read_bytes"),
            HumanFormat.bytes(usage, "written_bytes"),
            String.join(", ", JsonFields.texts(usage, "gpus")));
      }
      print(table, "nothing is running");
      long more = JsonFields.number(body, "total") - running.size();
      if (more > 0) {
        remark("and " + more + " more; see --limit");
      }
    }
  }
}
