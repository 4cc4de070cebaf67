package io.espalier.cli.client.inspect;

import io.espalier.cli.client.Client;
import io.espalier.cli.client.CommandContext;
import io.espalier.cli.client.DataDirFlag;
import io.espalier.cli.client.ListCommand;
import io.espalier.cli.term.AnsiStyle;
import io.espalier.cli.term.HumanFormat;
import io.espalier.cli.term.JsonFields;
import io.espalier.cli.term.RolloutWords;
import io.espalier.cli.term.Table;
import io.espalier.core.json.Json;
import io.espalier.core.outcome.JobState;
import io.espalier.server.CommandException;
import io.espalier.server.ExitCode;
import io.espalier.webui.v1.ApiV1;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code jobs}: lists all jobs and their progress. */
@Command(
    name = "jobs",
    mixinStandardHelpOptions = true,
    description = "List the jobs and how far they are.",
    footerHeading = "%nEXAMPLES%n",
    footer = {
      "  espalier jobs",
      "  espalier jobs --watch",
      "  espalier jobs --state failed",
      "  espalier jobs --label team=storage",
      "  espalier jobs --names"
    })
public final class JobsCommand extends ListCommand {
  private static final int MOST_WINDOWS = 5;

  @Option(names = "--names", description = "Only the names, one a line.")
  private boolean names;

  @Option(
      names = "--state",
      paramLabel = "STATE",
      split = ",",
      description =
          "Only jobs in one of these states: waiting, running, open, succeeded, failed, halted,"
              + " stuck, stopped, paused, disabled, invalid.")
  private Set<String> states = Set.of();

  @Option(names = "--set", paramLabel = "SET", description = "Only the jobs of this set.")
  private String set = "";

  @Option(
      names = {"-l", "--label"},
      paramLabel = "NAME=VALUE",
      description = "Only jobs that have this label; given again: all of them.")
  private List<String> labels = List.of();

  public JobsCommand(CommandContext clients) {
    super(clients, new DataDirFlag());
  }

  @Override
  public int run(Client client) {
    for (String state : states) {
      if (JobState.ofWord(state) == null) {
        throw new CommandException(
            ExitCode.USAGE,
            "there is no state \"" + state + "\" of a job: see 'espalier jobs --help'");
      }
    }
    return names ? names(ask(client)) : super.run(client);
  }

  private int names(Json.Obj body) {
    JsonFields.objects(body, "jobs").forEach(job -> say(JsonFields.text(job, "name")));
    return ExitCode.OK;
  }

  @Override
  public Json.Obj ask(Client client) {
    return chosen(
        get(client, ApiV1.JOBS, Map.of(), labels.isEmpty() ? Map.of() : Map.of("label", labels)));
  }

  @Override
  public void show(Json.Obj body) {
    JsonFields.objects(body, "brakes")
        .forEach(brake -> say("brake: " + JsonFields.text(brake, "message")));
    List<Json.Obj> windows = JsonFields.objects(body, "windows");
    windows.stream().limit(MOST_WINDOWS).forEach(each -> say(JsonFields.text(each, "message")));
    if (windows.size() > MOST_WINDOWS) {
      say("and " + (windows.size() - MOST_WINDOWS) + " more windows");
    }
    Table table =
        new Table(
                "JOB",
                "LEVEL",
                "STATE",
                ">DONE",
                ">TOTAL",
                ">%",
                ">RUNNING",
                ">READY",
                "?>BLOCKED",
                "?>NEVER",
                ">WAITING",
                ">FAILED",
                "?~>CANCELLED",
                "?ROLL-OUT",
                "?~>RATE",
                "?~>LEFT",
                "?~WAITED",
                "?~COUNTERS")
            .paint("STATE", AnsiStyle::ofState)
            .paint("NEVER", AnsiStyle::ofTrouble)
            .paint("FAILED", AnsiStyle::ofTrouble);
    for (Json.Obj job : JsonFields.objects(body, "jobs")) {
      Json.Obj progress = JsonFields.object(job, "progress");
      long total = JsonFields.number(progress, "total");
      long done = JsonFields.number(progress, "done");
      long blocked = JsonFields.number(progress, "blocked");
      long never = JsonFields.number(job, "tasks_never");
      long cancelled = JsonFields.number(progress, "cancelled");
      table.row(
          JsonFields.text(job, "name"),
          JsonFields.text(job, "level"),
          state(job),
          done,
          total,
          total == 0 ? "-" : 100 * done / total,
          running(job, progress),
          JsonFields.number(progress, "ready"),
          blocked == 0 ? "" : blocked,
          never == 0 ? "" : never,
          JsonFields.number(progress, "waiting"),
          JsonFields.number(progress, "failed"),
          cancelled == 0 ? "" : cancelled,
          RolloutWords.cell(job),
          rate(job),
          left(job),
          waited(job),
          TaskDetail.counterRates(job));
    }
    print(table, none());
  }

