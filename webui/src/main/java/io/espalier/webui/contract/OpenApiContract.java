package io.espalier.webui.contract;

import io.espalier.core.json.Json;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.json.schema.Draft;
import io.vertx.json.schema.JsonSchema;
import io.vertx.json.schema.JsonSchemaOptions;
import io.vertx.json.schema.OutputFormat;
import io.vertx.json.schema.OutputUnit;
import io.vertx.json.schema.Validator;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

/**
 * Checks requests against {@code openapi.yaml}. It converts the contract to one JSON schema: a
 * request is an object of its operation with {@code path}, {@code query}, {@code header} and {@code
 * body}, so that the validator of Vert.x finds all errors in one pass, unknown parameters included.
 *
 * <p>Immutable and thread-safe once loaded.
 */
public final class OpenApiContract {
  private static final Set<String> METHODS = Set.of("get", "post", "put", "delete", "patch");

  /** Numbers with more digits are compared as doubles. */
  private static final int MAX_DIGITS = 40;

  private final Map<String, Operation> operations;
  private final Map<String, Object> root;
  private final SchemaTree tree;
  private final Validator validator;

  private OpenApiContract(Map<String, Operation> operations, Map<String, Object> root) {
    this.operations = operations;
    this.root = root;
    this.tree = new SchemaTree(root);
    // The validator marks the schemas it uses, so it gets a copy.
    this.validator =
        Validator.create(
            JsonSchema.of((JsonObject) copy(root)),
            new JsonSchemaOptions()
                .setBaseUri("https://espalier.invalid/contract")
                .setDraft(Draft.DRAFT202012)
                .setOutputFormat(OutputFormat.Basic));
  }

  /** The parameters of an operation whose text must be converted for the schema. */
  private record Operation(
      Map<String, Map<String, Object>> query, Map<String, Map<String, Object>> headers) {}

  /**
   * Parses a contract. Takes some 100 ms in a new process.
   *
   * @param yaml OpenAPI 3.1
   */
  public static OpenApiContract load(String yaml) {
    Map<String, Object> document =
        SchemaTree.map(new Yaml(new SafeConstructor(new LoaderOptions())).load(yaml));
    SchemaTree tree = new SchemaTree(document);
    Map<String, Operation> operations = new LinkedHashMap<>();
    Map<String, Object> schemas = new LinkedHashMap<>();
    SchemaTree.map(document.get("paths"))
        .forEach(
            (path, item) ->
                SchemaTree.map(item)
                    .forEach(
                        (method, operation) -> {
                          if (METHODS.contains(method)) {
                            String name = name(method, path);
                            Form form =
                                new Form(tree, SchemaTree.map(item), SchemaTree.map(operation));
                            operations.put(name, form.operation());
                            schemas.put(name, form.schema());
                          }
                        }));
    Map<String, Object> root = new LinkedHashMap<>();
    root.put("type", "object");
    root.put("properties", schemas);
    root.put(
        "components", Map.of("schemas", SchemaTree.map(document.get("components")).get("schemas")));
    return new OpenApiContract(operations, root);
  }

  private static String name(String method, String template) {
    return method.toUpperCase(Locale.ROOT) + " " + template;
  }

  /** Returns true when an operation has a body. */
  public boolean takesBody(String method, String template) {
    Map<String, Object> schema =
        SchemaTree.map(SchemaTree.map(root.get("properties")).get(name(method, template)));
    return SchemaTree.map(schema.get("properties")).containsKey("body");
  }

  /**
   * Returns all violations in a request.
   *
   * @param template as the contract writes it
   * @return empty when the request is valid; at most {@link ViolationFormatter#MAX}
   * @throws IllegalArgumentException when the operation does not exist
   */
  public List<Violation> check(String method, String template, RequestData asked) {
    String name = name(method, template);
    Operation operation = operations.get(name);
    if (operation == null) {
      throw new IllegalArgumentException("the contract has no operation " + name);
    }
    List<Violation> violations = new ArrayList<>();
    JsonObject query = new JsonObject();
    boolean isRead = method.equals("GET");
    asked
        .query()
        .forEach(
            (key, values) -> {
              Map<String, Object> schema = operation.query().get(key);
              if (schema == null) {
                query.put(key, String.join(",", values));
              } else if (!"array".equals(schema.get("type")) && values.size() > 1) {
                violations.add(repeated(key, values));
              } else if (!"array".equals(schema.get("type"))) {
                // A change must not do more because a script had no value for its condition.
                if (!isRead || isGiven(values.get(0), schema)) {
                  query.put(key, typed(values.get(0), schema));
                }
              } else {
                Map<String, Object> items = tree.resolved(SchemaTree.map(schema.get("items")));
                JsonArray list = new JsonArray();
                values.stream()
                    .filter(value -> isGiven(value, items))
                    .forEach(value -> list.add(typed(value, items)));
                if (!list.isEmpty()) {
                  query.put(key, list);
                }
              }
            });
    JsonObject header = new JsonObject();
    operation
        .headers()
        .forEach(
            (key, schema) -> {
              String value = asked.headers().get(key);
              if (value != null && (!isRead || isGiven(value, schema))) {
                header.put(key, typed(value, schema));
              }
            });
    JsonObject path = new JsonObject();
    asked.path().forEach(path::put);
    JsonObject instance =
        new JsonObject().put("path", path).put("query", query).put("header", header);
    if (asked.body() != null) {
      instance.put("body", plain(asked.body()));
    }
    OutputUnit result = validator.validate(new JsonObject().put(name, instance));
    if (!Boolean.TRUE.equals(result.getValid())) {
      violations.addAll(new ViolationFormatter(tree, root, asked).of(result.getErrors()));
    }
    return List.copyOf(violations);
  }

