package io.espalier.webui;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.json.Json;
import io.espalier.core.status.LimitOverride;
import io.espalier.testkit.api.ApiWorld;
import io.espalier.testkit.api.FakeScheduler;
import io.espalier.webui.bistro.BistroBatches;
import io.espalier.webui.v1.ApiV1;
import io.espalier.webui.v1.ServerIdentity;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.vertx.core.Vertx;
import io.vertx.ext.web.Router;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

/** openapi.yaml says what there is, and there is what it says. */
class ContractTest {
  private static final Set<String> METHODS = Set.of("get", "post", "put", "delete", "patch");

  /** What only the page itself asks for. */
  private static final Set<String> PAGE =
      Set.of("GET /ui/app.js", "GET /ui/style.css", "GET /favicon.svg");

  @SuppressWarnings("unchecked")
  private static Map<String, Object> map(@Nullable Object value) {
    return (Map<String, Object>) Objects.requireNonNull(value);
  }

  private static Map<String, Object> contract(String text) {
    return map(new Yaml(new SafeConstructor(new LoaderOptions())).load(text));
  }

  private static Map<String, Object> contract() {
    return contract(new Page("/openapi.yaml", "application/yaml").text());
  }

  private static Set<String> described() {
    Set<String> operations = new TreeSet<>();
    map(contract().get("paths"))
        .forEach(
            (path, item) ->
                map(item).keySet().stream()
                    .filter(METHODS::contains)
                    .forEach(m -> operations.add(m.toUpperCase(Locale.ROOT) + " " + path)));
    return operations;
  }

  private static Set<String> mounted() {
    Vertx vertx = Vertx.vertx();
    try {
      PrometheusMeterRegistry metrics = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
      FakeScheduler scheduler = ApiWorld.standard();
      WebOptions options = WebOptions.at("127.0.0.1", 0);
      Router router =
          new Routes(
                  options,
                  scheduler,
                  new ApiV1(scheduler, ServerIdentity.UNNAMED),
                  new BistroBatches(
                      scheduler, options.clock(), options.limits().answerWithin(), Runnable::run),
                  new Answers(Runnable::run, 1, options.limits().answerWithin()),
                  new Meters(metrics, scheduler, options.clock()),
                  new Guard(Set.of()),
                  new EventStreams(scheduler.events(), 1, Duration.ofSeconds(1), metrics),
                  new LogStreams(scheduler, 1, Duration.ofSeconds(1), metrics))
              .router(vertx);
      Set<String> operations =
          new TreeSet<>(Objects.requireNonNull(router.<Set<String>>getMetadata(Routes.OPERATIONS)));
      operations.removeAll(PAGE);
      return operations;
    } finally {
      vertx.close();
    }
  }

  @Test
  void routesAndContractAgreeBothWays() {
    assertThat(mounted()).isEqualTo(described());
  }

  private static String body(String operation) {
    if (operation.endsWith("/extend")) {
      return "{\"seconds\": 60}";
    }
    if (operation.endsWith("/rollback")) {
      return "{\"version\": 1}";
    }
    if (operation.contains("/limits")) {
      return operation.startsWith("PUT") ? "{\"limit\": 3}" : "{}";
    }
    if (operation.endsWith("/rerun")) {
      return "{\"selector\": {\"all\": true}, \"preview\": true}";
    }
    return operation.startsWith("PUT") ? "{\"owner\": \"me\"}" : "{}";
  }

  @Test
  void everyDescribedOperationAnswersAsDescribed() {
    try (Served served = Served.standard()) {
      for (String node : List.of("", "d12")) {
        // They are deleted first.
        served.scheduler.setLimit(new LimitOverride("db", "slots", node, 1, "", "", 0, 0), 1);
      }
      for (String operation : described()) {
        String method = operation.substring(0, operation.indexOf(' '));
        String path =
            operation
                .substring(operation.indexOf(' ') + 1)
                .replace("{job}", "backup")
                .replace("{worker}", "here")
                .replace("{level}", "db")
                .replace("{resource}", "slots")
                .replace("{node}", "d12");
        HttpRequest.Builder request =
            served
                .request(path)
                .header("Accept", "application/json")
                .method(
                    method,
                    method.equals("GET")
                        ? HttpRequest.BodyPublishers.noBody()
                        : HttpRequest.BodyPublishers.ofString(body(operation)));
        HttpResponse<String> response = served.send(request.build());
        assertThat(response.statusCode()).as(operation).isEqualTo(200);
        String type = response.headers().firstValue("Content-Type").orElse("").split(";", 2)[0];
        assertThat(typesOf(operation)).as(operation).contains(type);
        if (type.equals("application/json") && !operation.equals("POST /")) {
          Map<String, Object> schema = schemaOf(operation);
          List<String> wrong = new ArrayList<>();
          check(Served.json(response.body()), schema, operation, wrong);
          assertThat(wrong).isEmpty();
        }
      }
    }
  }

