package io.espalier.cli;

import io.espalier.cli.client.Client;
import io.espalier.cli.client.ClientCommand;
import io.espalier.cli.client.CommandContext;
import io.espalier.cli.client.forecast.ForecastLines;
import io.espalier.cli.client.inspect.SchedulerInfoCommands;
import io.espalier.cli.client.operate.JobEditCommands;
import io.espalier.cli.term.DurationConverter;
import io.espalier.cli.term.HumanFormat;
import io.espalier.cli.term.JsonFields;
import io.espalier.cli.term.Printable;
import io.espalier.cli.term.Table;
import io.espalier.core.config.Config;
import io.espalier.core.config.source.ConfigSource;
import io.espalier.core.config.source.ConfigSource.Unavailable;
import io.espalier.core.json.Json;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Problems;
import io.espalier.core.problem.Result;
import io.espalier.server.CommandException;
import io.espalier.server.ExitCode;
import io.espalier.server.app.Plugins;
import io.espalier.server.config.ConfigLoader;
import io.espalier.server.config.ConfigSources;
import io.espalier.webui.v1.ApiV1;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Commands on configurations as a whole: {@code plan} and {@code apply}. */
final class PlanCommands {
  private PlanCommands() {}

  /** The configuration of both commands. */
  static final class Input {
    @Parameters(
        index = "0",
        paramLabel = "CONFIG",
        description = "A file, a directory with *.json and *.yaml files, or a URL.")
    private String config = "";

    @Option(
        names = "--job",
        paramLabel = "NAME",
        description =
            "CONFIG contains this job alone, as save-job takes it: the value of"
                + " \"bistro_job->NAME\".")
    private String job = "";

    @Option(names = "--prune", description = "Delete the jobs that are not in CONFIG.")
    private boolean prune;

    /**
     * Reads the configuration, in Bistro's notation.
     *
     * @throws CommandException with every problem, as {@code validate} prints them
     */
    Json.Builder body(ClientCommand command) {
      if (!job.isEmpty() && prune) {
        throw command.misuse("--prune is of a whole configuration, not of one job");
      }
      Json.Obj members = members();
      if (!job.isEmpty()) {
        members = Json.object().put(Config.JOB_KEY + job, members).build();
      } else if (members.members().keySet().stream().noneMatch(key -> key.startsWith("bistro_"))) {
        throw new CommandException(
            ExitCode.USAGE,
            Printable.text(ConfigSources.shown(config))
                + " has neither settings nor jobs; if it is one job, name it with --job");
      }
      return Json.object().put("config", members).put("prune", prune);
    }

    private Json.Obj members() {
      try {
        ConfigSource source = ConfigSources.open(config);
        ConfigSource.Text text = source.fetch();
        ConfigLoader loader = new ConfigLoader(Plugins.load().configParser());
        Result<Json.Obj> read = loader.part(text);
        Json.Obj members = read.value();
        List<Problem> problems = new ArrayList<>(read.problems());
        if (members != null && members.get(Config.SETTINGS_KEY) != null) {
          Result<Config> checked = loader.inspect(text);
          problems = new ArrayList<>(checked.problems());
        }
        problems.removeIf(problem -> !problem.isError());
        if (members == null || !problems.isEmpty()) {
          throw refused(problems);
        }
        return members;
      } catch (Unavailable e) {
        throw refused(List.of(e.problem()));
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new CommandException(ExitCode.FAILED, "interrupted", e);
      }
    }

    private CommandException refused(List<Problem> problems) {
      List<String> lines = new ArrayList<>();
      Problems.sorted(problems).forEach(problem -> lines.add(ProblemLines.line(problem, config)));
      return new CommandException(ExitCode.USAGE, String.join("\n", lines));
    }
  }

  /** {@code plan CONFIG}: shows what applying a configuration would do. */
  @Command(
      name = "plan",
      mixinStandardHelpOptions = true,
      description = {
        "Show what applying a configuration would do: tasks that come and go, running tasks that"
            + " would be killed, nodes over their limit, statuses that stay behind. Changes"
            + " nothing.",
        "CONFIG may have any part of a configuration: what is not in it stays as it is. Exit code 2"
            + " if it has errors."
      },
      footerHeading = "%nEXAMPLES%n",
      footer = {
        "  espalier plan site.yaml",
        "  espalier plan jobs/ --prune --json",
        "  espalier plan backup.json --job backup"
      })
  static final class Plan extends ClientCommand {
    @Mixin private final Input input = new Input();

