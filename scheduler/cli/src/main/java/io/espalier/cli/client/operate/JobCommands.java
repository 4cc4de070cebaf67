package io.espalier.cli.client.operate;

import io.espalier.cli.client.Client;
import io.espalier.cli.client.ClientCommand;
import io.espalier.cli.client.CommandContext;
import io.espalier.cli.client.ReasonOption;
import io.espalier.cli.term.DurationConverter;
import io.espalier.cli.term.HumanFormat;
import io.espalier.cli.term.JsonFields;
import io.espalier.cli.term.RolloutWords;
import io.espalier.core.json.Json;
import io.espalier.server.ExitCode;
import io.espalier.webui.v1.ApiV1;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Commands that stop a job, or let it go on. */
public final class JobCommands {
  private JobCommands() {}

  /** The common part: one job or a set of jobs, and a reason. */
  abstract static class JobCommand extends ClientCommand {
    @Parameters(paramLabel = "JOB", arity = "0..1", description = "Name of the job.")
    private String job = "";

    @Mixin private final SetOption set = new SetOption();
    @Mixin private final ReasonOption reason = new ReasonOption();

    JobCommand(CommandContext clients) {
      super(clients);
    }

    Json.Builder reason() {
      return reason.body();
    }

    /** Returns the name of the job or the set. */
    String name() {
      if (job.isEmpty() != set.isGiven()) {
        throw misuse("say either JOB or --set SET");
      }
      return set.isGiven() ? set.name() : job;
    }

    /** Returns how many tasks of the job or the set run. */
    long running(Client client) {
      return set.running(client, job);
    }

    /**
     * Sends the command to the job, or to each job of the set.
     *
     * @param says what a job's answer means, for people
     * @return the exit code
     */
    int post(Client client, String template, Json.Builder body, Function<Json.Obj, String> says) {
      String name = name();
      if (!set.isGiven()) {
        Json.Obj answer = client.call("POST", template, Map.of("job", job), Map.of(), body.build());
        return answered(answer, name + says.apply(answer));
      }
      String action = template.substring(template.lastIndexOf('/') + 1);
      Json.Obj all = set.post(client, action, body.build());
      if (json()) {
        print(all);
      } else {
        for (Json.Obj answer : JsonFields.objects(all, "jobs")) {
          String refused = JsonFields.text(answer, "refused");
          String each = JsonFields.text(answer, "job");
          say(refused.isEmpty() ? each + says.apply(answer) : each + ": refused: " + refused);
        }
      }
      return JsonFields.number(all, "refused") == 0 ? ExitCode.OK : ExitCode.FAILED;
    }
  }

  /** {@code pause JOB}: pauses a job, so that none of its tasks starts. */
  @Command(
      name = "pause",
      mixinStandardHelpOptions = true,
      description = "Start nothing more of a job until it is resumed; kill nothing.",
      footerHeading = "%nEXAMPLES%n",
      footer = {
        "  espalier pause backup --reason 'the disks are busy'",
        "  espalier pause backup --for 2h",
        "  espalier pause --set 2026-11-upgrade"
      })
  public static final class Pause extends JobCommand {
    @Option(
        names = "--for",
        paramLabel = "SPAN",
        converter = DurationConverter.class,
        description = "Resume it after 90s, 5m, 2h, 1d (default: until it is resumed).")
    private @Nullable Long seconds;

    public Pause(CommandContext clients) {
      super(clients);
    }

    @Override
    public int run(Client client) {
      Json.Builder asked = reason();
      if (seconds != null) {
        asked.put("expires_in_seconds", seconds);
      }
      String span = seconds == null ? "" : " for " + HumanFormat.duration(seconds * 1000);
      return post(client, ApiV1.PAUSE, asked, answer -> " is paused" + span);
    }
  }

  /** {@code resume JOB}: ends a pause. */
  @Command(
      name = "resume",
      mixinStandardHelpOptions = true,
      description = "End the pause of a job, and go on with a roll-out that is halted.",
      footerHeading = "%nEXAMPLES%n",
      footer = {"  espalier resume backup"})
  public static final class Resume extends JobCommand {
    public Resume(CommandContext clients) {
      super(clients);
    }

    @Override
    public int run(Client client) {
      return post(client, ApiV1.RESUME, reason(), answer -> " goes on");
    }
  }

  /** {@code halt JOB}: halts the roll-out of a job. */
  @Command(
      name = "halt",
      mixinStandardHelpOptions = true,
      description =
          "Halt the roll-out of a job: start nothing more until it is resumed or promoted.",
      footerHeading = "%nEXAMPLES%n",
      footer = {"  espalier halt migrate --reason 'the replicas lag'", "  espalier resume migrate"})
  public static final class Halt extends JobCommand {
    public Halt(CommandContext clients) {
      super(clients);
    }

    @Override
    public int run(Client client) {
      return post(
          client,
          ApiV1.HALT,
          reason(),
          answer ->
              " is halted in "
                  + RolloutWords.stage(answer)
                  + ": "
                  + JsonFields.text(JsonFields.object(answer, "rollout"), "reason"));
    }
  }

  /** {@code promote JOB}: opens the next stage of the roll-out of a job. */
  @Command(
      name = "promote",
      mixinStandardHelpOptions = true,
      description =
          "Open the next stage of the roll-out of a job, whether the open one has passed or not.",
      footerHeading = "%nEXAMPLES%n",
      footer = {"  espalier promote migrate"})
  public static final class Promote extends JobCommand {
    public Promote(CommandContext clients) {
      super(clients);
    }

    @Override
    public int run(Client client) {
      return post(
          client, ApiV1.PROMOTE, reason(), answer -> " is in " + RolloutWords.stage(answer));
    }
  }

  /** {@code stop JOB}: pauses a job and kills its running tasks. */
  @Command(
      name = "stop",
      mixinStandardHelpOptions = true,
      description = {
        "Pause a job, and kill its running tasks as its kill_subprocess says.",
        "If tasks run, it says on a terminal how many, and asks."
      },
      footerHeading = "%nEXAMPLES%n",
      footer = {
        "  espalier stop backup --reason 'it fills the disks'",
        "  espalier stop --set 2026-11-upgrade --preview",
        "  espalier resume backup"
      })
  public static final class Stop extends JobCommand {
    @Mixin
    private final SelectingCommand.ConsentFlags consent = new SelectingCommand.ConsentFlags();

    public Stop(CommandContext clients) {
      super(clients);
    }

    @Override
    public int run(Client client) {
      String name = name();
      if (consent.preview() || consent.asks(this)) {
        long running = running(client);
        String many = SelectingCommand.tasks(running);
        if (consent.preview()) {
          return answered(
              Json.object().put("running", running).put("preview", Json.Bool.TRUE).build(),
              name + ": " + many + " would be signaled");
        }
        if (running > 0 && !consent.confirmed(this, "Pause " + name + " and kill " + many + "?")) {
          return ExitCode.FAILED;
        }
      }
      return post(
          client,
          ApiV1.STOP,
          reason(),
          answer ->
              " is paused; "
                  + SelectingCommand.tasks(JsonFields.number(answer, "signaled"))
                  + " signaled");
    }
  }
}
