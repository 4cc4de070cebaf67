package io.espalier.cli.client.operate;

import io.espalier.cli.client.Client;
import io.espalier.cli.client.ClientCommand;
import io.espalier.cli.client.CommandContext;
import io.espalier.cli.client.ListCommand;
import io.espalier.cli.client.forecast.ForecastLines;
import io.espalier.cli.client.inspect.SchedulerInfoCommands;
import io.espalier.cli.term.JsonFields;
import io.espalier.cli.term.Table;
import io.espalier.core.config.Config;
import io.espalier.core.json.Json;
import io.espalier.core.problem.Result;
import io.espalier.json.JsonReader;
import io.espalier.server.CommandException;
import io.espalier.server.ExitCode;
import io.espalier.webui.v1.ApiV1;
import io.espalier.worker.process.os.FileFailures;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Commands on the definition of a job. */
public final class JobEditCommands {
  private JobEditCommands() {}

  /** Returns what a plan says about tasks and ends in one line; empty: nothing is known. */
  static String summary(Json.Obj plan) {
    Json.Obj impact = JsonFields.object(plan, "impact");
    String end = ForecastLines.lastEnd(JsonFields.object(plan, "forecast"));
    return impact.isEmpty() ? "" : effect(impact) + (end.isEmpty() ? "" : "; " + end);
  }

  /** Returns what a plan says about tasks, in one line. */
  public static String effect(Json.Obj impact) {
    StringBuilder text = new StringBuilder();
    text.append(count(impact, "tasks_added")).append(" tasks are new, ");
    text.append(count(impact, "tasks_removed")).append(" are gone; ");
    text.append(count(impact, "orphans")).append(" of ").append(count(impact, "running"));
    text.append(" running tasks become orphans, ");
    text.append(count(impact, "orphan_kills")).append(" of them are killed");
    if (JsonFields.number(impact, "over_limit") > 0) {
      text.append("; ").append(count(impact, "over_limit"));
      text.append(" nodes go over their limit, at most ");
      text.append(count(impact, "over_limit_kills")).append(" tasks are killed for it");
    }
    return text.toString();
  }

  /** Asks what saving a job would do; empty if the server cannot tell. */
  static Json.Obj planned(Client client, String job, Json.Obj definition) {
    Json.Obj config = Json.object().put(Config.JOB_KEY + job, definition).build();
    try {
      return client.call(
          "POST", ApiV1.PLANS, Map.of(), Map.of(), Json.object().put("config", config).build());
    } catch (CommandException e) {
      return Json.Obj.EMPTY;
    }
  }

  private static String count(Json.Obj object, String key) {
    return String.format(Locale.ROOT, "%,d", JsonFields.number(object, key));
  }

  /** {@code validate-job JOB FILE}: checks a job like save-job, without saving it. */
  @Command(
      name = "validate-job",
      mixinStandardHelpOptions = true,
      description = {
        "Ask a scheduler what is wrong with a job, without saving it.",
        "FILE contains the job as save-job takes it; - is standard input. Exit code 2 if it is"
            + " invalid."
      },
      footerHeading = "%nEXAMPLES%n",
      footer = {
        "  espalier validate-job backup backup.json",
        "  espalier validate-job backup backup.json --json"
      })
  public static final class ValidateJob extends ClientCommand {
    @Parameters(index = "0", paramLabel = "JOB", description = "Name of the job.")
    private String job = "";

    @Parameters(
        index = "1",
        paramLabel = "FILE",
        description = "The job as JSON, comments allowed.")
    private String file = "";

    public ValidateJob(CommandContext clients) {
      super(clients);
    }

    @Override
    public int run(Client client) {
      Json.Obj body =
          client.call("POST", ApiV1.VALIDATE, Map.of("job", job), Map.of(), SaveJob.read(file));
      boolean valid = JsonFields.isTrue(body, "valid");
      if (json()) {
        print(body);
      } else {
        JsonFields.objects(body, "problems")
            .forEach(problem -> say(SchedulerInfoCommands.Problems.sentence(problem)));
        say(job + (valid ? " can be saved" : " cannot be saved"));
      }
      return valid ? ExitCode.OK : ExitCode.USAGE;
    }
  }

