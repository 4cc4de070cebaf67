package io.espalier.cli.client.operate;

import io.espalier.cli.client.Client;
import io.espalier.cli.client.ClientCommand;
import io.espalier.cli.client.CommandContext;
import io.espalier.cli.client.ListCommand;
import io.espalier.cli.client.ReasonOption;
import io.espalier.cli.term.DurationConverter;
import io.espalier.cli.term.HumanFormat;
import io.espalier.cli.term.JsonFields;
import io.espalier.cli.term.Table;
import io.espalier.core.json.Json;
import io.espalier.server.ExitCode;
import io.espalier.webui.v1.ApiV1;
import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** Commands on brakes. */
public final class BrakingCommands {
  private BrakingCommands() {}

  private static String percent(Json.Obj brake) {
    BigDecimal factor = brake.get("factor") instanceof Json.Num f ? f.value() : BigDecimal.ONE;
    return factor.movePointRight(2).stripTrailingZeros().toPlainString() + " %";
  }

  /** {@code brakes}: lists the brakes. */
  @Command(
      name = "brakes",
      mixinStandardHelpOptions = true,
      description = "List the brakes, and what each leaves of the limits now.",
      footerHeading = "%nEXAMPLES%n",
      footer = {"  espalier brakes", "  espalier brakes --json"})
  public static final class Brakes extends ListCommand {
    public Brakes(CommandContext clients) {
      super(clients);
    }

    @Override
    public Json.Obj ask(Client client) {
      return get(client, ApiV1.BRAKES, Map.of(), Map.of());
    }

    @Override
    public void show(Json.Obj body) {
      Table table = new Table("ON", ">LEFT", "UNTIL", "~SET", "WHO", "WHY");
      for (Json.Obj brake : JsonFields.objects(body, "brakes")) {
        boolean ramps = brake.get("released_at_ms") != null;
        table.row(
            JsonFields.text(brake, "words"),
            percent(brake),
            ramps ? "(ramp)" : HumanFormat.time(JsonFields.number(brake, "expires_at_ms")),
            HumanFormat.time(JsonFields.number(brake, "set_at_ms")),
            JsonFields.text(brake, "author"),
            JsonFields.text(brake, "reason"));
      }
      print(table, "there is no brake");
    }
  }

  /** What is braked, and how it is released. */
  abstract static class BrakeChange extends ClientCommand {
    @Option(
        names = "--node",
        paramLabel = "NODE",
        description = "Only this node and everything below it.")
    private String node = "";

    @Option(
        names = "--level",
        paramLabel = "LEVEL",
        description = "Level of the node, if several levels have a node of that name.")
    private String level = "";

    @Option(names = "--queue", paramLabel = "QUEUE", description = "Only the jobs of this queue.")
    private String queue = "";

    @Option(names = "--set", paramLabel = "SET", description = "Only the jobs of this set.")
    private String set = "";

    @Option(names = "--job", paramLabel = "JOB", description = "Only this job.")
    private String job = "";

    @Option(
        names = "--ramp",
        paramLabel = "PERCENT/SPAN",
        description = "Release by so much at once, and again after each span: 25%%/5m.")
    private @Nullable String ramp;

    @Mixin private final ReasonOption reason = new ReasonOption();

    BrakeChange(CommandContext clients) {
      super(clients);
    }

    Json.Builder body() {
      Json.Builder body = reason.body();
      put(body, "node", node);
      put(body, "level", level);
      put(body, "queue", queue);
      put(body, "set", set);
      put(body, "job", job);
      if (ramp != null) {
        body.put("ramp", ramp(ramp));
      }
      return body;
    }

    /**
     * Sends it, and says what has come of it: a line about one scheduler, or with {@code espalier
     * ui} the result of each.
     */
    int tell(Client client, String path, Json.Obj body, Function<Json.Obj, String> line) {
      Json.Obj answer = client.call("POST", path, Map.of(), Map.of(), body);
      if (!(answer.get("results") instanceof Json.Obj results)) {
        return answered(answer, line.apply(answer));
      }
      Table table = new Table("SCHEDULER", "RESULT", "WHY");
      for (Json.Obj host : JsonFields.objects(answer, "hosts")) {
        table.row(
            JsonFields.text(host, "host"),
            JsonFields.text(host, "result"),
            JsonFields.text(host, "detail"));
      }
      if (json()) {
        print(answer);
      } else {
        print(table, "");
      }
      return JsonFields.number(results, "ok") == JsonFields.number(answer, "meant")
          ? ExitCode.OK
          : ExitCode.FAILED;
    }