  @Test
  void theContractIsServedAndDescribesItselfCompletely() {
    try (Served served = Served.standard()) {
      HttpResponse<String> response = served.get(Routes.OPENAPI);
      assertThat(contract(response.body())).isEqualTo(contract());
    }
    assertThat(contract().get("openapi")).isEqualTo("3.1.0");
    Set<Object> ids = new HashSet<>();
    map(contract().get("paths"))
        .forEach(
            (path, item) ->
                map(item)
                    .forEach(
                        (method, operation) -> {
                          if (METHODS.contains(method)) {
                            assertThat(map(operation)).as(path).containsKeys("summary", "tags");
                            assertThat(ids.add(map(operation).get("operationId"))).isTrue();
                          }
                        }));
  }

  private static Map<String, Object> okOf(String operation) {
    String method = operation.substring(0, operation.indexOf(' ')).toLowerCase(Locale.ROOT);
    String path = operation.substring(operation.indexOf(' ') + 1);
    Map<String, Object> item = map(map(contract().get("paths")).get(path));
    return map(map(map(map(item.get(method)).get("responses")).get("200")).get("content"));
  }

  private static Set<String> typesOf(String operation) {
    return okOf(operation).keySet();
  }

  private static Map<String, Object> schemaOf(String operation) {
    return map(map(okOf(operation).get("application/json")).get("schema"));
  }

  /** As much of JSON Schema as the contract uses; undescribed members are wrong. */
  private static void check(
      Json value, Map<String, Object> schema, String where, List<String> wrong) {
    Map<String, Object> resolved = resolved(schema);
    Object type = resolved.get("type");
    String actual =
        value instanceof Json.Num number
            ? (number.value().stripTrailingZeros().scale() <= 0 ? "integer" : "number")
            : value.kind().replaceFirst("^an? ", "").replace("list", "array");
    boolean fits =
        type == null || actual.equals(type) || (actual.equals("integer") && type.equals("number"));
    if (!fits) {
      wrong.add(where + " is " + actual + ", not " + type);
      return;
    }
    if (resolved.get("enum") instanceof List<?> allowed
        && value instanceof Json.Str text
        && !allowed.contains(text.value())) {
      wrong.add(where + " has the undescribed value " + text.value());
    }
    if (value instanceof Json.Arr array && resolved.containsKey("items")) {
      for (var item : array.items()) {
        check(item, map(resolved.get("items")), where + "[]", wrong);
      }
    }
    if (value instanceof Json.Obj object) {
      checkObject(object, resolved, where, wrong);
    }
  }

  private static void checkObject(
      Json.Obj object, Map<String, Object> schema, String where, List<String> wrong) {
    Map<String, Object> properties =
        schema.containsKey("properties") ? map(schema.get("properties")) : Map.of();
    if (schema.get("required") instanceof List<?> required) {
      required.stream()
          .filter(key -> object.get(String.valueOf(key)) == null)
          .forEach(key -> wrong.add(where + " lacks " + key));
    }
    object
        .members()
        .forEach(
            (key, member) -> {
              if (properties.containsKey(key)) {
                check(member, map(properties.get(key)), where + "." + key, wrong);
              } else if (schema.get("additionalProperties") instanceof Map<?, ?> other) {
                check(member, map(other), where + "." + key, wrong);
              } else if (!properties.isEmpty()) {
                wrong.add(where + " has the undescribed member " + key);
              }
            });
  }

  private static Map<String, Object> resolved(Map<String, Object> schema) {
    if (schema.get("$ref") instanceof String reference) {
      Object at = contract();
      for (String part : reference.substring(2).split("/", -1)) {
        at = Objects.requireNonNull(map(at).get(part), reference);
      }
      return resolved(map(at));
    }
    if (schema.get("allOf") instanceof List<?> all) {
      Map<String, Object> properties = new LinkedHashMap<>();
      List<Object> required = new ArrayList<>();
      for (Object part : all) {
        Map<String, Object> one = resolved(map(part));
        properties.putAll(map(one.get("properties")));
        required.addAll((List<?>) Objects.requireNonNull(one.get("required")));
      }
      return Map.of("type", "object", "properties", properties, "required", required);
    }
    return schema;
  }
}
