package io.espalier.webui.http;

import io.espalier.webui.contract.OpenApiContract;
import io.espalier.webui.contract.RequestData;
import io.espalier.webui.contract.Violation;
import io.espalier.webui.v1.ApiException;
import io.vertx.core.Context;
import io.vertx.core.Handler;
import io.vertx.core.MultiMap;
import io.vertx.ext.web.RoutingContext;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Refuses requests that violate the contract, listing all violations.
 *
 * <p>It parses the contract in the background when the first request needs it: probes and scrapes
 * do not, and to parse it takes a tenth of the processor time of a start.
 */
public final class OpenApiValidator {
  private static final String NODE = "node";

  private static final Logger LOG = LoggerFactory.getLogger(OpenApiValidator.class);

  private final Supplier<String> yaml;
  private final Executor pool;
  private final Object lock = new Object();
  private CompletableFuture<OpenApiContract> contract = new CompletableFuture<>();
  private boolean begun;

  /**
   * @param yaml the text of the contract
   * @param pool parses it
   */
  public OpenApiValidator(Supplier<String> yaml, Executor pool) {
    this.yaml = yaml;
    this.pool = pool;
  }

  /** Returns the contract once it is parsed, and starts to parse it if necessary. Thread-safe. */
  public CompletableFuture<OpenApiContract> contract() {
    synchronized (lock) {
      if (!begun) {
        begun = true;
        contract = CompletableFuture.supplyAsync(this::load, pool);
      }
      return contract;
    }
  }

  private OpenApiContract load() {
    try {
      return OpenApiContract.load(yaml.get());
    } catch (RuntimeException e) {
      LOG.error("the contract cannot be read: every request of the API will fail", e);
      throw e;
    }
  }

  /**
   * Checks a request against the contract.
   *
   * @throws ApiException with all violations
   */
  public static void demand(
      OpenApiContract contract, String method, String template, RequestData asked) {
    List<Violation> violations = contract.check(method, template, asked);
    if (!violations.isEmpty()) {
      throw ApiException.violating(violations);
    }
  }

  /** Wraps a handler on an event loop so that it gets only valid requests without a body. */
  public Handler<RoutingContext> before(String template, Handler<RoutingContext> handler) {
    return ctx -> {
      RequestData asked = asked(ctx);
      CompletableFuture<OpenApiContract> known = contract();
      Context loop = ctx.vertx().getOrCreateContext();
      if (known.isDone()) {
        pass(ctx, template, asked, known, handler);
      } else {
        var unused =
            known.whenComplete(
                (read, failure) ->
                    loop.runOnContext(v -> pass(ctx, template, asked, known, handler)));
      }
    };
  }

  private static void pass(
      RoutingContext ctx,
      String template,
      RequestData asked,
      CompletableFuture<OpenApiContract> known,
      Handler<RoutingContext> handler) {
    try {
      demand(known.join(), "GET", template, asked);
    } catch (RuntimeException e) {
      AsyncResponder.send(ctx, HttpReply.problem(ApiException.of(e)));
      return;
    }
    handler.handle(ctx);
  }

  /** Returns the parts of a request other than its body. */
  public static RequestData asked(RoutingContext ctx) {
    Map<String, List<String>> query = new LinkedHashMap<>();
    for (String name : ctx.queryParams().names()) {
      query.put(name, ctx.queryParams().getAll(name));
    }
    Map<String, String> headers = new HashMap<>();
    MultiMap given = ctx.request().headers();
    for (String name : given.names()) {
      headers.put(name.toLowerCase(Locale.ROOT), String.join(", ", given.getAll(name)));
    }
    Map<String, String> path = new HashMap<>(ctx.pathParams());
    List<String> node = query.getOrDefault(NODE, List.of());
    if (path.containsKey(NODE) && node.size() == 1) {
      // A path cannot contain the names "." and "..", because clients and servers remove them.
      path.put(NODE, node.get(0));
      query.remove(NODE);
    }
    return new RequestData(Map.copyOf(path), query, headers, null);
  }
}
