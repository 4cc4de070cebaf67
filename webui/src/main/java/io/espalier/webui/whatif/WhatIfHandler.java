package io.espalier.webui.whatif;

import io.espalier.core.api.SchedulerApi;
import io.espalier.core.json.Json;
import io.espalier.core.problem.Result;
import io.espalier.core.text.ShortText;
import io.espalier.json.JsonReader;
import io.espalier.webui.contract.RequestData;
import io.espalier.webui.contract.Violation;
import io.espalier.webui.http.AsyncResponder;
import io.espalier.webui.http.BodyReader;
import io.espalier.webui.http.HttpReply;
import io.espalier.webui.http.OpenApiValidator;
import io.espalier.webui.security.Role;
import io.espalier.webui.v1.ApiException;
import io.espalier.webui.v1.ApiRoute;
import io.vertx.core.Handler;
import io.vertx.ext.web.RoutingContext;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Answers what-ifs (docs/planning.md): copies the scheduler's state and hands it to a process of
 * its own. It runs one at a time, and ends it when the client no longer waits. It needs an
 * operator, because it costs up to a minute of processor time, and changes nothing.
 */
public final class WhatIfHandler implements Handler<RoutingContext> {
  /** The path, as {@code openapi.yaml} writes it. */
  public static final String TEMPLATE = "/api/v1/what-if";

  /** The operation, for its role and for servers that forward it; this class answers it. */
  public static final ApiRoute ROUTE =
      new ApiRoute(
          "POST",
          TEMPLATE,
          false,
          Role.OPERATOR,
          request -> {
            throw new IllegalStateException("WhatIfHandler answers this");
          },
          answer -> "");

  /** Below a minute: connections without traffic are closed then. */
  public static final Duration WITHIN = Duration.ofSeconds(55);

  private static final int MOST_SHOWN = 200;
  private static final String OURS = "espalier: ";
  private static final List<String> LISTS = List.of("set", "brake", "resume", "job");

  /** Numbers of the body by member: the flag, and what follows the number. */
  private static final List<Amount> NUMBERS =
      List.of(
          new Amount("workers", "workers", ""),
          new Amount("horizon_seconds", "horizon", "s"),
          new Amount("assume_seconds", "assume", "s"),
          new Amount("runs", "runs", ""));

  private final SchedulerApi api;
  private final WhatIfRunner runner;
  private final AsyncResponder answers;
  private final OpenApiValidator contract;
  private final BodyReader bodies;
  private final AtomicBoolean busy = new AtomicBoolean();

  private record Amount(String member, String flag, String unit) {}

  /**
   * @param bodyBytes a larger request body is refused with 413
   */
  public WhatIfHandler(
      SchedulerApi api,
      WhatIfRunner runner,
      AsyncResponder answers,
      OpenApiValidator contract,
      int bodyBytes) {
    this.api = api;
    this.runner = runner;
    this.answers = answers;
    this.contract = contract;
    this.bodies = new BodyReader(bodyBytes);
  }

  @Override
  public void handle(RoutingContext ctx) {
    RequestData asked = OpenApiValidator.asked(ctx);
    Asking asking = new Asking();
    ctx.addEndHandler(end -> asking.over());
    bodies.answer(
        ctx,
        answers,
        contract,
        WITHIN,
        (known, bytes) -> {
          Json body = BodyReader.json(bytes);
          OpenApiValidator.demand(known, "POST", TEMPLATE, asked.withBody(body));
          return answer((Json.Obj) body, asking);
        });
  }

  private CompletionStage<HttpReply> answer(Json.Obj body, Asking asking) {
    List<String> options = options(body);
    if (!busy.compareAndSet(false, true)) {
      throw new ApiException(
          429,
          "this scheduler runs another what-if; try again in a minute, or run espalier simulate");
    }
    return CompletableFuture.completedFuture(options)
        .thenCompose(
            given -> api.snapshot().thenCompose(bytes -> asking.start(runner, bytes, given)))
        .whenComplete((end, failure) -> busy.set(false))
        .thenApply(end -> HttpReply.json(200, result(end, body)));
  }