  /** {@code save-job JOB FILE}: writes a job to the source of the configuration. */
  @Command(
      name = "save-job",
      mixinStandardHelpOptions = true,
      description = {
        "Save a job, new or not, where the configuration comes from; all else there stays as it"
            + " is.",
        "FILE contains the job: the value of \"bistro_job->JOB\"; - is standard input.",
        "A job with errors is refused. --back-to saves an earlier version again."
      },
      footerHeading = "%nEXAMPLES%n",
      footer = {
        "  espalier save-job backup backup.json --version-id 3",
        "  espalier save-job backup --back-to 2"
      })
  public static final class SaveJob extends ClientCommand {
    @Parameters(index = "0", paramLabel = "JOB", description = "Name of the job.")
    private String job = "";

    @Parameters(
        index = "1",
        arity = "0..1",
        paramLabel = "FILE",
        description = "The job as JSON, comments allowed.")
    private @Nullable String file;

    @Option(
        names = "--version-id",
        paramLabel = "N",
        description = "Only if the job has this version now; 0: only if there is no such job.")
    private @Nullable Long version;

    @Option(
        names = "--back-to",
        paramLabel = "N",
        description = "Save again what the job was in version N, instead of a file.")
    private @Nullable Long backTo;

    @Option(names = "--reason", paramLabel = "TEXT", description = "Why, for the history.")
    private String reason = "";

    public SaveJob(CommandContext clients) {
      super(clients);
    }

    @Override
    public boolean mayNameNewJob() {
      return true;
    }

    @Override
    public int run(Client client) {
      if ((file == null) == (backTo == null)) {
        throw new CommandException(ExitCode.USAGE, "name either a FILE or --back-to");
      }
      Json.Obj saved =
          backTo == null ? save(client, file == null ? "-" : file) : back(client, backTo);
      return answered(saved, job + " is saved as version " + JsonFields.number(saved, "version"));
    }

    private Json.Obj back(Client client, long to) {
      Json.Obj body =
          Json.object()
              .put("version", to)
              .put("author", DeleteJob.author())
              .put("reason", reason)
              .build();
      return client.call("POST", ApiV1.ROLLBACK, Map.of("job", job), Map.of(), body);
    }

    private Json.Obj save(Client client, String from) {
      Json.Obj definition = read(from);
      String effect = json() ? "" : summary(planned(client, job, definition));
      Json.Obj saved =
          client.call(
              "PUT", ApiV1.JOB, Map.of("job", job), DeleteJob.query(version, reason), definition);
      if (!effect.isEmpty()) {
        remark(effect);
      }
      return saved;
    }

    static Json.Obj read(String from) {
      byte[] bytes;
      try {
        bytes = from.equals("-") ? System.in.readAllBytes() : Files.readAllBytes(Path.of(from));
      } catch (IOException e) {
        throw new CommandException(
            ExitCode.USAGE, "cannot read " + from + ": " + FileFailures.why(e), e);
      } catch (InvalidPathException e) {
        throw new CommandException(
            ExitCode.USAGE, "cannot read " + from + ": " + e.getMessage(), e);
      }
      Result<Json> read = JsonReader.config().withFile(from).read(bytes);
      if (read.value() instanceof Json.Obj object) {
        return object;
      }
      throw new CommandException(
          ExitCode.USAGE,
          read.problems().isEmpty()
              ? from + " must hold an object"
              : read.problems().get(0).toString());
    }
  }

  /** {@code delete-job JOB}: removes a job from the source of the configuration. */
  @Command(
      name = "delete-job",
      mixinStandardHelpOptions = true,
      description = {
        "Delete a job where the configuration comes from; all else there stays as it is.",
        "What its tasks have done is not forgotten; save-job --back-to brings it back.",
        "On a terminal it says how many tasks run, which then become orphans, and asks."
      },
      footerHeading = "%nEXAMPLES%n",
      footer = {
        "  espalier delete-job backup --reason 'done for good'",
        "  espalier delete-job --set 2026-11-upgrade --preview"
      })
  public static final class DeleteJob extends ClientCommand {
    @Parameters(paramLabel = "JOB", arity = "0..1", description = "Name of the job.")
    private String job = "";

    @Mixin private final SetOption set = new SetOption();

    @Option(
        names = "--version-id",
        paramLabel = "N",
        description = "Only if the job has this version now.")
    private @Nullable Long version;

