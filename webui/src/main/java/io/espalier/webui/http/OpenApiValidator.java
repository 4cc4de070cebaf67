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
 * Refuses requests that the contract does not allow, with everything that is wrong with them.
 *
 * <p>The contract is read in the background: a server answers its first probe before it is needed,
 * and requests that come earlier wait for it.
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
   * @param pool where it is read
   */
  public OpenApiValidator(Supplier<String> yaml, Executor pool) {
    this.yaml = yaml;
    this.pool = pool;
  }

  /** Begins to read the contract, if nobody has. */
  public void begin() {
    LOG.trace("reading the contract: {}", contract());
  }

  /** The contract once it is read; begins to read it. Thread-safe. */
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
   * Throws when a request is not as the contract wants it.
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

  /** Lets a handler on an event loop have only requests without body that are as they should be. */
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

  /** What a request says besides its body. */
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
      // No path can hold the names "." and "..": clients and servers remove them from it.
      path.put(NODE, node.get(0));
      query.remove(NODE);
    }
    return new RequestData(Map.copyOf(path), query, headers, null);
  }
}