  /** Returns the arguments; each has its flag before it, so that no text is taken for a flag. */
  private static List<String> options(Json.Obj body) {
    List<String> options = new ArrayList<>();
    for (String list : LISTS) {
      texts(body, list).forEach(text -> options.add("--" + list + "=" + text));
    }
    for (Amount number : NUMBERS) {
      if (body.get(number.member) instanceof Json.Num given) {
        BigDecimal value = given.value().stripTrailingZeros();
        String sign = number.flag.equals("workers") && value.signum() >= 0 ? "+" : "";
        options.add("--" + number.flag + "=" + sign + value.toPlainString() + number.unit);
      }
    }
    return options;
  }

  private static List<String> texts(Json.Obj body, String list) {
    List<String> texts = new ArrayList<>();
    if (body.get(list) instanceof Json.Arr given) {
      for (Json item : given.items()) {
        if (item instanceof Json.Str text) {
          texts.add(text.value());
        }
      }
    }
    return texts;
  }

  private static Json result(WhatIfRunner.Ended end, Json.Obj body) {
    if (!end.exceeded().isEmpty()) {
      throw new ApiException(
          422,
          "this takes more than a scheduler spends on it ("
              + end.exceeded()
              + "): run espalier simulate, or ask for fewer runs or a shorter horizon");
    }
    if (end.exitCode() == 0) {
      Result<Json> read = JsonReader.strict().read(end.output());
      Json value = read.value();
      if (value == null || read.hasErrors()) {
        throw new ApiException(500, "the simulation has answered with something unreadable");
      }
      return value;
    }
    String message =
        end.errors()
            .lines()
            .filter(line -> line.startsWith(OURS))
            .findFirst()
            .map(line -> line.substring(OURS.length()))
            .orElse("");
    if (message.isEmpty()) {
      throw new ApiException(
          503,
          "the simulation has ended with exit code "
              + end.exitCode()
              + end.errors().lines().findFirst().map(line -> ": " + line).orElse(""));
    }
    throw refused(message, body);
  }

  /** Returns the refusal, with the place in the body that the command complains about. */
  private static ApiException refused(String message, Json.Obj body) {
    String told = inMembers(message);
    for (String list : LISTS) {
      List<String> texts = texts(body, list);
      for (int i = 0; i < texts.size(); i++) {
        if (message.startsWith("--" + list + " \"" + texts.get(i) + "\"")) {
          return violating("/" + list + "/" + i, texts.get(i), told);
        }
      }
    }
    for (Amount number : NUMBERS) {
      Json given = body.get(number.member);
      if (given != null && message.startsWith("--" + number.flag)) {
        return violating("/" + number.member, given.toString(), told);
      }
    }
    return new ApiException(422, told);
  }

  /** Names the members of the body in place of the command's flags. */
  private static String inMembers(String message) {
    String told = message;
    for (String list : LISTS) {
      told = told.replaceFirst("^--" + list + "\\b", "\"" + list + "\"");
    }
    for (Amount number : NUMBERS) {
      String flag = "(?<![^ ])--" + number.flag + "\\b( [0-9]+s)?";
      told = told.replaceFirst(flag, "\"" + number.member + "\"");
    }
    return told;
  }

  private static ApiException violating(String pointer, String value, String message) {
    String shown = ShortText.shown(value, MOST_SHOWN);
    return ApiException.violating(
        List.of(
            new Violation(
                "body", pointer, shown, "a change that can be simulated", message, null)));
  }

  /** One client, and the run that it waits for. */
  private static final class Asking {
    private boolean over;
    private WhatIfRunner.@Nullable Run run;

    synchronized CompletionStage<WhatIfRunner.Ended> start(
        WhatIfRunner runner, byte[] snapshot, List<String> options) {
      if (over) {
        throw new ApiException(408, "the client did not wait");
      }
      WhatIfRunner.Run started = runner.start(snapshot, options);
      run = started;
      return started.ended();
    }

    /** The client has its answer, or is gone. */
    synchronized void over() {
      over = true;
      WhatIfRunner.Run started = run;
      if (started != null) {
        started.kill();
      }
    }
  }
}