  private static Violation repeated(String key, List<String> values) {
    return new Violation(
        "query",
        key,
        ViolationFormatter.shown(String.join(",", values)),
        "one value",
        "parameter \"" + key + "\" is given more than once",
        null);
  }

  /** An empty value of any type but text counts as missing, where nothing is changed. */
  private static boolean isGiven(String value, Map<String, Object> schema) {
    boolean freeText = "string".equals(schema.get("type")) && !schema.containsKey("enum");
    return !value.isEmpty() || (freeText && !schema.containsKey("minLength"));
  }

  /** Converts the text of a parameter to the type of its schema; returns invalid text unchanged. */
  private static Object typed(String text, Map<String, Object> schema) {
    String type = String.valueOf(schema.get("type"));
    if (type.equals("boolean") && (text.equals("true") || text.equals("false"))) {
      return text.equals("true");
    }
    if (type.equals("integer") && text.matches("-?[0-9]{1,19}")) {
      BigInteger number = new BigInteger(text);
      // Handlers cannot read numbers beyond 64 bits.
      return number.bitLength() < Long.SIZE ? number.longValue() : text;
    }
    if (type.equals("number") && text.matches("-?[0-9]{1,15}([.][0-9]{1,15})?")) {
      return Double.valueOf(text);
    }
    return text;
  }

  /** Converts a value to the representation of Vert.x. */
  static @Nullable Object plain(Json value) {
    if (value instanceof Json.Obj object) {
      Map<String, Object> members = new LinkedHashMap<>();
      object.members().forEach((key, member) -> members.put(key, plain(member)));
      return new JsonObject(members);
    }
    if (value instanceof Json.Arr array) {
      List<Object> items = new ArrayList<>(array.items().size());
      array.items().forEach(item -> items.add(plain(item)));
      return new JsonArray(items);
    }
    if (value instanceof Json.Str text) {
      return text.value();
    }
    if (value instanceof Json.Bool bool) {
      return bool.value();
    }
    return value instanceof Json.Num number ? number(number.value()) : null;
  }

  private static Number number(BigDecimal value) {
    BigDecimal bare = value.stripTrailingZeros();
    boolean whole = bare.scale() <= 0 && bare.precision() - bare.scale() <= MAX_DIGITS;
    if (!whole) {
      return value.doubleValue();
    }
    BigInteger integer = bare.toBigIntegerExact();
    if (integer.bitLength() < Long.SIZE) {
      return integer.longValue();
    }
    return integer;
  }

  private static Object copy(Object value) {
    if (value instanceof Map<?, ?> map) {
      JsonObject object = new JsonObject();
      map.forEach((key, member) -> object.put(String.valueOf(key), copied(member)));
      return object;
    }
    JsonArray array = new JsonArray();
    ((List<?>) value).forEach(item -> array.add(copied(item)));
    return array;
  }

  private static @Nullable Object copied(@Nullable Object value) {
    return value instanceof Map<?, ?> || value instanceof List<?> ? copy(value) : value;
  }

  /** The schema of one operation. */
  private static final class Form {
    private final Map<String, Map<String, Object>> query = new LinkedHashMap<>();
    private final Map<String, Map<String, Object>> headers = new LinkedHashMap<>();
    private final Map<String, Object> schema;
    private final Map<String, Map<String, Object>> members = new LinkedHashMap<>();
    private final Map<String, List<Object>> required = new LinkedHashMap<>();

    Form(SchemaTree tree, Map<String, Object> item, Map<String, Object> operation) {
      for (String in : List.of("path", "query", "header")) {
        members.put(in, new LinkedHashMap<>());
        required.put(in, new ArrayList<>());
      }
      parameters(tree, item);
      parameters(tree, operation);
      Map<String, Object> parts = new LinkedHashMap<>();
      members.forEach(
          (in, properties) -> {
            Map<String, Object> part = new LinkedHashMap<>();
            part.put("type", "object");
            part.put("properties", properties);
            part.put("required", required.get(in));
            part.put("additionalProperties", false);
            parts.put(in, part);
          });
      List<Object> needed = new ArrayList<>();
      if (operation.get("requestBody") != null) {
        Map<String, Object> body = tree.resolved(SchemaTree.map(operation.get("requestBody")));
        Map<String, Object> content = SchemaTree.map(body.get("content"));
        parts.put("body", SchemaTree.map(content.values().iterator().next()).get("schema"));
        if (Boolean.TRUE.equals(body.get("required"))) {
          needed.add("body");
        }
      }
      schema = new LinkedHashMap<>();
      schema.put("type", "object");
      schema.put("properties", parts);
      schema.put("required", needed);
      schema.put("additionalProperties", false);
    }

    private void parameters(SchemaTree tree, Map<String, Object> holder) {
      if (!(holder.get("parameters") instanceof List<?> list)) {
        return;
      }
      for (Object each : list) {
        Map<String, Object> parameter = tree.resolved(SchemaTree.map(each));
        String in = String.valueOf(parameter.get("in"));
        String name = String.valueOf(parameter.get("name"));
        String key = in.equals("header") ? name.toLowerCase(Locale.ROOT) : name;
        Map<String, Object> type = SchemaTree.map(parameter.get("schema"));
        members.computeIfAbsent(in, i -> new LinkedHashMap<>()).put(key, type);
        if (in.equals("query")) {
          query.put(name, tree.resolved(type));
        } else if (in.equals("header")) {
          headers.put(key, tree.resolved(type));
        }
        if (Boolean.TRUE.equals(parameter.get("required"))) {
          required.computeIfAbsent(in, i -> new ArrayList<>()).add(key);
        }
      }
    }

    Operation operation() {
      return new Operation(Map.copyOf(query), Map.copyOf(headers));
    }

    Map<String, Object> schema() {
      return schema;
    }
  }
}
