package io.espalier.webui.v1;

import io.espalier.core.api.SchedulerApi;
import io.espalier.core.json.Json;
import io.espalier.core.logs.LogLine;
import io.espalier.core.logs.LogPage;
import io.espalier.core.logs.LogQuery;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Output of tasks, in pages. */
final class LogResources {
  private static final int MAX_PAGE = 1000;
  private static final List<String> STREAMS =
      Stream.of(LogLine.Stream.values()).map(LogLine.Stream::label).toList();

  private final SchedulerApi api;

  LogResources(SchedulerApi api) {
    this.api = api;
  }

  void addTo(List<ApiRoute> routes) {
    routes.add(ApiRoute.get(ApiV1.LOGS, this::logs));
  }

  private CompletionStage<Json> logs(ApiRequest request) {
    request.allowing("stream", "job", "node", "regex", "from", "order", "limit");
    String stream = request.choice("stream", "stdout", STREAMS);
    LogQuery query =
        new LogQuery(
            stream(stream),
            request.all("job"),
            request.all("node"),
            request.integer("from", -1, -1, Long.MAX_VALUE),
            request.choice("order", "desc", List.of("asc", "desc")).equals("asc"),
            (int) request.integer("limit", 100, 1, MAX_PAGE),
            regex(request.text("regex")));
    return api.logs(query).thenApply(page -> page(stream, page));
  }

  private static Json page(String stream, LogPage page) {
    List<Json> lines = new ArrayList<>();
    for (LogLine line : page.lines()) {
      lines.add(
          Json.object()
              // JavaScript has no 64-bit integers.
              .put("id", Long.toString(line.id()))
              .put("job", line.job())
              .put("node", line.node())
              .put("time_ms", line.timeMillis())
              .put("text", line.text())
              .build());
    }
    return Json.object()
        .put("stream", stream)
        .put("lines", new Json.Arr(lines))
        .put("next", page.nextId() < 0 ? "" : Long.toString(page.nextId()))
        .build();
  }

  private static LogLine.Stream stream(String label) {
    for (LogLine.Stream stream : LogLine.Stream.values()) {
      if (stream.label().equals(label)) {
        return stream;
      }
    }
    throw new IllegalStateException("stream " + label);
  }

  private static @Nullable Pattern regex(String text) {
    if (text.isEmpty()) {
      return null;
    }
    try {
      return Pattern.compile(text);
    } catch (PatternSyntaxException e) {
      throw ApiFailure.badRequest(
          "parameter \"regex\" is not a regular expression: " + e.getDescription());
    }
  }
}
