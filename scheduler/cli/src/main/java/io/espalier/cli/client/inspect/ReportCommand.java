package io.espalier.cli.client.inspect;

import io.espalier.cli.client.Client;
import io.espalier.cli.client.ClientCommand;
import io.espalier.cli.client.CommandContext;
import io.espalier.cli.client.DataDirFlag;
import io.espalier.cli.term.HumanFormat;
import io.espalier.cli.term.JsonFields;
import io.espalier.cli.term.Table;
import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import io.espalier.server.ExitCode;
import io.espalier.webui.v1.ApiV1;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code report JOB}: writes what all tasks of a job have returned, done and counted. */
@Command(
    name = "report",
    mixinStandardHelpOptions = true,
    description = {
      "Write the results of all tasks of a job, with attempts, durations and counters.",
      "It is written while it is read, page by page, so jobs may have any number of tasks.",
      "Counters are columns count.NAME of CSV: those that the job has when the report begins."
    },
    footerHeading = "%nEXAMPLES%n",
    footer = {
      "  espalier report backup > backup.csv",
      "  espalier report backup --under rack7 --sum",
      "  espalier report backup --format json --status failed"
    })
public final class ReportCommand extends ClientCommand {
  /** Tasks of a page; each may have 20 attempts. */
  private static final int PAGE = 200;

  private static final List<String> COLUMNS =
      List.of(
          "node",
          "status",
          "attempts",
          "ended",
          "started",
          "since",
          "ran_ms",
          "waited_ms",
          "cpu_ms",
          "step",
          "worker",
          "exit_code",
          "message",
          "data");

  /** The forms of a report. */
  enum Format {
    csv,
    json
  }

  @Parameters(index = "0", paramLabel = "JOB", description = "Name of the job.")
  private String job = "";

  @Option(
      names = "--format",
      paramLabel = "FORMAT",
      defaultValue = "csv",
      description =
          "csv, or json: an object a line, with the newest 20 attempts (default:"
              + " ${DEFAULT-VALUE}).")
  private Format format = Format.csv;

  @Option(
      names = "--status",
      paramLabel = "STATUS",
      split = ",",
      description = "Only tasks in these statuses, such as failed,error_backoff.")
  private List<String> statuses = List.of();

  @Option(
      names = "--prefix",
      paramLabel = "TEXT",
      description = "Only nodes whose names begin with this.")
  private String prefix = "";

  @Option(
      names = "--under",
      paramLabel = "NODE",
      description = "Only tasks on this node and below it.")
  private String under = "";

  @Option(
      names = "--level",
      paramLabel = "LEVEL",
      description = "Level of that node, if nodes of several levels have its name.")
  private String level = "";

  @Option(
      names = "--sum",
      description = "Only what all of these tasks add up to; not with --status or --prefix.")
  private boolean sum;

  public ReportCommand(CommandContext clients) {
    super(clients, new DataDirFlag());
  }

  @Override
  public int run(Client client) {
    if (sum && !(statuses.isEmpty() && prefix.isEmpty())) {
      throw misuse(
          "--sum adds up all tasks of a job or below a node: leave out --status, --prefix");
    }
    if (sum) {
      showSum(get(client, ApiV1.SUMS, Map.of("job", job), selection()));
      return ExitCode.OK;
    }
    boolean lines = json() || format == Format.json;
    List<String> counters = new ArrayList<>();
    if (!lines) {
      Json.Obj about = get(client, ApiV1.JOB, Map.of("job", job), Map.of());
      JsonFields.objects(about, "counters")
          .forEach(counter -> counters.add(JsonFields.text(counter, "name")));
    }
    String after = "";
    boolean first = true;
    do {
      Json.Obj page = get(client, ApiV1.TASKS, Map.of("job", job), query(after));
      if (first && !lines) {
        List<String> heading = new ArrayList<>(COLUMNS);
        counters.forEach(name -> heading.add("count." + name));
        write(heading);
      }
      first = false;
      for (Json.Obj task : JsonFields.objects(page, "tasks")) {
        if (lines) {
          out().println(JsonWriter.compact(task));
        } else {
          write(row(task, counters));
        }
      }
      after = JsonFields.text(page, "next");
    } while (!after.isEmpty() && !out().checkError());
    return ExitCode.OK;
  }

