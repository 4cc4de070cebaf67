package io.espalier.cli.client.top;

import io.espalier.cli.client.Client;
import io.espalier.cli.client.ClientCommand;
import io.espalier.cli.client.inspect.JobsCommand;
import io.espalier.cli.term.HumanFormat;
import io.espalier.cli.term.JsonFields;
import io.espalier.cli.term.TextWidth;
import io.espalier.core.json.Json;
import io.espalier.server.CommandException;
import io.espalier.server.ExitCode;
import io.espalier.webui.v1.ApiV1;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/**
 * The data that {@code top} shows, as of one instant.
 *
 * @param atMillis epoch milliseconds of this machine
 * @param brakes a line for each brake
 * @param windows a line for each that opens or closes, first those that are closed
 * @param hot nodes with limits, the fullest one first
 * @param detail lines about the chosen job or node; empty: nothing is chosen
 * @param problem why the data are not newer; empty: they are new
 */
record TopData(
    long atMillis,
    List<String> brakes,
    List<String> windows,
    List<Job> jobs,
    List<Hot> hot,
    List<String> detail,
    String problem) {
  static final TopData NONE =
      new TopData(0, List.of(), List.of(), List.of(), List.of(), List.of(), "");

  private static final int TREE_NODES = 2000;

  /** One job; rates and times are formatted as in {@code jobs}. */
  record Job(
      String name,
      String state,
      long total,
      long done,
      long running,
      long ready,
      long waiting,
      long failed,
      long cancelled,
      double rate,
      String rateText,
      long secondsLeft,
      String leftText) {}

  /** The fullest limit of one node. */
  record Hot(String name, String level, String resource, long used, long limit, long waiting) {
    double share() {
      return limit <= 0 ? (used > 0 ? 2 : 1) : (double) used / limit;
    }
  }

  TopData withDetail(List<String> lines) {
    return new TopData(atMillis, brakes, windows, jobs, hot, lines, problem);
  }

  TopData withProblem(String text) {
    return new TopData(atMillis, brakes, windows, jobs, hot, detail, text);
  }

  /** Queries jobs and nodes. */
  static TopData read(Client client, long nowMillis) {
    return of(ClientCommand.get(client, ApiV1.JOBS, Map.of(), Map.of()), tree(client), nowMillis);
  }

  /**
   * @param jobs body of {@code /api/v1/jobs}
   * @param tree body of {@code /api/v1/tree}
   */
  static TopData of(Json.Obj jobs, Json.Obj tree, long nowMillis) {
    List<Job> rows = new ArrayList<>();
    for (Json.Obj job : JsonFields.objects(jobs, "jobs")) {
      Json.Obj progress = JsonFields.object(job, "progress");
      rows.add(
          new Job(
              JsonFields.text(job, "name"),
              JobsCommand.state(job),
              JsonFields.number(progress, "total"),
              JsonFields.number(progress, "done"),
              JsonFields.number(progress, "running"),
              JsonFields.number(progress, "ready"),
              JsonFields.number(progress, "waiting"),
              JsonFields.number(progress, "failed"),
              JsonFields.number(progress, "cancelled"),
              job.get("rate_per_second") instanceof Json.Num rate ? rate.value().doubleValue() : 0,
              JobsCommand.rate(job),
              job.get("seconds_left") == null
                  ? Long.MAX_VALUE
                  : JsonFields.number(job, "seconds_left"),
              JobsCommand.left(job)));
    }
    List<String> brakes =
        JsonFields.objects(jobs, "brakes").stream()
            .map(brake -> JsonFields.text(brake, "message"))
            .toList();
    List<String> windows =
        JsonFields.objects(jobs, "windows").stream()
            .sorted(Comparator.comparing(window -> JsonFields.isTrue(window, "open")))
            .map(window -> JsonFields.text(window, "message"))
            .toList();
    return new TopData(nowMillis, brakes, windows, rows, hottest(tree), List.of(), "");
  }

  private static List<Hot> hottest(Json.Obj tree) {
    List<Hot> hot = new ArrayList<>();
    for (Json.Obj node : JsonFields.objects(tree, "nodes")) {
      Json.Obj states = JsonFields.object(node, "states");
      long waiting = JsonFields.number(states, "waiting") + JsonFields.number(states, "ready");
      Hot fullest = null;
      for (Json.Obj resource : JsonFields.objects(node, "resources")) {
        Hot one =
            new Hot(
                JsonFields.text(node, "name"),
                JsonFields.text(node, "level"),
                JsonFields.text(resource, "resource"),
                JsonFields.number(resource, "used"),
                JsonFields.number(resource, "limit"),
                waiting);
        if (fullest == null || one.share() > fullest.share()) {
          fullest = one;
        }
      }
      if (fullest != null) {
        hot.add(fullest);
      }
    }
    hot.sort(
        Comparator.comparingDouble(Hot::share)
            .thenComparingLong(Hot::waiting)
            .reversed()
            .thenComparing(Hot::level)
            .thenComparing(Hot::name));
    return hot;
  }

  private static Json.Obj tree(Client client) {
    try {
      return ClientCommand.get(
          client, ApiV1.TREE, Map.of(), Map.of("limit", List.of(Integer.toString(TREE_NODES))));
    } catch (CommandException e) {
      if (e.exitCode() == ExitCode.UNREACHABLE) {
        throw e;
      }
      return Json.Obj.EMPTY; // an older scheduler has no tree to show
    }
  }

  /** Returns why the waiting tasks of a job do not run. */
  static List<String> ofJob(Client client, String job) {
    Json.Obj body = ClientCommand.get(client, ApiV1.WAITING, Map.of("job", job), Map.of());
    List<String> lines = new ArrayList<>();
    for (Json.Obj reason : JsonFields.objects(body, "reasons")) {
      List<String> samples = JsonFields.texts(reason, "samples");
      lines.add(
          TextWidth.pad(Long.toString(JsonFields.number(reason, "count")), 9, true)
              + "  "
              + JsonFields.text(reason, "message")
              + (samples.isEmpty() ? "" : "  (" + samples.get(0) + ")"));
    }
    return lines.isEmpty() ? List.of("no task waits for anything") : lines;
  }

  /** Returns the limits of a node and the jobs that use its slots. */
  static List<String> ofNode(Client client, String level, String node) {
    Json.Obj body =
        ClientCommand.get(client, ApiV1.NODE, Map.of("level", level, "node", node), Map.of());
    List<String> lines = new ArrayList<>();
    for (Json.Obj resource : JsonFields.objects(body, "resources")) {
      lines.add(
          JsonFields.text(resource, "resource")
              + " "
              + JsonFields.number(resource, "used")
              + "/"
              + JsonFields.number(resource, "limit"));
    }
    for (Json.Obj holder : JsonFields.objects(body, "holders")) {
      lines.add(
          "  held by "
              + JsonFields.text(holder, "job")
              + " on "
              + JsonFields.text(holder, "node")
              + " since "
              + HumanFormat.time(JsonFields.number(holder, "since_ms")));
    }
    return lines.isEmpty() ? List.of("it has no limits") : lines;
  }
}