    private static void put(Json.Builder body, String name, String value) {
      if (!value.isEmpty()) {
        body.put(name, value);
      }
    }

    private Json.Obj ramp(String text) {
      int slash = text.indexOf('/');
      try {
        if (slash > 1 && text.charAt(slash - 1) == '%') {
          double percent = Double.parseDouble(text.substring(0, slash - 1));
          long seconds = new DurationConverter().convert(text.substring(slash + 1));
          if (percent > 0 && percent <= 100 && seconds > 0) {
            return Json.object().put("step", percent / 100).put("every_seconds", seconds).build();
          }
        }
      } catch (IllegalArgumentException | TypeConversionException e) {
        // Reported below, as it is for all other mistakes.
      }
      throw misuse("--ramp must be like 25%/5m, not \"" + text + "\"");
    }
  }

  /** {@code brake}: starts fewer tasks, or none. */
  @Command(
      name = "brake",
      mixinStandardHelpOptions = true,
      description = {
        "Start nothing, or less, from now on: everywhere, or in a part. Running tasks go on.",
        "A brake is in force at once and survives restarts. Without options it stops all starts."
      },
      footerHeading = "%nEXAMPLES%n",
      footer = {
        "  espalier brake --reason 'the network is down'",
        "  espalier brake --node rack7 --factor 0.25 --for 30m --ramp 25%%/5m",
        "  espalier brake --queue night --reason 'backup window'"
      })
  public static final class Brake extends BrakeChange {
    @Option(
        names = "--factor",
        paramLabel = "SHARE",
        description = "What is left of each limit, from 0 (default: nothing starts) to below 1.")
    private double factor;

    @Option(
        names = "--for",
        paramLabel = "SPAN",
        converter = DurationConverter.class,
        description = "For 90s, 5m, 2h, 1d (default: until it is released).")
    private @Nullable Long seconds;

    public Brake(CommandContext clients) {
      super(clients);
    }

    @Override
    public int run(Client client) {
      if (!(factor >= 0 && factor < 1)) {
        throw misuse("--factor must be from 0 to below 1");
      }
      Json.Builder asked = body().put("factor", factor);
      if (seconds != null) {
        asked.put("expires_in_seconds", seconds);
      }
      return tell(client, ApiV1.BRAKES, asked.build(), this::line);
    }

    private String line(Json.Obj set) {
      String left =
          factor == 0
              ? "nothing starts on "
              : "only " + percent(set) + " of each limit is left on ";
      String span = seconds == null ? "" : " for " + HumanFormat.duration(seconds * 1000);
      String warning =
          JsonFields.isTrue(set, "durable")
              ? ""
              : "; the store has not answered yet, so a crash now would undo it";
      return left + JsonFields.text(set, "words") + span + warning + unconfirmed(set);
    }

    private static String unconfirmed(Json.Obj set) {
      List<String> workers = JsonFields.texts(set, "unconfirmed_workers");
      if (workers.isEmpty()) {
        return "";
      }
      long more = JsonFields.number(set, "unconfirmed") - workers.size();
      return "; not confirmed by "
          + String.join(", ", workers)
          + (more > 0 ? " and " + more + " more" : "")
          + ": they may start what they were given before, until their lease ends";
    }
  }

  /** {@code release}: releases a brake. */
  @Command(
      name = "release",
      mixinStandardHelpOptions = true,
      description = "Release a brake: at once, or by a ramp.",
      footerHeading = "%nEXAMPLES%n",
      footer = {"  espalier release", "  espalier release --node rack7 --ramp 10%%/1m"})
  public static final class Release extends BrakeChange {
    public Release(CommandContext clients) {
      super(clients);
    }

    @Override
    public int run(Client client) {
      return tell(client, ApiV1.RELEASE_BRAKE, body().build(), Release::line);
    }

    private static String line(Json.Obj now) {
      String what = "the brake on " + JsonFields.text(now, "words");
      return JsonFields.isTrue(now, "released")
          ? what + " is released"
          : what + " leaves " + percent(now) + " now, and more by its ramp";
    }
  }
}
