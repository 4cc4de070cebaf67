package io.espalier.webui.v1;

import io.espalier.core.api.SchedulerApi;
import io.espalier.core.json.Json;
import io.espalier.core.logs.LogLine;
import io.espalier.core.logs.LogPage;
import io.espalier.core.logs.LogQuery;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.stream.Stream;

/** Resources for task output in pages, and the code shared with the stream. */
public final class LogResources {
  private static final int MAX_PAGE = 1000;
  private static final List<String> STREAMS =
      Stream.of(LogLine.Stream.values()).map(LogLine.Stream::label).toList();

  /** The upper limit of times, about 290,000 years. */
  private static final long LAST_MILLIS = Long.MAX_VALUE / 1000;

  private final SchedulerApi api;

  LogResources(SchedulerApi api) {
    this.api = api;
  }

  void addTo(List<ApiRoute> routes) {
    routes.add(ApiRoute.get(ApiV1.LOGS, this::logs));
  }

  private CompletionStage<Json> logs(ApiRequest request) {
    request.allowing(
        "stream",
        "job",
        "node",
        "invocation",
        "regex",
        "from",
        "order",
        "limit",
        "since_ms",
        "until_ms");
    LogQuery query =
        chosen(request)
            .withFrom(request.integer("from", -1, -1, Long.MAX_VALUE))
            .withAscending(request.choice("order", "desc", List.of("asc", "desc")).equals("asc"))
            .withLimit((int) request.integer("limit", 100, 1, MAX_PAGE))
            .withTimes(
                request.integer("since_ms", 0, 0, LAST_MILLIS),
                request.integer("until_ms", 0, 0, LAST_MILLIS));
    return api.logs().query(query).thenApply(page -> page(query, page));
  }

  /**
   * Returns the query for the selected lines: streams, jobs, nodes, attempt, regular expression.
   */
  public static LogQuery chosen(ApiRequest request) {
    Set<LogLine.Stream> streams = EnumSet.noneOf(LogLine.Stream.class);
    for (String label : request.words("stream")) {
      streams.add(
          LogLine.Stream.of(label)
              .orElseThrow(
                  () ->
                      ApiException.badRequest(
                          "parameter \"stream\" must be one of "
                              + String.join(", ", STREAMS)
                              + ", not \""
                              + label
                              + "\"")));
    }
    if (streams.isEmpty()) {
      streams.add(LogLine.Stream.STDOUT);
    }
    String regex = request.text("regex");
    String complaint = LogQuery.complaintAbout(regex);
    if (!complaint.isEmpty()) {
      throw ApiException.badRequest(
          "parameter \"regex\" is not a regular expression: " + complaint);
    }
    return LogQuery.of(streams)
        .withJobs(request.all("job"))
        .withNodes(request.all("node"))
        .withInvocation(request.text("invocation"))
        .withRegex(regex);
  }

  private static Json page(LogQuery query, LogPage page) {
    List<Json> lines = new ArrayList<>();
    page.lines().forEach(line -> lines.add(line(line)));
    Json.Builder body =
        Json.object()
            .put(
                "stream",
                String.join(",", query.streams().stream().map(LogLine.Stream::label).toList()))
            .put("lines", new Json.Arr(lines))
            .put("next", page.nextId() < 0 ? "" : Long.toString(page.nextId()));
    if (!page.missing().isEmpty()) {
      body.put("missing", Json.strings(page.missing()));
    }
    return body.build();
  }

  /** Encodes one line as in the contract. */
  public static Json line(LogLine line) {
    Json.Builder form =
        Json.object()
            // JavaScript has no 64-bit integers.
            .put("id", Long.toString(line.id()))
            .put("stream", line.stream().label())
            .put("job", line.job())
            .put("node", line.node())
            .put("time_ms", line.timeMillis())
            .put("text", line.text());
    if (!line.invocation().isEmpty()) {
      form.put("invocation", line.invocation());
    }
    return form.build();
  }
}
