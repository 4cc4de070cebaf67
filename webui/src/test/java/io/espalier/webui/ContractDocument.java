package io.espalier.webui;

import io.espalier.core.json.Json;
import io.espalier.webui.page.StaticPage;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

/**
 * openapi.yaml as tests see it, and whether an answer is as it says. Stricter than JSON Schema:
 * what is not described is wrong.
 */
final class ContractDocument {
  static final ContractDocument SERVED = parse(text());

  private static final Set<String> METHODS = Set.of("get", "post", "put", "delete", "patch");

  private final Map<String, Object> document;

  private ContractDocument(Map<String, Object> document) {
    this.document = document;
  }

  static ContractDocument parse(String yaml) {
    return new ContractDocument(map(new Yaml(new SafeConstructor(new LoaderOptions())).load(yaml)));
  }

  static String text() {
    return new StaticPage(SchedulerRouter.CONTRACT, "application/yaml").text();
  }

  @SuppressWarnings("unchecked")
  static Map<String, Object> map(@Nullable Object value) {
    return (Map<String, Object>) Objects.requireNonNull(value);
  }

  Map<String, Object> document() {
    return document;
  }

  /** All operations, as {@code "GET /api/v1/jobs"}, with what the document says of them. */
  Map<String, Map<String, Object>> operations() {
    Map<String, Map<String, Object>> operations = new TreeMap<>();
    map(document.get("paths"))
        .forEach(
            (path, item) ->
                map(item)
                    .forEach(
                        (method, operation) -> {
                          if (METHODS.contains(method)) {
                            operations.put(
                                method.toUpperCase(Locale.ROOT) + " " + path, map(operation));
                          }
                        }));
    return operations;
  }

  /** The parameters of an operation by {@code in:name}. */
  Map<String, Map<String, Object>> parameters(String operation) {
    Map<String, Map<String, Object>> found = new TreeMap<>();
    Map<String, Object> item =
        map(map(document.get("paths")).get(operation.substring(operation.indexOf(' ') + 1)));
    for (Map<String, Object> holder :
        List.of(item, Objects.requireNonNull(operations().get(operation)))) {
      if (holder.get("parameters") instanceof List<?> list) {
        for (Object each : list) {
          Map<String, Object> parameter = resolved(map(each));
          found.put(parameter.get("in") + ":" + parameter.get("name"), parameter);
        }
      }
    }
    return found;
  }

  /** The operation that a path belongs to, or null. */
  @Nullable String operation(String method, String path) {
    String verb = method.equals("HEAD") ? "GET" : method;
    String found = null;
    for (String operation : operations().keySet()) {
      String template = operation.substring(operation.indexOf(' ') + 1);
      String regex = template.replaceAll("[{][^}]*[}]", "[^/]+").replace(".", "[.]");
      boolean literal = template.equals(path);
      if (operation.startsWith(verb + " ") && path.matches(regex) && (found == null || literal)) {
        found = operation;
      }
    }
    return found;
  }

  /**
   * What is wrong with an answer.
   *
   * @param path as it was asked for, without the query
   */
  List<String> check(String method, String path, HttpResponse<String> answer) {
    String operation = operation(method, path);
    if (operation == null || method.equals("HEAD")) {
      return List.of();
    }
    String where = operation + " " + answer.statusCode();
    Map<String, Object> responses =
        map(Objects.requireNonNull(operations().get(operation)).get("responses"));
    Object described = responses.get(Integer.toString(answer.statusCode()));
    if (described == null) {
      if (answer.statusCode() < 400) {
        return List.of(where + " is not described");
      }
      // Refused before any operation was looked at, or by it: always the same form.
      described = map(map(document.get("components")).get("responses")).get("Problem");
    }
    Map<String, Object> response = resolved(map(described));
    if (response.get("content") == null) {
      return answer.body().isEmpty() ? List.of() : List.of(where + " has a body");
    }
    Map<String, Object> content = map(response.get("content"));
    String type = answer.headers().firstValue("Content-Type").orElse("").split(";", 2)[0];
    if (content.get(type) == null) {
      return List.of(where + " has the undescribed type " + type + ": " + answer.body());
    }
    List<String> wrong = new ArrayList<>();
    if (type.endsWith("json")) {
      check(Served.json(answer.body()), map(map(content.get(type)).get("schema")), where, wrong);
    }
    return wrong;
  }

  /** What is wrong with a problem document. */
  List<String> checkProblem(Json.Obj problem) {
    List<String> wrong = new ArrayList<>();
    Map<String, Object> schemas = map(map(document.get("components")).get("schemas"));
    check(problem, map(schemas.get("Problem")), "problem", wrong);
    return wrong;
  }

  Set<String> typesOf(String operation) {
    Map<String, Object> responses =
        map(Objects.requireNonNull(operations().get(operation)).get("responses"));
    return new TreeSet<>(map(map(responses.get("200")).get("content")).keySet());
  }

  /** As much of JSON Schema as the contract uses; undescribed members are wrong. */
  private void check(Json value, Map<String, Object> schema, String where, List<String> wrong) {
    Map<String, Object> resolved = resolved(schema);
    if (resolved.get("oneOf") instanceof List<?> choices) {
      boolean fits =
          choices.stream()
              .anyMatch(
                  choice -> {
                    List<String> reasons = new ArrayList<>();
                    check(value, map(choice), where, reasons);
                    return reasons.isEmpty();
                  });
      if (!fits) {
        wrong.add(where + " is none of the described: " + value);
      }
      return;
    }
    Object type = resolved.get("type");
    String actual =
        value instanceof Json.Num number
            ? (number.value().stripTrailingZeros().scale() <= 0 ? "integer" : "number")
            : value.kind().replaceFirst("^an? ", "").replace("list", "array");
    boolean fits =
        type == null
            || actual.equals(type)
            || (type instanceof List<?> types && types.contains(actual))
            || (actual.equals("integer") && type.equals("number"));
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

  private void checkObject(
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
              } else if (!properties.isEmpty()
                  && !Boolean.TRUE.equals(schema.get("additionalProperties"))) {
                wrong.add(where + " has the undescribed member " + key);
              }
            });
  }

  private Map<String, Object> resolved(Map<String, Object> schema) {
    if (schema.get("$ref") instanceof String reference) {
      Object at = document;
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
        if (one.get("properties") == null) {
          return one;
        }
        properties.putAll(map(one.get("properties")));
        required.addAll(one.get("required") instanceof List<?> names ? names : List.of());
      }
      return Map.of("type", "object", "properties", properties, "required", required);
    }
    return schema;
  }
}
