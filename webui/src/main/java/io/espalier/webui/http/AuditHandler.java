package io.espalier.webui.http;

import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import io.espalier.core.problem.Causes;
import io.espalier.core.text.ShortText;
import io.espalier.webui.bistro.BistroBatches;
import io.espalier.webui.security.AuditEntry;
import io.espalier.webui.security.AuditLog;
import io.espalier.webui.security.Principal;
import io.espalier.webui.security.RateLimiter;
import io.espalier.webui.v1.ApiException;
import io.espalier.webui.v1.ApiRequest;
import io.espalier.webui.v1.ApiRoute;
import io.espalier.webui.v1.ApiV1;
import io.vertx.ext.web.RoutingContext;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes requests that change something, or try to, to the audit log once their outcome is known.
 * Before it carries a change out or hands it on, it also writes the request to the log {@code
 * io.espalier.changes}, and there previews and changes that are then refused, too.
 */
public final class AuditHandler {
  private static final Logger LOG = LoggerFactory.getLogger(AuditHandler.class);
  private static final Logger CHANGES = LoggerFactory.getLogger("io.espalier.changes");
  private static final Pattern PARAMETER = Pattern.compile("\\{(\\w+)\\}");
  private static final int MOST_REASON = 1_000;
  private static final int MOST_DETAILS = 2_000;

  /**
   * The burst of refused unknown callers that are recorded, so that they cannot displace other
   * entries.
   */
  private static final int STRANGERS_AT_ONCE = 100;

  private static final double STRANGERS_A_SECOND = 0.2;

  private final AuditLog log;
  private final InstantSource clock;
  private final RateLimiter strangers;
  private final AtomicLong untold = new AtomicLong();

  public AuditHandler(AuditLog log, InstantSource clock) {
    this.log = log;
    this.clock = clock;
    this.strangers = new RateLimiter(STRANGERS_AT_ONCE, STRANGERS_A_SECOND, System::nanoTime);
  }

  /**
   * Carries out a change and answers once its outcome is recorded.
   *
   * @param change throws or fails with the answer to send then
   */
  public <T> CompletionStage<T> recorded(
      String address, ApiRoute route, ApiRequest request, Supplier<CompletionStage<T>> change) {
    CHANGES.info(
        "{} by {} from {}: {} {}",
        route.template(),
        request.caller().name(),
        address,
        JsonWriter.compact(Json.strings(request.path().values())),
        withoutConfig(route, request.body()));
    CompletionStage<T> outcome;
    try {
      outcome = change.get();
    } catch (RuntimeException e) {
      outcome = CompletableFuture.failedFuture(e);
    }
    return outcome
        .handle(
            (value, failure) -> {
              if (failure == null && Json.Bool.TRUE.equals(request.body().get("preview"))) {
                return CompletableFuture.completedFuture(value); // nothing was done
              }
              ApiException refusal = failure == null ? null : ApiException.of(failure);
              CompletionStage<Void> written =
                  write(
                      request.caller(),
                      request.caller().role().label(),
                      address,
                      action(route.method(), route.template()),
                      target(route.template(), request.path()),
                      reason(request),
                      refusal == null ? 200 : refusal.status(),
                      details(route, request, refusal));
              return written.<T>thenCompose(
                  done ->
                      failure == null
                          ? CompletableFuture.completedFuture(value)
                          : CompletableFuture.failedFuture(Causes.of(failure)));
            })
        .thenCompose(stage -> stage);
  }

  /** Records a change that another server carries out, and records too. */
  public void handedOn(RoutingContext ctx, String server, String path) {
    Principal who = AuthHandler.caller(ctx);
    String address = AuthHandler.address(ctx);
    String method = ctx.request().method().name();
    CHANGES.info("{} {} of {} by {} from {}", method, Json.of(path), server, who.name(), address);
    CompletionStage<Void> written =
        write(
            who,
            who.role().label(),
            address,
            method,
            server + path,
            "",
            202,
            Json.object().put("handed_on", true).build());
    LOG.trace("{}", written);
  }

  /** Records a request that was refused by authentication or authorisation. */
  void refused(
      Optional<Principal> who, String address, String action, String target, ApiException why) {
    Json.Builder details = Json.object().put("refused", String.valueOf(why.getMessage()));
    if (who.isEmpty()) {
      if (strangers.take("", 1) > 0) {
        untold.incrementAndGet();
        return;
      }
      long left = untold.getAndSet(0);
      if (left > 0) {
        details.put("not_recorded_before", left);
      }
    }
    var unused =
        write(
            who.orElse(Principal.ANYBODY),
            who.map(p -> p.role().label()).orElse(""),
            address,
            action,
            ShortText.shown(target, MOST_REASON),
            "",
            why.status(),
            details.build());
  }