    @Option(names = "--reason", paramLabel = "TEXT", description = "Why, for the history.")
    private String reason = "";

    @Mixin
    private final SelectingCommand.ConsentFlags consent = new SelectingCommand.ConsentFlags();

    public DeleteJob(CommandContext clients) {
      super(clients);
    }

    @Override
    public int run(Client client) {
      if (job.isEmpty() != set.isGiven()) {
        throw misuse("say either JOB or --set SET");
      }
      if (set.isGiven() && version != null) {
        throw misuse("--version-id is of one job, not of a set");
      }
      List<String> jobs = set.isGiven() ? set.jobs(client) : List.of(job);
      if (consent.preview() || consent.asks(this)) {
        long running = set.running(client, job);
        String names = String.join(", ", jobs);
        String many = SelectingCommand.tasks(running);
        if (consent.preview()) {
          return answered(
              Json.object()
                  .put("jobs", Json.strings(jobs))
                  .put("running", running)
                  .put("preview", Json.Bool.TRUE)
                  .build(),
              names + " would be deleted; running now: " + many);
        }
        String what = "Delete " + names + (running == 0 ? "?" : ", of which " + many + " run now?");
        if (!consent.confirmed(this, what)) {
          return ExitCode.FAILED;
        }
      }
      for (String each : jobs) {
        Json.Obj deleted =
            client.call(
                "DELETE", ApiV1.JOB, Map.of("job", each), query(version, reason), Json.Obj.EMPTY);
        int unused = answered(deleted, each + " is deleted");
        out().flush();
      }
      return ExitCode.OK;
    }

    static String author() {
      return System.getProperty("user.name", "");
    }

    static Map<String, List<String>> query(@Nullable Long version, String reason) {
      Map<String, List<String>> query = new HashMap<>();
      query.put("author", List.of(author()));
      if (version != null) {
        query.put("version", List.of(version.toString()));
      }
      if (!reason.isEmpty()) {
        query.put("reason", List.of(reason));
      }
      return query;
    }
  }

  /** {@code job-history JOB}: lists the saved versions of a job with author, time and reason. */
  @Command(
      name = "job-history",
      mixinStandardHelpOptions = true,
      description = "List the versions of a job that were saved or deleted, oldest first.",
      footerHeading = "%nEXAMPLES%n",
      footer = {
        "  espalier job-history backup",
        "  espalier job-history backup --limit 10",
        "  espalier save-job backup --back-to 3"
      })
  public static final class JobHistory extends ListCommand {
    @Parameters(paramLabel = "JOB", description = "Name of the job.")
    private String job = "";

    @Option(
        names = "--limit",
        paramLabel = "N",
        description = "List only the newest N versions (default: all).")
    private @Nullable Integer limit;

    public JobHistory(CommandContext clients) {
      super(clients);
    }

    @Override
    public Json.Obj ask(Client client) {
      if (limit == null) {
        return get(client, ApiV1.HISTORY, Map.of("job", job), Map.of());
      }
      Json.Obj newest =
          pages(
              "versions",
              limit,
              (after, size) ->
                  get(
                      client,
                      ApiV1.HISTORY,
                      Map.of("job", job),
                      Map.of(
                          "order",
                          List.of("desc"),
                          "after",
                          optional(after),
                          "limit",
                          List.of(Integer.toString(size)))));
      List<Json> versions = new ArrayList<>(JsonFields.objects(newest, "versions"));
      Collections.reverse(versions);
      return newest.with("versions", new Json.Arr(versions));
    }

    @Override
    public void show(Json.Obj body) {
      Table table = new Table(">VERSION", "WHEN", "WHO", "WHAT", "WHY");
      for (Json.Obj version : JsonFields.objects(body, "versions")) {
        table.row(
            JsonFields.number(version, "version"),
            Instant.ofEpochMilli(JsonFields.number(version, "at_ms")),
            JsonFields.text(version, "author"),
            version.get("config") == null ? "deleted" : "saved",
            JsonFields.text(version, "reason"));
      }
      print(table, job + " was never saved or deleted through this scheduler");
      if (!JsonFields.text(body, "next").isEmpty()) {
        remark("there are older versions; see --limit");
      }
    }
  }
}
