package io.espalier.server.cli.client;

import io.espalier.core.json.Json;
import io.espalier.server.exit.ExitCode;
import io.espalier.webui.v1.ApiV1;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;

/** {@code logs JOB [NODE]}: what tasks wrote. */
@Command(
    name = "logs",
    mixinStandardHelpOptions = true,
    description = "Print what tasks wrote: the last lines, oldest first.")
final class LogsCommand extends OfflineCommand {
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
      defaultValue = "stdout",
      description = "stdout, stderr or statuses (default: ${DEFAULT-VALUE}).")
  private String stream = "stdout";

  @Option(
      names = "--regex",
      paramLabel = "REGEX",
      description = "Only lines in which this is found.")
  private String regex = "";

  @Option(
      names = "--limit",
      paramLabel = "N",
      defaultValue = "100",
      description = "At most so many lines (default: ${DEFAULT-VALUE}).")
  private int limit = 100;

  @Option(names = "--asc", description = "The first lines instead of the last ones.")
  private boolean ascending;

  LogsCommand(Clients clients) {
    super(clients);
  }

  @Override
  int run(Client client) {
    if (limit < 1) {
      throw new ParameterException(spec().commandLine(), "--limit must be at least 1");
    }
    List<Json.Obj> lines = new ArrayList<>();
    String next = "";
    do {
      Json.Obj page = page(client, next, Math.min(PAGE, limit - lines.size()));
      lines.addAll(Fields.objects(page, "lines"));
      next = Fields.text(page, "next");
    } while (!next.isEmpty() && lines.size() < limit);
    if (json()) {
      print(
          Json.object()
              .put("stream", stream)
              .put("lines", new Json.Arr(List.copyOf(lines)))
              .put("next", next)
              .build());
      return ExitCode.OK;
    }
    if (!ascending) {
      Collections.reverse(lines);
    }
    for (Json.Obj line : lines) {
      String origin = node == null ? Fields.text(line, "node") + "  " : "";
      out()
          .println(
              Screen.clean(
                  Screen.time(Fields.number(line, "time_ms"))
                      + "  "
                      + origin
                      + Fields.text(line, "text").stripTrailing()));
    }
    if (lines.isEmpty()) {
      remark("there are no such lines");
    }
    return ExitCode.OK;
  }

  private Json.Obj page(Client client, String from, int size) {
    return get(
        client,
        ApiV1.LOGS,
        Map.of(),
        Map.of(
            "stream", List.of(stream),
            "job", List.of(job),
            "node", optional(node),
            "regex", optional(regex),
            "from", optional(from),
            "order", List.of(ascending ? "asc" : "desc"),
            "limit", List.of(Integer.toString(size))));
  }
}
