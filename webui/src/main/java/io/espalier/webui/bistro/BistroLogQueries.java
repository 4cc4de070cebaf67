package io.espalier.webui.bistro;

import io.espalier.core.api.SchedulerApi;
import io.espalier.core.json.Json;
import io.espalier.core.logs.LogLine;
import io.espalier.core.logs.LogPage;
import io.espalier.core.logs.LogQuery;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletionStage;

/** {@code task_logs} (docs/design/bistro.md#log-queries). */
final class BistroLogQueries {
  private static final int LINES = 1000;
  private static final int COUNTER_BITS = 32;

  private final SchedulerApi api;

  BistroLogQueries(SchedulerApi api) {
    this.api = api;
  }

  void addTo(Map<String, BistroQuery> table) {
    table.put("task_logs", this::taskLogs);
  }

  private CompletionStage<Json> taskLogs(Arguments arguments, Snapshot snapshot) {
    if (arguments.has("columns")) {
      throw new BadArgumentsException("Custom columns are currently not supported.");
    }
    boolean ascending = ascending(arguments.text("sort", "desc"));
    LogQuery query =
        LogQuery.of(stream(arguments.text("log_type")))
            .withJobs(arguments.names("jobs"))
            .withNodes(arguments.names("nodes"))
            .withFrom(from(arguments, ascending))
            .withAscending(ascending)
            .withLimit(LINES)
            .withRegex(regex(arguments.text("regex_filter", "")));
    return api.logs().query(query).thenApply(BistroLogQueries::data);
  }

  private static Json data(LogPage page) {
    List<Json> lines = new ArrayList<>();
    for (String missing : page.missing()) {
      // An empty line, as in Bistro, for workers that do not answer.
      lines.add(
          new Json.Arr(
              List.of(Json.of(""), Json.of(""), Json.of(0L), Json.of(missing), Json.of("-1"))));
    }
    for (LogLine line : page.lines()) {
      lines.add(
          new Json.Arr(
              List.of(
                  Json.of(line.job()),
                  Json.of(line.node()),
                  Json.of(line.timeMillis() / 1000),
                  Json.of(line.text()),
                  // JavaScript has no 64-bit integers.
                  Json.of(Long.toString(line.id())))));
    }
    return Json.object()
        .put("next_line_id", Long.toString(page.nextId()))
        .put("lines", new Json.Arr(lines))
        .build();
  }

  private static LogLine.Stream stream(String label) {
    return LogLine.Stream.of(label)
        .orElseThrow(
            () ->
                new BadArgumentsException(
                    "Unknown log type: " + label + "; there are stdout, stderr and statuses"));
  }

  private static boolean ascending(String sort) {
    String order = sort.toLowerCase(Locale.ROOT);
    if (!order.equals("asc") && !order.equals("desc")) {
      throw new BadArgumentsException("Unknown sort order: " + sort + "; there are asc and desc");
    }
    return order.equals("asc");
  }

  /**
   * Returns the first position, inclusive: the lines of a second have counters from 0 to the
   * maximum.
   */
  private static long from(Arguments arguments, boolean ascending) {
    if (arguments.has("time")) {
      if (arguments.has("line_id")) {
        throw new BadArgumentsException("Cannot specify both time and line_id");
      }
      long second = arguments.integer("time", 0, Integer.MAX_VALUE) << COUNTER_BITS;
      return ascending ? second : second | 0xFFFF_FFFFL;
    }
    return arguments.has("line_id") ? arguments.integer("line_id", -1, Long.MAX_VALUE) : -1;
  }

  private static String regex(String text) {
    String complaint = LogQuery.complaintAbout(text);
    if (!complaint.isEmpty()) {
      throw new BadArgumentsException("\"regex_filter\" is not a regular expression: " + complaint);
    }
    return text;
  }
}