    @Option(
        names = "--assume",
        paramLabel = "SPAN",
        converter = DurationConverter.class,
        description = "How long the tasks of a job take while none has ended: 30s, 5m.")
    private @Nullable Long assume;

    Plan(CommandContext clients) {
      super(clients);
    }

    @Override
    public int run(Client client) {
      Json.Obj plan =
          client.call(
              "POST",
              ApiV1.PLANS,
              Map.of(),
              Map.of("assume_ms", optional(assume == null ? "" : Long.toString(assume * 1000))),
              input.body(this).build());
      boolean valid = JsonFields.isTrue(plan, "valid");
      if (json()) {
        print(plan);
        return valid ? ExitCode.OK : ExitCode.USAGE;
      }
      JsonFields.objects(plan, "problems").forEach(this::showProblem);
      if (!valid) {
        say("it cannot be applied");
        return ExitCode.USAGE;
      }
      show(plan);
      return ExitCode.OK;
    }

    private void show(Json.Obj plan) {
      JsonFields.objects(plan, "settings").forEach(this::showSetting);
      JsonFields.objects(plan, "jobs").forEach(this::showChange);
      Json.Obj impact = JsonFields.object(plan, "impact");
      if (impact.isEmpty()) {
        say("its impact is not known: " + JsonFields.text(plan, "uncounted"));
      } else {
        showImpact(impact);
        showForecast(JsonFields.object(plan, "forecast"));
      }
      String consent = consentText(JsonFields.object(plan, "consent"));
      say("good until " + HumanFormat.time(JsonFields.number(plan, "until_ms")) + "; to apply it:");
      say(
          "  espalier apply "
              + input.config
              + (input.job.isEmpty() ? "" : " --job " + input.job)
              + (input.prune ? " --prune" : "")
              + (consent.isEmpty() ? "" : " --consent " + consent)
              + " --plan "
              + JsonFields.text(plan, "token"));
    }

    /** Lines would be those of the request. */
    private void showProblem(Json.Obj problem) {
      say(SchedulerInfoCommands.Problems.sentence(problem.without("line")));
    }

    private void showSetting(Json.Obj difference) {
      say(
          "settings: "
              + JsonFields.text(difference, "path")
              + ": "
              + shown(difference.get("before"))
              + " -> "
              + shown(difference.get("after")));
    }

    private static String shown(@Nullable Json value) {
      return value == null ? "(none)" : JsonFields.text(value);
    }

    private void showChange(Json.Obj change) {
      String former = JsonFields.text(change, "renamed_from");
      List<String> keys = JsonFields.texts(change, "keys");
      say(
          "job "
              + JsonFields.text(change, "job")
              + ": "
              + JsonFields.text(change, "change")
              + (keys.isEmpty() ? "" : " (" + String.join(", ", keys) + ")")
              + (former.isEmpty()
                  ? ""
                  : ", the same as "
                      + former
                      + ", which is removed: its statuses stay with the old name"));
    }

    private void showImpact(Json.Obj impact) {
      Table table =
          new Table("JOB", "LEVEL", ">NOW", ">THEN", ">NEW", ">GONE", ">LEFT", ">ORPHANS");
      for (Json.Obj job : JsonFields.objects(impact, "jobs")) {
        table.row(
            JsonFields.text(job, "job"),
            JsonFields.text(job, "level"),
            count(job, "before"),
            count(job, "after"),
            count(job, "added"),
            count(job, "removed"),
            count(job, "statuses_left"),
            count(job, "orphans"));
      }
      if (table.isEmpty()) {
        say("no tasks come or go");
      } else {
        print(table, "");
      }
      if (JsonFields.number(impact, "nodes_added") + JsonFields.number(impact, "nodes_removed")
          > 0) {
        say(
            count(impact, "nodes_added")
                + " nodes come, "
                + count(impact, "nodes_removed")
                + " of "
                + count(impact, "nodes_before")
                + " go");
      }
      say(JobEditCommands.effect(impact));
      for (Json.Obj orphan : JsonFields.objects(impact, "orphan_tasks")) {
        say(
            "  "
                + JsonFields.text(orphan, "job")
                + " on "
                + JsonFields.text(orphan, "node")
                + killed(orphan));
      }
      for (Json.Obj over : JsonFields.objects(impact, "over_limit_nodes")) {
        say(
            "  "
                + JsonFields.text(over, "level")
                + " "
                + JsonFields.text(over, "node")
                + ": "
                + count(over, "used")
                + " of "
                + JsonFields.text(over, "resource")
                + " in use, "
                + count(over, "over_by")
                + " more than "
                + count(over, "limit")
                + killed(over));
      }
      JsonFields.objects(impact, "never").forEach(this::showProblem);
    }