  /** Returns the number of running tasks, with their limit if there is one. */
  private static String running(Json.Obj job, Json.Obj progress) {
    long most = JsonFields.number(job, "max_concurrent");
    return JsonFields.number(progress, "running") + (most == 0 ? "" : "/" + most);
  }

  private String none() {
    if (!labels.isEmpty()) {
      return "no such job has the label " + String.join(" and ", labels);
    }
    if (!set.isEmpty()) {
      return "no such job belongs to the set " + set;
    }
    return states.isEmpty() ? "there are no jobs" : "no job is in such a state";
  }

  private Json.Obj chosen(Json.Obj body) {
    if (states.isEmpty() && set.isEmpty()) {
      return body;
    }
    List<Json> jobs = new ArrayList<>();
    for (Json.Obj job : JsonFields.objects(body, "jobs")) {
      boolean isInState = states.isEmpty() || states.contains(state(job));
      if (isInState && (set.isEmpty() || set.equals(JsonFields.text(job, "set")))) {
        jobs.add(job);
      }
    }
    return body.with("jobs", new Json.Arr(jobs));
  }

  /**
   * Returns completions per second, or per minute when there is less than one per second; empty if
   * unknown.
   */
  public static String rate(Json.Obj job) {
    if (!(job.get("rate_per_second") instanceof Json.Num number)) {
      return "";
    }
    double rate = number.value().doubleValue();
    return rate == 0
        ? ""
        : rate < 1
            ? String.format(Locale.ROOT, "%.1f/min", rate * 60)
            : String.format(Locale.ROOT, rate < 100 ? "%.1f/s" : "%.0f/s", rate);
  }

  /** Returns for how long tasks waited, half of them and 95 percent; empty if unknown. */
  private static String waited(Json.Obj job) {
    return job.get("waited_p50_sec") == null
        ? ""
        : millis(job, "waited_p50_sec") + ", p95 " + millis(job, "waited_p95_sec");
  }

  private static String millis(Json.Obj job, String key) {
    return job.get(key) instanceof Json.Num seconds
        ? HumanFormat.duration((long) (1000 * seconds.value().doubleValue()))
        : "";
  }

  public static String left(Json.Obj job) {
    return job.get("seconds_left") == null
        ? ""
        : HumanFormat.duration(1000 * JsonFields.number(job, "seconds_left"));
  }

  /**
   * Returns the state; for older schedulers, which do not report it, derives it from other fields.
   */
  public static String state(Json.Obj job) {
    String state = JsonFields.text(job, "state");
    if (!state.isEmpty()) {
      return state;
    }
    if (!JsonFields.isTrue(job, "valid")) {
      return "invalid";
    }
    if (JsonFields.isTrue(job, "paused")) {
      return "paused";
    }
    if (JsonFields.isTrue(job, "past_deadline")) {
      return "deadline";
    }
    return JsonFields.isTrue(job, "enabled") ? "enabled" : "disabled";
  }
}