  /** Returns the recorder for the changes in one batch of Bistro's queries. */
  public BistroBatches.Changes ofBatch(RoutingContext ctx) {
    String address = AuthHandler.address(ctx);
    Principal who = AuthHandler.caller(ctx);
    return (handler, query, status, why) -> {
      Json.Builder details = Json.object();
      if (!why.isEmpty()) {
        details.put("refused", ShortText.shown(why, MOST_DETAILS));
      }
      return write(
          who,
          who.role().label(),
          address,
          handler,
          bistroTarget(query),
          "",
          status,
          details.build());
    };
  }

  private static String bistroTarget(Json.Obj query) {
    List<String> parts = new ArrayList<>();
    if (query.get("jobs") instanceof Json.Arr jobs) {
      jobs.items().forEach(job -> parts.add(name(job)));
      return ShortText.shown(String.join(" ", parts), MOST_REASON);
    }
    for (String key : List.of("job_id", "node_id")) {
      Json name = query.get(key);
      if (name != null) {
        parts.add(name(name));
      }
    }
    return ShortText.shown(String.join("/", parts), MOST_REASON);
  }

  /** Returns a name; Bistro's clients may send a number instead. */
  private static String name(Json value) {
    return encoded(value instanceof Json.Str text ? text.value() : JsonWriter.compact(value));
  }

  /**
   * Records one change.
   *
   * @param details at most a few thousand characters
   * @return a stage that completes, and never fails, when the entry is written or cannot be
   */
  CompletionStage<Void> write(
      Principal who,
      String role,
      String address,
      String action,
      String target,
      String reason,
      int status,
      Json.Obj details) {
    AuditEntry entry =
        new AuditEntry(
            0,
            clock.millis(),
            who.name(),
            role,
            address,
            action,
            target,
            ShortText.shown(reason, MOST_REASON),
            status,
            details);
    return log.append(entry)
        .exceptionally(
            failure -> {
              // The change has already happened: the problem is reported, and the caller gets the
              // answer.
              LOG.error(
                  "not in the audit log: {}: {}",
                  JsonWriter.compact(entry.toJson()),
                  failure.toString());
              return null;
            });
  }

  /**
   * Returns the last word of the path for a POST to a named action, else the method and the
   * resource.
   */
  static String action(String method, String template) {
    List<String> words = new ArrayList<>(List.of(template.split("/", -1)));
    String last = words.get(words.size() - 1);
    if (method.equals("POST") && !last.startsWith("{")) {
      return last;
    }
    words.removeIf(word -> word.startsWith("{"));
    return method.toLowerCase(Locale.ROOT) + " " + words.get(words.size() - 1);
  }

  static String target(String template, Map<String, String> path) {
    List<String> parts = new ArrayList<>();
    Matcher names = PARAMETER.matcher(template);
    while (names.find()) {
      parts.add(encoded(path.getOrDefault(names.group(1), "")));
    }
    return String.join("/", parts);
  }

  public static String encoded(String name) {
    return URLEncoder.encode(name, StandardCharsets.UTF_8).replace("+", "%20");
  }

  private static String reason(ApiRequest request) {
    if (request.body().get("reason") instanceof Json.Str reason) {
      return reason.value();
    }
    return String.join(" ", request.query().getOrDefault("reason", List.of()));
  }

  /**
   * Returns a body without the job that it saves or the configuration that it applies: these are in
   * the history and at the source, and may contain what not everybody should read.
   */
  private static Json.Obj withoutConfig(ApiRoute route, Json.Obj body) {
    if (route.method().equals("PUT") && route.template().equals(ApiV1.JOB)) {
      return Json.Obj.EMPTY;
    }
    return route.template().equals(ApiV1.APPLY) ? body.without("config").without("plan") : body;
  }

  /** Returns the details of a request. */
  private static Json.Obj details(
      ApiRoute route, ApiRequest request, @Nullable ApiException refusal) {
    Json.Builder details = Json.object();
    if (refusal != null) {
      details.put("refused", ShortText.shown(String.valueOf(refusal.getMessage()), MOST_DETAILS));
    }
    Json.Obj body = withoutConfig(route, request.body().without("reason"));
    String text = body.isEmpty() ? "" : JsonWriter.compact(body);
    if (!request.caller().authenticated() && request.query().containsKey("author")) {
      details.put(
          "author", ShortText.shown(String.join(" ", request.query().get("author")), MOST_DETAILS));
    }
    if (!text.isEmpty()) {
      if (text.length() <= MOST_DETAILS) {
        details.put("request", body);
      } else {
        details.put("request", ShortText.shown(text, MOST_DETAILS));
      }
    }
    return details.build();
  }
}