    private void showForecast(Json.Obj forecast) {
      print(ForecastLines.peaks(forecast), "");
      print(ForecastLines.ends(forecast), "");
      long more = JsonFields.number(forecast, "more_jobs");
      if (more > 0) {
        say("the ends of " + more + " more jobs are not estimated");
      }
      boolean isUnknown =
          JsonFields.objects(forecast, "ends").stream()
              .anyMatch(
                  end ->
                      List.of("now", "then").stream()
                          .map(key -> JsonFields.object(end, key))
                          .anyMatch(eta -> !eta.isEmpty() && eta.get("p50_seconds") == null));
      if (isUnknown) {
        remark("no task of some jobs has ended yet: give --assume 30s, or what their tasks take");
      }
    }

    private static String count(Json.Obj object, String key) {
      return String.format(Locale.ROOT, "%,d", JsonFields.number(object, key));
    }

    private static String killed(Json.Obj what) {
      if (what.get("killed_after_seconds") instanceof Json.Num seconds) {
        long millis = Math.round(seconds.value().doubleValue() * 1000);
        return millis == 0 ? ", killed at once" : ", killed after " + HumanFormat.duration(millis);
      }
      return ", never killed";
    }
  }

  /** {@code apply CONFIG}: applies a configuration that was planned. */
  @Command(
      name = "apply",
      mixinStandardHelpOptions = true,
      description = {
        "Apply a configuration that was planned: write it where the configuration comes from, all or"
            + " nothing.",
        "It is refused if the configuration has changed since the plan, or if more would happen than"
            + " is consented to: without --consent no running task may be killed, 10,000 tasks may"
            + " be new, and one percent of the nodes may be removed."
      },
      footerHeading = "%nEXAMPLES%n",
      footer = {
        "  espalier apply site.yaml --plan TOKEN",
        "  espalier apply jobs/ --prune --plan TOKEN --consent kills=12,new=400000"
      })
  static final class Apply extends ClientCommand {
    @Mixin private final Input input = new Input();

    @Option(
        names = "--plan",
        required = true,
        paramLabel = "TOKEN",
        description = "What plan has printed for the same CONFIG, at most an hour ago.")
    private String plan = "";

    @Option(
        names = "--consent",
        split = ",",
        paramLabel = "WHAT=MOST",
        description =
            "The most that may happen: kills of running tasks, new tasks, nodes that are removed;"
                + " uncounted=1 if the impact is not known.")
    private Map<String, Long> consents = new TreeMap<>();

    @Option(names = "--reason", paramLabel = "TEXT", description = "Why, for the history.")
    private String reason = "";

    Apply(CommandContext clients) {
      super(clients);
    }

    @Override
    public int run(Client client) {
      Json.Builder consent = Json.object();
      consents.forEach(consent::put);
      Json.Obj applied =
          client.call(
              "POST",
              ApiV1.APPLY,
              Map.of(),
              Map.of(),
              input
                  .body(this)
                  .put("plan", plan)
                  .put("consent", consent.build())
                  .put("author", System.getProperty("user.name", ""))
                  .put("reason", reason)
                  .build());
      List<Json.Obj> jobs = JsonFields.objects(applied, "jobs");
      long deleted = jobs.stream().filter(job -> JsonFields.isTrue(job, "deleted")).count();
      boolean settings = JsonFields.isTrue(applied, "settings");
      return answered(
          applied,
          jobs.isEmpty() && !settings
              ? "nothing differs; nothing was written"
              : (jobs.size() - deleted)
                  + (jobs.size() - deleted == 1 ? " job is saved, " : " jobs are saved, ")
                  + deleted
                  + " deleted"
                  + (settings ? ", the settings are replaced" : ""));
    }
  }

  private static String consentText(Json.Obj consent) {
    List<String> parts = new ArrayList<>();
    consent.members().forEach((key, number) -> parts.add(key + "=" + JsonFields.text(number)));
    return String.join(",", parts);
  }
}
