package io.espalier.cli.client.inspect;

import io.espalier.cli.client.Client;
import io.espalier.cli.client.ClientCommand;
import io.espalier.cli.client.CommandContext;
import io.espalier.cli.client.DataDirFlag;
import io.espalier.cli.term.HumanFormat;
import io.espalier.cli.term.JsonFields;
import io.espalier.core.json.Json;
import io.espalier.server.CommandException;
import io.espalier.server.ExitCode;
import io.espalier.webui.v1.ApiV1;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code logs JOB [NODE]}: prints task output, and follows it with {@code -f}. */
@Command(
    name = "logs",
    mixinStandardHelpOptions = true,
    description =
        "Print what tasks wrote: the last lines, oldest first; with -f also what they go on to"
            + " write.",
    footerHeading = "%nEXAMPLES%n",
    footer = {
      "  espalier logs backup db17",
      "  espalier logs backup -f",
      "  espalier logs backup --regex 'timed? out' --limit 50"
    })
public final class LogsCommand extends ClientCommand {
  private static final int PAGE = 1000;

  @Parameters(index = "0", paramLabel = "JOB", description = "Name of the job.")
  private String job = "";

  @Parameters(
      index = "1",
      arity = "0..1",
      paramLabel = "NODE",
      description = "Only this node's task.")
  private @Nullable String node;

  @Option(
      names = "--stream",
      paramLabel = "STREAM",
      split = ",",
      defaultValue = "stdout",
      description =
          "stdout, stderr or statuses, or several with commas (default: ${DEFAULT-VALUE}).")
  private List<String> streams = List.of();

  @Option(
      names = "--regex",
      paramLabel = "REGEX",
      description = "Only lines in which this is found.")
  private String regex = "";

  @Option(
      names = "--invocation",
      paramLabel = "TOKEN",
      description = "Only lines of this attempt, such as 3.17.")
  private String invocation = "";

  @Option(
      names = "--since",
      paramLabel = "TIME",
      description = "Only lines from then on: 2026-11-21T07:00:00Z, or how long ago: 90s, 15m, 2h.")
  private String since = "";

  @Option(names = "--until", paramLabel = "TIME", description = "Only lines before then.")
  private String until = "";

  @Option(
      names = "--limit",
      paramLabel = "N",
      defaultValue = "100",
      description = "At most so many lines (default: ${DEFAULT-VALUE}).")
  private int limit = 100;

  @Option(names = "--asc", description = "The first lines instead of the last ones.")
  private boolean ascending;

  @Option(
      names = {"-f", "--follow"},
      description = "Go on with what is written, until interrupted.")
  private boolean follow;

  @Option(
      names = "--until-done",
      description = "With -f, JOB and NODE: end when the task is done or has failed for good.")
  private boolean untilDone;

  public LogsCommand(CommandContext clients) {
    super(clients, new DataDirFlag());
  }

  @Override
  public int run(Client client) {
    requireSense();
    List<Json.Obj> lines = new ArrayList<>();
    String next = "";
    Json.Obj page;
    do {
      page = page(client, streams, next, Math.min(PAGE, limit - lines.size()));
      lines.addAll(JsonFields.objects(page, "lines"));
      next = JsonFields.text(page, "next");
    } while (!next.isEmpty() && lines.size() < limit);
    if (page.get("missing") instanceof Json.Arr missing) {
      missing.items().forEach(who -> remark("without " + JsonFields.text(who)));
    }
    if (json() && !follow) {
      print(
          Json.object()
              .put("stream", String.join(",", streams))
              .put("lines", new Json.Arr(List.copyOf(lines)))
              .put("next", next)
              .build());
      return ExitCode.OK;
    }
    if (!ascending) {
      Collections.reverse(lines);
    }
    lines.forEach(this::printed);
    if (follow) {
      follow(client, lines);
    } else if (lines.isEmpty()) {
      String elsewhere = elsewhere(client);
      if (elsewhere.isEmpty()) {
        requireTask(client, job, node);
      }
      remark("there are no such lines" + elsewhere);
    }
    return ExitCode.OK;
  }

  /** Names the output stream that nobody asked for and that does have such lines. */
  private String elsewhere(Client client) {
    for (String stream : List.of("stdout", "stderr")) {
      if (!streams.contains(stream)
          && !JsonFields.objects(page(client, List.of(stream), "", 1), "lines").isEmpty()) {
        return " on %s, but on %s: --stream %s"
            .formatted(String.join(" and ", streams), stream, stream);
      }
    }
    return "";
  }

  private void requireSense() {
    requireLimit(limit);
    requireSpan("--since", since, "--until", until);
    if (follow && (ascending || !until.isEmpty())) {
      throw misuse("-f goes on after the last line: --asc and --until make no sense with it");
    }
    if (untilDone && (!follow || node == null)) {
      throw misuse("--until-done needs -f and a NODE");
    }
  }

  private void follow(Client client, List<Json.Obj> printed) {
    out().flush();
    Map<String, List<String>> query = chosen();
    query.put("from", List.of(Long.toString(first(printed))));
    if (untilDone) {
      query.put("until_done", List.of("true"));
    }
    Set<Json.Obj> known = new HashSet<>(printed);
    client.followLogs(query, line -> known.remove(line) || followed(line));
  }

  /**
   * Returns where to start following: at the first printed line, because later lines of other
   * workers may belong between the printed ones; without printed lines, at the earliest possible
   * position of new ones.
   */
  private long first(List<Json.Obj> printed) {
    if (!printed.isEmpty()) {
      return Long.parseLong(JsonFields.text(printed.get(0), "id"));
    }
    // Ids begin with the time in seconds.
    return since.isEmpty() ? 0 : (Long.parseLong(millis("--since", since)) / 1000) << 32;
  }

  /** Handles a line; returns true to continue. */
  private boolean followed(Json.Obj line) {
    if (line.get("id") != null) {
      printed(line);
      return !out().checkError();
    }
    if (line.get("problem") != null) {
      throw new CommandException(ExitCode.FAILED, JsonFields.text(line, "problem"));
    }
    if (line.get("missing") instanceof Json.Arr missing) {
      missing.items().forEach(who -> remark("without " + JsonFields.text(who)));
    }
    return line.get("end") == null;
  }

  private void printed(Json.Obj line) {
    if (json()) {
      print(line);
      return;
    }
    String origin = node == null ? JsonFields.text(line, "node") + "  " : "";
    String stream = streams.size() > 1 ? JsonFields.text(line, "stream") + "  " : "";
    out()
        .println(
            HumanFormat.clean(
                HumanFormat.time(JsonFields.number(line, "time_ms"))
                    + "  "
                    + origin
                    + stream
                    + JsonFields.text(line, "text").stripTrailing()));
  }

  private Json.Obj page(Client client, List<String> of, String from, int size) {
    Map<String, List<String>> query = chosen();
    query.put("stream", of);
    query.put("from", optional(from));
    query.put("order", List.of(ascending ? "asc" : "desc"));
    query.put("limit", List.of(Integer.toString(size)));
    query.put("since_ms", optional(millis("--since", since)));
    query.put("until_ms", optional(millis("--until", until)));
    return get(client, ApiV1.LOGS, Map.of(), query);
  }

  private Map<String, List<String>> chosen() {
    Map<String, List<String>> query = new LinkedHashMap<>();
    query.put("stream", streams);
    query.put("job", List.of(job));
    query.put("node", optional(node));
    query.put("invocation", optional(invocation));
    query.put("regex", optional(regex));
    return query;
  }
}
