package io.espalier.webui.bistro;

import io.espalier.core.api.RefusedException;
import io.espalier.core.api.SchedulerApi;
import io.espalier.core.api.view.SchedulerView;
import io.espalier.core.config.Config;
import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import io.espalier.core.problem.Causes;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Result;
import io.espalier.webui.security.Principal;
import io.espalier.webui.security.Role;
import io.espalier.webui.v1.ApiException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Answers Bistro's batched queries (docs/design/bistro.md#batches): the request is an object of
 * named sub-queries, the answer an object of the same names with {@code data} or {@code error}, or
 * one string when nothing can be answered.
 *
 * <p>Sub-queries are answered one after the other in the order of the text, from one snapshot, not
 * atomically.
 */
public final class BistroBatches {
  /**
   * The maximum number of sub-queries in a request: a small body must not cause an endless answer.
   */
  static final int MAX_QUERIES = 1000;

  /**
   * The maximum number of characters in an answer; a sub-query that would exceed it gets an error.
   */
  static final int MAX_ANSWER = 1 << 28;

  private static final Logger LOG = LoggerFactory.getLogger(BistroBatches.class);

  private final SchedulerApi api;
  private final Duration answerWithin;
  private final Executor pool;
  private final Map<String, BistroQuery> table = new TreeMap<>();

  /**
   * @param answerWithin time limit of a whole batch; sub-queries not answered by then get an error
   * @param pool runs the sub-queries
   */
  public BistroBatches(
      SchedulerApi api, InstantSource clock, Duration answerWithin, Executor pool) {
    this.api = api;
    this.answerWithin = answerWithin;
    this.pool = pool;
    new JobQueries(api).addTo(table);
    new RunningQueries(clock).addTo(table);
    NodeQueries.addTo(table);
    new BistroLogQueries(api).addTo(table);
    new ChangeQueries(api).addTo(table);
  }

  /** Records every change, done or refused. */
  @FunctionalInterface
  public interface Changes {
    /**
     * Records a change. The answer waits for that.
     *
     * @param status 200: it was done; otherwise the status that the REST interface would return
     * @param why the reason of a failure; empty: it was done
     * @return a stage that must not fail
     */
    CompletionStage<Void> made(String handler, Json.Obj query, int status, String why);
  }

  /** Returns the changes in a request: the handlers, once per call, with their roles. */
  public static List<Map.Entry<String, Role>> changes(Result<Json> body) {
    List<Map.Entry<String, Role>> changes = new ArrayList<>();
    if (body.value() instanceof Json.Obj batch && !body.hasErrors()) {
      for (Json query : batch.without("prefs").members().values()) {
        if (query instanceof Json.Obj object && object.get("handler") instanceof Json.Str name) {
          ChangeQueries.role(name.value())
              .ifPresent(role -> changes.add(Map.entry(name.value(), role)));
        }
      }
    }
    return changes;
  }

  /**
   * Answers a request body; never fails.
   *
   * @param body the parsed text
   * @param caller has all roles that {@link #changes} returns
   * @param changes records the changes
   * @return JSON text
   */
  public CompletionStage<String> answer(Result<Json> body, Principal caller, Changes changes) {
    Json request = body.value();
    if (request == null || body.hasErrors()) {
      return whole("the request is not valid JSON: " + joined(body.problems()));
    }
    if (!(request instanceof Json.Obj object)) {
      return whole("the request must be an object of sub-queries, not " + request.kind());
    }
    // Bistro's user interface adds its own preferences.
    Map<String, Json> queries = object.without("prefs").members();
    if (queries.size() > MAX_QUERIES) {
      return whole("a request has at most " + MAX_QUERIES + " sub-queries");
    }
    SchedulerView view = api.view();
    Config config = view.config();
    return config == null
        ? whole(noConfig(view))
        : batch(
            queries,
            new Snapshot(config, view, caller),
            System.nanoTime() + answerWithin.toNanos(),
            changes);
  }

  private CompletionStage<String> batch(
      Map<String, Json> queries, Snapshot snapshot, long deadline, Changes changes) {
    StringBuilder out = new StringBuilder("{");
    CompletionStage<?> done = CompletableFuture.completedFuture(null);
    for (Map.Entry<String, Json> query : queries.entrySet()) {
      done =
          done.thenComposeAsync(
                  before -> single(query.getValue(), snapshot, deadline, changes), pool)
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

  /** Returns {@code {"data": ...}} or {@code {"error": ...}}. */
  private CompletionStage<Json> single(
      Json query, Snapshot snapshot, long deadline, Changes changes) {
    CompletionStage<Json> data;
    try {
      data = data(query, snapshot);
    } catch (RuntimeException e) {
      data = CompletableFuture.failedFuture(e);
    }
    data = noted(query, data, changes);
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

  /** Returns the same outcome once a change is recorded. */
  private static CompletionStage<Json> noted(
      Json query, CompletionStage<Json> data, Changes changes) {
    if (!(query instanceof Json.Obj object
        && object.get("handler") instanceof Json.Str name
        && ChangeQueries.role(name.value()).isPresent())) {
      return data;
    }
    return data.handle(
            (value, failure) ->
                failure == null
                    ? changes.made(name.value(), object, 200, "")
                    : changes.made(name.value(), object, status(failure), why(failure)))
        .thenCompose(stage -> stage)
        .thenCompose(done -> data);
  }

  private static int status(Throwable failure) {
    return Causes.of(failure) instanceof BadArgumentsException
        ? 400
        : ApiException.of(failure).status();
  }

  private static String why(Throwable failure) {
    Throwable cause = Causes.of(failure);
    return cause instanceof BadArgumentsException
        ? String.valueOf(cause.getMessage())
        : String.valueOf(ApiException.of(failure).getMessage());
  }

  private CompletionStage<Json> data(Json query, Snapshot snapshot) {
    if (!(query instanceof Json.Obj object)) {
      throw new BadArgumentsException("a sub-query must be an object, not " + query.kind());
    }
    Arguments arguments = new Arguments(object);
    String name = arguments.text("handler");
    BistroQuery handler = table.get(name);
    if (handler == null) {
      throw new BadArgumentsException(
          "Unknown handler: " + name + "; there are " + String.join(", ", table.keySet()));
    }
    return handler.answer(arguments, snapshot);
  }

  private String message(Throwable failure) {
    Throwable cause = Causes.of(failure);
    if (cause instanceof BadArgumentsException || cause instanceof RefusedException) {
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
        ? view.whyNoConfig()
        : "no configuration is in force: " + joined(view.configProblems());
  }

  private static String joined(Iterable<Problem> problems) {
    return StreamSupport.stream(problems.spliterator(), false)
        .map(Problem::toString)
        .limit(20)
        .collect(Collectors.joining("; "));
  }
}
