package io.espalier.server.cli.client;

import io.espalier.core.json.Json;
import io.espalier.core.outcome.JobState;
import io.espalier.server.exit.CommandFailure;
import io.espalier.server.exit.ExitCode;
import io.espalier.webui.v1.ApiV1;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code jobs}: all jobs and how far they are. */
@Command(
    name = "jobs",
    mixinStandardHelpOptions = true,
    description = "List the jobs and how far they are.",
    footerHeading = "%nEXAMPLES%n",
    footer = {
      "  espalier jobs",
      "  espalier jobs --watch",
      "  espalier jobs --state failed",
      "  espalier jobs --names"
    })
final class JobsCommand extends OfflineListCommand {
  @Option(names = "--names", description = "Only the names, one a line.")
  private boolean names;

  @Option(
      names = "--state",
      paramLabel = "STATE",
      split = ",",
      description =
          "Only jobs in one of these states: waiting, running, open, succeeded, failed, stuck,"
              + " stopped, paused, disabled, invalid.")
  private Set<String> states = Set.of();

  JobsCommand(Clients clients) {
    super(clients);
  }

  @Override
  int run(Client client) {
    for (String state : states) {
      if (JobState.ofWord(state) == null) {
        throw new CommandFailure(
            ExitCode.USAGE,
            "there is no state \"" + state + "\" of a job: see 'espalier jobs --help'");
      }
    }
    return names ? names(ask(client)) : super.run(client);
  }

  private int names(Json.Obj body) {
    Fields.objects(body, "jobs").forEach(job -> say(Fields.text(job, "name")));
    return ExitCode.OK;
  }

  @Override
  Json.Obj ask(Client client) {
    return chosen(get(client, ApiV1.JOBS, Map.of(), Map.of()));
  }

  @Override
  void show(Json.Obj body) {
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
                ">WAITING",
                ">FAILED",
                "?~>RATE",
                "?~>LEFT")
            .paint("STATE", Paint::ofState)
            .paint("FAILED", Paint::ofTrouble);
    for (Json.Obj job : Fields.objects(body, "jobs")) {
      Json.Obj progress = Fields.object(job, "progress");
      long total = Fields.number(progress, "total");
      long done = Fields.number(progress, "done");
      long blocked = Fields.number(progress, "blocked");
      table.row(
          Fields.text(job, "name"),
          Fields.text(job, "level"),
          state(job),
          done,
          total,
          total == 0 ? "-" : 100 * done / total,
          running(job, progress),
          Fields.number(progress, "ready"),
          blocked == 0 ? "" : blocked,
          Fields.number(progress, "waiting"),
          Fields.number(progress, "failed"),
          rate(job),
          left(job));
    }
    print(table, states.isEmpty() ? "there are no jobs" : "no job is in such a state");
  }

  /** With how many may run, where that is limited. */
  private static String running(Json.Obj job, Json.Obj progress) {
    long most = Fields.number(job, "max_concurrent");
    return Fields.number(progress, "running") + (most == 0 ? "" : "/" + most);
  }

  private Json.Obj chosen(Json.Obj body) {
    if (states.isEmpty()) {
      return body;
    }
    List<Json> jobs = new ArrayList<>();
    for (Json.Obj job : Fields.objects(body, "jobs")) {
      if (states.contains(state(job))) {
        jobs.add(job);
      }
    }
    return body.with("jobs", new Json.Arr(jobs));
  }

  /** Ends of tasks in a second, or in a minute where that is less than one; empty if unknown. */
  static String rate(Json.Obj job) {
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

  static String left(Json.Obj job) {
    return job.get("seconds_left") == null
        ? ""
        : Screen.duration(1000 * Fields.number(job, "seconds_left"));
  }

  /** What an older scheduler does not say is made up from what it does. */
  static String state(Json.Obj job) {
    String state = Fields.text(job, "state");
    if (!state.isEmpty()) {
      return state;
    }
    if (!Fields.isTrue(job, "valid")) {
      return "invalid";
    }
    if (Fields.isTrue(job, "paused")) {
      return "paused";
    }
    if (Fields.isTrue(job, "past_deadline")) {
      return "deadline";
    }
    return Fields.isTrue(job, "enabled") ? "enabled" : "disabled";
  }
}
