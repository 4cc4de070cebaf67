package io.espalier.webui;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.api.Command;
import io.espalier.core.event.EventKind;
import io.espalier.core.json.Json;
import io.espalier.core.status.store.LimitOverride;
import io.espalier.core.status.store.Quarantine;
import io.espalier.testkit.api.ApiFixture;
import io.espalier.testkit.api.FakeScheduler;
import io.espalier.webui.bistro.BistroBatches;
import io.espalier.webui.http.AsyncResponder;
import io.espalier.webui.http.HostOriginHandler;
import io.espalier.webui.http.HttpMetrics;
import io.espalier.webui.http.OpenApiValidator;
import io.espalier.webui.page.StaticPage;
import io.espalier.webui.stream.EventStreams;
import io.espalier.webui.stream.LogStreams;
import io.espalier.webui.v1.ApiRoute;
import io.espalier.webui.v1.ApiV1;
import io.espalier.webui.v1.ServerIdentity;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.Router;
import io.vertx.openapi.contract.OpenAPIContract;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** openapi.yaml says what there is, and there is what it says. */
class OpenApiContractTest {
  private static final ContractDocument CONTRACT = ContractDocument.SERVED;

  /** What only the page itself asks for. */
  private static boolean isOfThePage(String operation) {
    return operation.startsWith("GET /ui/") || operation.equals("GET /favicon.svg");
  }

  private static Set<String> mounted() {
    Vertx vertx = Vertx.vertx();
    try {
      PrometheusMeterRegistry metrics = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
      FakeScheduler scheduler = ApiFixture.standard();
      WebOptions options = WebOptions.at("127.0.0.1", 0);
      Mounting mounting =
          new SchedulerRouter(
                  options,
                  scheduler,
                  new ApiV1(scheduler, ServerIdentity.UNNAMED),
                  new BistroBatches(
                      scheduler, options.clock(), options.limits().answerWithin(), Runnable::run),
                  new AsyncResponder(Runnable::run, 1, options.limits().answerWithin()),
                  new HttpMetrics(metrics, scheduler, options.clock()),
                  new HostOriginHandler(Set.of()),
                  new EventStreams(scheduler, 1, Duration.ofSeconds(1), metrics),
                  new LogStreams(scheduler, 1, Duration.ofSeconds(1), metrics),
                  new OpenApiValidator(ContractDocument::text, Runnable::run))
              .mounted(Router.router(vertx));
      Set<String> operations = new TreeSet<>(mounting.operations());
      // Bistro's batches may come to any path that nothing else answers.
      operations.add("POST /");
      operations.removeIf(OpenApiContractTest::isOfThePage);
      return operations;
    } finally {
      vertx.close();
    }
  }

  private static Map<String, Object> schema(String name) {
    Map<String, Object> components = ContractDocument.map(CONTRACT.document().get("components"));
    return ContractDocument.map(ContractDocument.map(components.get("schemas")).get(name));
  }

  @Test
  void theKindsOfEventsAndTheirMembersAreThoseOfTheCore() {
    assertThat(schema("EventKind").get("x-extensible-enum"))
        .isEqualTo(Stream.of(EventKind.values()).map(EventKind::word).toList());
    Set<String> members = new TreeSet<>();
    for (EventKind kind : EventKind.values()) {
      members.addAll(kind.members());
    }
    assertThat(members)
        .containsAll(ContractDocument.map(schema("EventData").get("properties")).keySet());
  }

  @ParameterizedTest
  @ValueSource(strings = {SchedulerRouter.CONTRACT, "/openapi-fleet.yaml"})
  void noCommaCutsADescriptionInTwo(String resource) {
    String text = new StaticPage(resource, "application/yaml").text();
    assertThat(withoutValue(ContractDocument.parse(text).document(), "")).isEmpty();
  }

  /** In a flow mapping, YAML takes what follows a comma in a plain text as a key without value. */
  private static List<String> withoutValue(@Nullable Object value, String at) {
    List<String> found = new ArrayList<>();
    if (value == null) {
      found.add(at);
    } else if (value instanceof Map<?, ?> members) {
      members.forEach((key, member) -> found.addAll(withoutValue(member, at + "/" + key)));
    } else if (value instanceof List<?> items) {
      items.forEach(item -> found.addAll(withoutValue(item, at + "[]")));
    }
    return found;
  }

  @Test
  void routesAndContractAgreeBothWays() {
    assertThat(mounted()).isEqualTo(CONTRACT.operations().keySet());
  }

  private static String body(String operation) {
    if (operation.endsWith("/extend")) {
      return "{\"seconds\": 60}";
    }
    if (operation.endsWith("/rollback")) {
      return "{\"version\": 1}";
    }
    if (operation.contains("/plans")) {
      String config = "{\"config\": {\"bistro_job->a\": {\"owner\": \"me\"}}";
      return config + (operation.endsWith("/apply") ? ", \"plan\": \"token\"}" : "}");
    }
    if (operation.contains("/quarantines")) {
      return "{\"level\": \"db\", \"node\": \"d12\"}";
    }
    if (operation.contains("/probes")) {
      return "{\"value\": 3.5}";
    }
    if (operation.contains("/limits")) {
      return operation.startsWith("PUT") ? "{\"limit\": 3}" : "{}";
    }
    if (operation.endsWith("/rerun")
        || operation.endsWith("/cancel")
        || operation.endsWith("{job}/kill")) {
      return "{\"selector\": {\"all\": true}, \"preview\": true}";
    }
    return operation.startsWith("PUT") || operation.endsWith("/validate")
        ? "{\"owner\": \"me\"}"
        : "{}";
  }