  private Map<String, List<String>> selection() {
    Map<String, List<String>> query = new HashMap<>();
    query.put("under", optional(under));
    query.put("level", optional(level));
    return query;
  }

  private Map<String, List<String>> query(String after) {
    Map<String, List<String>> query = selection();
    query.put("status", statuses);
    query.put("prefix", optional(prefix));
    query.put("after", optional(after));
    query.put("history", List.of("true"));
    query.put("limit", List.of(Integer.toString(PAGE)));
    return query;
  }

  private void showSum(Json.Obj sums) {
    if (json() || format == Format.json) {
      print(sums);
      return;
    }
    List<String> heading =
        new ArrayList<>(List.of("tasks", "ended", "ran_ms", "waited_ms", "cpu_ms"));
    List<String> row = new ArrayList<>();
    heading.forEach(name -> row.add(Long.toString(JsonFields.number(sums, name))));
    JsonFields.object(sums, "counters")
        .members()
        .forEach(
            (name, value) -> {
              heading.add("count." + name);
              row.add(value.toString());
            });
    write(heading);
    write(row);
  }

  /** Returns a line about a task: its totals, and its newest attempt, which may still run. */
  private static List<String> row(Json.Obj task, List<String> counters) {
    Json.Obj history = JsonFields.object(task, "history");
    List<Json.Obj> attempts = JsonFields.objects(history, "attempts");
    Json.Obj running = JsonFields.object(task, "running");
    Json.Obj ended = attempts.isEmpty() ? Json.Obj.EMPTY : attempts.get(attempts.size() - 1);
    Json.Obj newest = running.isEmpty() ? ended : running;
    Json.Obj data = JsonFields.object(task, "data");
    List<String> row = new ArrayList<>();
    row.add(JsonFields.text(task, "node"));
    row.add(JsonFields.text(task, "status"));
    row.add(Long.toString(JsonFields.number(task, "attempts")));
    row.add(Long.toString(JsonFields.number(history, "ended")));
    row.add(time(newest, "started_at_ms"));
    row.add(time(task, "since_ms"));
    row.add(Long.toString(JsonFields.number(history, "ran_ms")));
    row.add(Long.toString(JsonFields.number(history, "waited_ms")));
    row.add(Long.toString(JsonFields.number(history, "cpu_ms")));
    row.add(JsonFields.text(newest, "step"));
    row.add(JsonFields.text(newest, "worker"));
    row.add(newest.get("exit_code") == null ? "" : "" + JsonFields.number(newest, "exit_code"));
    row.add(JsonFields.text(newest, "message"));
    row.add(data.isEmpty() ? "" : JsonWriter.compact(data));
    Json.Obj counted = JsonFields.object(history, "counters");
    // A task that has ended while this was asked for has its counters in the history.
    boolean hasEnded =
        !running.isEmpty()
            && JsonFields.text(running, "invocation").equals(JsonFields.text(ended, "invocation"));
    Json.Obj counting = hasEnded ? Json.Obj.EMPTY : JsonFields.object(running, "counters");
    for (String name : counters) {
      row.add(Long.toString(JsonFields.number(counted, name) + JsonFields.number(counting, name)));
    }
    return row;
  }

  private static String time(Json.Obj of, String name) {
    long millis = JsonFields.number(of, name);
    return millis == 0 ? "" : HumanFormat.time(millis);
  }

  /** Writes a line as RFC 4180 defines it. */
  private void write(List<String> row) {
    out().print(Table.csv(row.stream().map(HumanFormat::clean).toList()) + "\r\n");
  }
}
