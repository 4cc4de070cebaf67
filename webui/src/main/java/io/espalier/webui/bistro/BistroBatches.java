package io.espalier.webui.bistro;

import io.espalier.core.api.RefusedException;
import io.espalier.core.api.SchedulerApi;
import io.espalier.core.api.SchedulerView;
import io.espalier.core.config.Config;
import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Result;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Bistro's batched queries (behaviour section 9): an object of named sub-queries in, an object of
 * the same names with {@code data} or {@code error} out; one string when nothing can be answered.
 *
 * <p>Sub-queries are answered one after the other in the order of the text, from one snapshot, not
 * atomically.
 */
public final class BistroBatches {
  /** More in one request is refused: a small body must not buy an endless answer. */
  static final int MAX_QUERIES = 1000;

  /** Characters of an answer; what would be more becomes an error of its sub-query. */
  static final int MAX_ANSWER = 1 << 28;

  private static final Logger LOG = LoggerFactory.getLogger(BistroBatches.class);

  private final SchedulerApi api;
  private final Duration answerWithin;
  private final Executor pool;
  private final Map<String, BistroQuery> table = new TreeMap<>();

  /**
   * @param answerWithin for a whole batch; what is not answered by then is an error
   * @param pool where the work is done
   */
  public BistroBatches(
      SchedulerApi api, InstantSource clock, Duration answerWithin, Executor pool) {
    this.api = api;
    this.answerWithin = answerWithin;
    this.pool = pool;
    new JobQueries(api).addTo(table);
    new RunningQueries(clock).addTo(table);
    NodeQueries.addTo(table);
    new LogQueries(api).addTo(table);
    new ChangeQueries(api).addTo(table);
  }

  /**
   * Answers a request body; never fails.
   *
   * @param body what its text was read as
   * @return JSON text
   */
  public CompletionStage<String> answer(Result<Json> body) {
    Json request = body.value();
    if (request == null || body.hasErrors()) {
      return whole("the request is not valid JSON: " + joined(body.problems()));
    }
    if (!(request instanceof Json.Obj object)) {
      return whole("the request must be an object of sub-queries, not " + request.kind());
    }
    // Bistro's user interface sends its own preferences along.
    Map<String, Json> queries = object.without("prefs").members();
    if (queries.size() > MAX_QUERIES) {
      return whole("a request holds at most " + MAX_QUERIES + " sub-queries");
    }
    SchedulerView view = api.view();
    Config config = view.config();
    return config == null
        ? whole(noConfig(view))
        : batch(queries, new Snapshot(config, view), System.nanoTime() + answerWithin.toNanos());
  }

  private CompletionStage<String> batch(
      Map<String, Json> queries, Snapshot snapshot, long deadline) {
    StringBuilder out = new StringBuilder("{");
    CompletionStage<?> done = CompletableFuture.completedFuture(null);
    for (Map.Entry<String, Json> query : queries.entrySet()) {
      done =
          done.thenComposeAsync(before -> single(query.getValue(), snapshot, deadline), pool)
              .thenAcceptAsync(answer -> append(out, query.getKey(), answer), pool);
    }
    return done.thenApply(after -> out.append('}').toString());
  }

  private static void append(StringBuilder out, String name, Json answer) {
    int before = out.length();
    out.append(before == 1 ? "" : ",");
    JsonWriter.quote(name, out);
    String text = JsonWriter.compact(answer);
    if (before + (long) text.length() > MAX_ANSWER) {
      text = JsonWriter.compact(error("the answer is too large; ask for less at a time"));
    }
    out.append(':').append(text);
  }

  /** {@code {"data": ...}} or {@code {"error": ...}}. */
  private CompletionStage<Json> single(Json query, Snapshot snapshot, long deadline) {
    CompletionStage<Json> data;
    try {
      data = data(query, snapshot);
    } catch (RuntimeException e) {
      data = CompletableFuture.failedFuture(e);
    }
    long left = Math.max(1, deadline - System.nanoTime());
    return data.toCompletableFuture()
        .copy()
        .orTimeout(left, TimeUnit.NANOSECONDS)
        .handle(
            (value, failure) ->
                failure == null
                    ? Json.object().put("data", value).build()
                    : error(message(failure)));
  }

  private CompletionStage<Json> data(Json query, Snapshot snapshot) {
    if (!(query instanceof Json.Obj object)) {
      throw new BadArguments("a sub-query must be an object, not " + query.kind());
    }
    Arguments arguments = new Arguments(object);
    String name = arguments.text("handler");
    BistroQuery handler = table.get(name);
    if (handler == null) {
      throw new BadArguments(
          "Unknown handler: " + name + "; there are " + String.join(", ", table.keySet()));
    }
    return handler.answer(arguments, snapshot);
  }

  private String message(Throwable failure) {
    Throwable cause =
        failure instanceof CompletionException && failure.getCause() != null
            ? failure.getCause()
            : failure;
    if (cause instanceof BadArguments || cause instanceof RefusedException) {
      return String.valueOf(cause.getMessage());
    }
    if (cause instanceof TimeoutException) {
      return "not answered within " + answerWithin.toSeconds() + " s";
    }
    LOG.error("a sub-query failed", cause);
    return "internal error: " + cause;
  }

  private static Json.Obj error(String message) {
    return Json.object().put("error", message).build();
  }

  private static CompletionStage<String> whole(String message) {
    return CompletableFuture.completedFuture(JsonWriter.compact(Json.of(message)));
  }

  private static String noConfig(SchedulerView view) {
    return view.configProblems().isEmpty()
        ? "no configuration is in force yet"
        : "no configuration is in force: " + joined(view.configProblems());
  }

  private static String joined(Iterable<Problem> problems) {
    return java.util.stream.StreamSupport.stream(problems.spliterator(), false)
        .map(Problem::toString)
        .limit(20)
        .collect(Collectors.joining("; "));
  }
}