  private static HttpRequest request(Served served, String operation, String query) {
    String method = operation.substring(0, operation.indexOf(' '));
    String path =
        operation
            .substring(operation.indexOf(' ') + 1)
            .replace("{job}", "backup")
            .replace("{notifier}", "ops")
            .replace("{probe}", "lag")
            .replace("{set}", "nightly")
            .replace("{kind}", "replset")
            .replace("{action}", "pause")
            .replace("{worker}", "here")
            .replace("{level}", "db")
            .replace("{resource}", "slots")
            .replace("{node}", "d12")
            .replace("{invocation}", "i1");
    if (path.contains("/callbacks/") && query.isEmpty()) {
      return request(served, operation, "?job=backup&node=d12&signature=s");
    }
    return served
        .request(path + query)
        .header("Accept", "application/json")
        .method(
            method,
            method.equals("GET")
                ? HttpRequest.BodyPublishers.noBody()
                : HttpRequest.BodyPublishers.ofString(body(operation)))
        .build();
  }

  @Test
  void everyDescribedOperationAnswersAsDescribed() {
    try (Served served = Served.standard()) {
      for (String node : List.of("", "d12")) {
        // They are deleted first.
        LimitOverride limit = new LimitOverride("db", "slots", node, 1, "", "", 0, 0);
        served.scheduler.run(new Command.SetLimit(limit, 1));
      }
      // It is lifted before another one is set.
      served.scheduler.run(new Command.SetQuarantine(new Quarantine.Key("db", "d12", ""), "", ""));
      for (String operation : CONTRACT.operations().keySet()) {
        // What is in the answer is compared with the contract by the client of all these tests.
        HttpResponse<String> response = served.send(request(served, operation, ""));
        assertThat(response.statusCode()).as(operation).isEqualTo(200);
        String type = response.headers().firstValue("Content-Type").orElse("").split(";", 2)[0];
        assertThat(CONTRACT.typesOf(operation)).as(operation).contains(type);
      }
    }
  }

  @Test
  void everyOperationOfTheApiIsHeldAgainstTheContract() {
    try (Served served = Served.standard()) {
      for (String operation : CONTRACT.operations().keySet()) {
        if (operation.contains(" /api/")) {
          HttpResponse<String> response =
              served.send(request(served, operation, "?no_such_thing=1"));
          assertThat(response.statusCode()).as(operation).isEqualTo(400);
          Json.Obj problem = Served.object(response);
          assertThat(String.valueOf(problem.get("violations")))
              .as(operation)
              .contains("\"in\":\"query\",\"parameter\":\"no_such_thing\"");
        }
      }
      assertThat(served.scheduler.calls()).isEmpty();
    }
  }

  @Test
  void everyChangeTakesAnIdempotencyKey() {
    for (ApiRoute route : new ApiV1(ApiFixture.standard(), ServerIdentity.UNNAMED).routes()) {
      if (route.changes()) {
        String operation = route.method() + " " + route.template();
        assertThat(CONTRACT.parameters(operation))
            .as(operation)
            .containsKey("header:Idempotency-Key");
      }
    }
  }

  @Test
  void theContractIsServedAndDescribesItselfCompletely() {
    try (Served served = Served.standard()) {
      HttpResponse<String> response = served.get(SchedulerRouter.OPENAPI);
      assertThat(ContractDocument.parse(response.body()).document()).isEqualTo(CONTRACT.document());
    }
    assertThat(CONTRACT.document().get("openapi")).isEqualTo("3.1.0");
    Set<Object> ids = new HashSet<>();
    CONTRACT
        .operations()
        .forEach(
            (name, operation) -> {
              assertThat(operation).as(name).containsKeys("summary", "tags");
              assertThat(ids.add(operation.get("operationId"))).isTrue();
            });
  }

  /** Its loader checks the document against the rules of OpenAPI 3.1 itself. */
  @Test
  void vertxReadsTheContract() throws Exception {
    Map<String, Object> document = new LinkedHashMap<>(CONTRACT.document());
    // Vert.x takes absolute URLs only.
    document.remove("servers");
    // It refuses to load a contract with media types that it has no reader for.
    String plain =
        new JsonObject(document)
            .encode()
            .replaceAll(
                "\"(application/problem[+]json|application/yaml|text/event-stream|text/html|[*]/[*])\":",
                "\"text/plain\":");
    Vertx vertx = Vertx.vertx();
    try {
      OpenAPIContract contract =
          OpenAPIContract.from(vertx, new JsonObject(plain))
              .toCompletionStage()
              .toCompletableFuture()
              .get(30, TimeUnit.SECONDS);
      assertThat(contract.operations()).hasSameSizeAs(CONTRACT.operations().keySet());
    } finally {
      vertx.close();
    }
  }
}
