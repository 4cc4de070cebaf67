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
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import org.jspecify.annotations.Nullable;

/** {@code task_logs} (behaviour 9.6). */
final class LogQueries {
  private static final int LINES = 1000;
  private static final int COUNTER_BITS = 32;

  private final SchedulerApi api;

  LogQueries(SchedulerApi api) {
    this.api = api;
  }

  void addTo(Map<String, BistroQuery> table) {
    table.put("task_logs", this::taskLogs);
  }

  private CompletionStage<Json> taskLogs(Arguments arguments, Snapshot snapshot) {
    if (arguments.has("columns")) {
      throw new BadArguments("Custom columns are currently not supported.");
    }
    boolean ascending = ascending(arguments.text("sort", "desc"));
    LogQuery query =
        new LogQuery(
            stream(arguments.text("log_type")),
            arguments.names("jobs"),
            arguments.names("nodes"),
            from(arguments, ascending),
            ascending,
            LINES,
            regex(arguments.text("regex_filter", "")));
    return api.logs(query).thenApply(LogQueries::data);
  }

  private static Json data(LogPage page) {
    List<Json> lines = new ArrayList<>();
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
    for (LogLine.Stream stream : LogLine.Stream.values()) {
      if (stream.label().equals(label)) {
        return stream;
      }
    }
    throw new BadArguments(
        "Unknown log type: " + label + "; there are stdout, stderr and statuses");
  }

  private static boolean ascending(String sort) {
    String order = sort.toLowerCase(Locale.ROOT);
    if (!order.equals("asc") && !order.equals("desc")) {
      throw new BadArguments("Unknown sort order: " + sort + "; there are asc and desc");
    }
    return order.equals("asc");
  }

  /** Where to begin, inclusive: every line of a second lies between counters 0 and the maximum. */
  private static long from(Arguments arguments, boolean ascending) {
    if (arguments.has("time")) {
      if (arguments.has("line_id")) {
        throw new BadArguments("Cannot specify both time and line_id");
      }
      long second = arguments.integer("time", 0, Integer.MAX_VALUE) << COUNTER_BITS;
      return ascending ? second : second | 0xFFFF_FFFFL;
    }
    return arguments.has("line_id") ? arguments.integer("line_id", -1, Long.MAX_VALUE) : -1;
  }

  private static @Nullable Pattern regex(String text) {
    if (text.isEmpty()) {
      return null;
    }
    try {
      return Pattern.compile(text);
    } catch (PatternSyntaxException e) {
      throw new BadArguments("\"regex_filter\" is not a regular expression: " + e.getDescription());
    }
  }
}
