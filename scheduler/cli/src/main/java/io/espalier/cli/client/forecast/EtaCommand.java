package io.espalier.cli.client.forecast;

import io.espalier.cli.client.Client;
import io.espalier.cli.client.CommandContext;
import io.espalier.cli.client.ListCommand;
import io.espalier.cli.term.DurationConverter;
import io.espalier.cli.term.HumanFormat;
import io.espalier.cli.term.JsonFields;
import io.espalier.cli.term.Table;
import io.espalier.core.json.Json;
import io.espalier.webui.v1.ApiV1;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code espalier eta}: when jobs end, and what keeps them. */
@Command(
    name = "eta",
    mixinStandardHelpOptions = true,
    description = {
      "Estimate when jobs end, what limits them most, and what one more of it would gain.",
      "",
      "The estimate is the work that is left at the narrowest place of the tree, at its full limit;"
          + " P50 is right in one of two cases, P90 in nine of ten. GAIN is for a limit that is higher"
          + " by one on that node, GAIN (ALL) on all nodes of its level. NEVER counts tasks that"
          + " cannot run as things are."
    },
    footerHeading = "%nEXAMPLES%n",
    footer = {"  espalier eta", "  espalier eta backup --assume 30s", "  espalier eta --watch 10"})
public final class EtaCommand extends ListCommand {
  @Parameters(
      arity = "0..1",
      paramLabel = "JOB",
      description = "Name of the job (default: all that are not over).")
  private @Nullable String job;

  @Option(
      names = "--assume",
      paramLabel = "SPAN",
      converter = DurationConverter.class,
      description = "How long the tasks of a job take while none has ended: 30s, 5m.")
  private @Nullable Long assume;

  public EtaCommand(CommandContext clients) {
    super(clients);
  }

  @Override
  public Json.Obj ask(Client client) {
    List<Json> etas = new ArrayList<>();
    if (job != null) {
      etas.add(eta(client, job));
    } else {
      for (Json.Obj each :
          JsonFields.objects(get(client, ApiV1.JOBS, Map.of(), Map.of()), "jobs")) {
        Json.Obj eta = eta(client, JsonFields.text(each, "name"));
        if (JsonFields.number(eta, "left") > 0) {
          etas.add(eta);
        }
      }
    }
    return Json.object().put("etas", new Json.Arr(etas)).build();
  }

  /** Asks with the mean duration of the job's history when the scheduler has seen no task end. */
  private Json.Obj eta(Client client, String name) {
    Json.Obj first = ask(client, name, assume == null ? 0 : assume * 1000);
    if (assume != null || first.get("p50_seconds") != null) {
      return first;
    }
    long mean = history(client, name);
    return mean <= 0 ? first : ask(client, name, mean);
  }

  /** Returns the mean duration of the invocations in the history of a job; 0: it has none. */
  static long history(Client client, String job) {
    Json.Obj sums = get(client, ApiV1.SUMS, Map.of("job", job), Map.of());
    long ended = JsonFields.number(sums, "ended");
    return ended == 0 ? 0 : Math.max(1, JsonFields.number(sums, "ran_ms") / ended);
  }

  private static Json.Obj ask(Client client, String job, long assumedMillis) {
    return get(
        client,
        ApiV1.ETA,
        Map.of("job", job),
        Map.of("assume_ms", optional(assumedMillis == 0 ? "" : Long.toString(assumedMillis))));
  }

  @Override
  public void show(Json.Obj body) {
    Table table =
        new Table("JOB", ">LEFT", ">P50", ">P90", ">NEVER", "BOTTLENECK", ">GAIN", ">GAIN (ALL)");
    boolean unknown = false;
    for (Json.Obj eta : JsonFields.objects(body, "etas")) {
      Json.Obj narrow = JsonFields.object(eta, "bottleneck");
      long never = JsonFields.number(eta, "never");
      boolean isKnown = eta.get("p50_seconds") != null;
      unknown |= !isKnown;
      table.row(
          JsonFields.text(eta, "job"),
          JsonFields.number(eta, "left"),
          span(eta, "p50_seconds"),
          span(eta, "p90_seconds"),
          never == 0 ? "" : never,
          place(narrow),
          span(narrow, "gain_seconds"),
          span(narrow, "gain_of_level_seconds"));
    }
    print(table, "every job is over");
    if (unknown) {
      remark("no task of some jobs has ended yet: give --assume 30s, or what their tasks take");
    }
  }

  private static String span(Json.Obj of, String key) {
    return of.get(key) instanceof Json.Num seconds
        ? HumanFormat.duration(Math.round(seconds.value().doubleValue() * 1000))
        : "-";
  }

  private static String place(Json.Obj narrow) {
    String limit =
        narrow.get("limit") instanceof Json.Num number
            ? " = " + number.value().stripTrailingZeros().toPlainString()
            : "";
    String resource = JsonFields.text(narrow, "resource");
    String node = JsonFields.text(narrow, "level") + "/" + JsonFields.text(narrow, "node");
    String name = JsonFields.text(narrow, "name");
    return switch (JsonFields.text(narrow, "kind")) {
      case "resource" -> node + "." + resource + limit;
      case "workers" -> "workers' " + resource + limit;
      case "max_concurrent" -> "max_concurrent" + limit;
      case "start_rate" -> "start rate" + limit + "/s";
      case "queue" -> "queue " + name + (resource.isEmpty() ? "" : "." + resource) + limit;
      case "level_start_rate" -> node + " start rate" + limit + "/s";
      case "group" -> "group " + name + limit;
      case "brake" -> (name.isEmpty() ? "brake" : name) + " on " + node;
      default -> "-";
    };
  }
}
