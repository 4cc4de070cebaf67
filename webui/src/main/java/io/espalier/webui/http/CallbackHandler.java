package io.espalier.webui.http;

import io.espalier.core.api.Callback;
import io.espalier.core.api.SchedulerApi;
import io.espalier.core.json.Json;
import io.espalier.webui.contract.OpenApiContract;
import io.espalier.webui.contract.RequestData;
import io.espalier.webui.security.RateLimiter;
import io.espalier.webui.v1.ApiException;
import io.vertx.core.Handler;
import io.vertx.ext.web.RoutingContext;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Takes what services report about their calls (docs/calls.md#callbacks). The signature in the URL
 * proves the right to do so; no token is needed, and none is looked at. Neither URLs nor bodies are
 * logged.
 */
public final class CallbackHandler implements Handler<RoutingContext> {
  /** The path, as {@code openapi.yaml} writes it. */
  public static final String TEMPLATE = "/api/v1/callbacks/{invocation}";

  private static final int BODY_BYTES = 64 * 1024;

  private final SchedulerApi api;
  private final AsyncResponder answers;
  private final OpenApiValidator contract;
  private final BodyReader bodies = new BodyReader(BODY_BYTES);
  private final RateLimiter reports;
  private final RateLimiter forged;

  public CallbackHandler(
      SchedulerApi api,
      AsyncResponder answers,
      OpenApiValidator contract,
      WebSecurity.Rates rates) {
    this.api = api;
    this.answers = answers;
    this.contract = contract;
    this.reports =
        new RateLimiter(rates.changesAtOnce(), rates.changesPerSecond(), System::nanoTime);
    this.forged =
        new RateLimiter(rates.failuresAtOnce(), rates.failuresPerSecond(), System::nanoTime);
  }

  @Override
  public void handle(RoutingContext ctx) {
    RequestData asked = OpenApiValidator.asked(ctx);
    String network = AuthHandler.network(AuthHandler.address(ctx));
    bodies.answer(
        ctx,
        answers,
        contract,
        answers.within(),
        (known, bytes) -> report(valid(known, asked, bytes), network));
  }

  private static Callback valid(OpenApiContract known, RequestData asked, byte[] bytes) {
    Json body = BodyReader.json(bytes);
    OpenApiValidator.demand(known, "POST", TEMPLATE, asked.withBody(body));
    return new Callback(
        one(asked, "job"),
        one(asked, "node"),
        asked.path().getOrDefault("invocation", ""),
        one(asked, "signature"),
        body instanceof Json.Obj said ? said : Json.Obj.EMPTY);
  }

  private static String one(RequestData asked, String name) {
    List<String> values = asked.query().getOrDefault(name, List.of());
    return values.isEmpty() ? "" : values.get(0);
  }

  private CompletionStage<HttpReply> report(Callback callback, String network) {
    // By address too: nothing is proven yet, and others must not use up the share of the service.
    long seconds = reports.take(network + " " + callback.invocation(), 1);
    return seconds > 0
        ? CompletableFuture.completedFuture(tooMany("reports about one call", seconds))
        : api.calledBack(callback).thenApply(outcome -> reply(outcome, network));
  }

  private HttpReply reply(Callback.Outcome outcome, String network) {
    return switch (outcome) {
      case RECORDED, KNOWN ->
          HttpReply.json(
              200, Json.object().put("known", outcome == Callback.Outcome.KNOWN).build());
      case CONTRADICTED -> refused(409, "this call has ended with another result before");
      case GONE -> refused(410, "this call is not waited for any more");
      case FORGED -> {
        long seconds = forged.take(network, 1);
        yield seconds > 0
            ? tooMany("wrong signatures", seconds)
            : refused(403, "the signature does not belong to this call");
      }
    };
  }

  private static HttpReply refused(int status, String why) {
    return HttpReply.problem(new ApiException(status, why));
  }

  private static HttpReply tooMany(String what, long seconds) {
    HttpReply plain = refused(429, "too many " + what + " in a short time");
    return new HttpReply(
        plain.status(), plain.type(), plain.text(), Map.of("Retry-After", Long.toString(seconds)));
  }
}
