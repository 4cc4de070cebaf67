package io.espalier.server.config;

import static org.assertj.core.api.Assertions.assertThat;

import com.networknt.schema.InputFormat;
import com.networknt.schema.JsonSchema;
import com.networknt.schema.JsonSchemaFactory;
import com.networknt.schema.SpecVersion.VersionFlag;
import com.networknt.schema.ValidationMessage;
import io.espalier.core.config.Config;
import io.espalier.core.config.read.ConfigSection;
import io.espalier.core.json.Json;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Result;
import io.espalier.json.JsonReader;
import io.espalier.server.config.SchemaRows.Row;
import io.espalier.server.config.SchemaRows.Verdict;
import io.espalier.testkit.config.ConfigFixtures;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The JSON Schema says the same as the parser. */
class SchemaTest {
  private static final String SCHEMA_TEXT = read();
  private static final JsonSchema SCHEMA =
      JsonSchemaFactory.getInstance(VersionFlag.V202012).getSchema(SCHEMA_TEXT, InputFormat.JSON);

  private static String read() {
    try (InputStream in = SchemaTest.class.getResourceAsStream("/espalier-config.schema.json")) {
      return new String(
          Objects.requireNonNull(in, "the schema").readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  static Stream<Row> rows() {
    return Stream.of(
            new SchemaRowsOfSettings(),
            new SchemaRowsOfNodes(),
            new SchemaRowsOfTasks(),
            new SchemaRowsOfJobs())
        .flatMap(SchemaRows::rows);
  }

  @ParameterizedTest
  @MethodSource("rows")
  void parserAndSchemaAgree(Row row) {
    String text = row.document().replace('\'', '"');
    Result<Json> document = JsonReader.strict().read(text);
    assertThat(document.problems()).as(text).isEmpty();
    Result<Config> parsed = ConfigFixtures.parser().parse(Objects.requireNonNull(document.value()));
    Set<ValidationMessage> messages = SCHEMA.validate(text, InputFormat.JSON);
    boolean bad = row.verdict() == Verdict.BAD || row.verdict() == Verdict.BAD_FOR_PARSER;
    assertThat(parsed.hasErrors()).as("parser: %s", parsed.problems()).isEqualTo(bad);
    boolean refused = row.verdict() == Verdict.BAD || row.verdict() == Verdict.WARNED;
    assertThat(!messages.isEmpty()).as("schema: %s", messages).isEqualTo(refused);
    if (row.verdict() == Verdict.WARNED) {
      assertThat(parsed.problems()).as("warnings").isNotEmpty().noneMatch(Problem::isError);
    }
  }

  @Test
  void theTableIsLarge() {
    assertThat(rows().distinct().count()).isGreaterThan(500);
  }

  @ParameterizedTest
  @EnumSource
  void everyKeyIsInTheTableOnceWellAndOnceBadly(ConfigSection place) {
    for (String key : place.keys()) {
      for (Verdict verdict : List.of(Verdict.GOOD, Verdict.BAD)) {
        assertThat(rows())
            .as("%s %s", verdict, key)
            .anyMatch(row -> row.verdict() == verdict && row.document().contains("'" + key + "'"));
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void theSchemaHasExactlyTheKeysOfTheParser(ConfigSection place) {
    Set<String> known = new HashSet<>(place.keys());
    known.addAll(place.spellings().keySet());
    known.addAll(place.obsolete().keySet());
    assertThat(properties(place).members().keySet()).containsExactlyInAnyOrderElementsOf(known);
  }

  @ParameterizedTest
  @EnumSource
  void everyKeyOfTheSchemaIsDescribed(ConfigSection place) {
    properties(place)
        .members()
        .forEach(
            (key, value) ->
                assertThat(resolved(value).get("description")).as(place + "." + key).isNotNull());
  }

  @ParameterizedTest
  @EnumSource
  void whatTheParserWarnsOfIsDeprecatedInTheSchema(ConfigSection place) {
    Set<String> warned = new HashSet<>(place.spellings().keySet());
    warned.addAll(place.obsolete().keySet());
    properties(place)
        .members()
        .forEach(
            (key, value) ->
                assertThat(((Json.Obj) value).members().containsKey("deprecated"))
                    .as(key)
                    .isEqualTo(warned.contains(key)));
  }

  private static Json.Obj properties(ConfigSection place) {
    return switch (place) {
      case SETTINGS -> at("$defs", "settings", "properties");
      case NODES -> at("$defs", "settings", "properties", "nodes", "properties");
      case NODE_SOURCE ->
          at(
              "$defs",
              "settings",
              "properties",
              "nodes",
              "properties",
              "node_sources",
              "items",
              "properties");
      case CHANGE_GUARD ->
          at(
              "$defs",
              "settings",
              "properties",
              "nodes",
              "properties",
              "node_sources",
              "items",
              "properties",
              "change_guard",
              "properties");
      case RESOURCE -> at("$defs", "resource", "properties");
      case NODE_LIMIT -> at("$defs", "nodeLimit", "properties");
      case PHYSICAL_RESOURCES ->
          at("$defs", "settings", "properties", "physical_resources", "properties");
      case PHYSICAL_RESOURCE ->
          at(
              "$defs",
              "settings",
              "properties",
              "physical_resources",
              "properties",
              "cpu_core",
              "properties");
      case TASK_SUBPROCESS -> at("$defs", "taskSubprocess", "properties");
      case CGROUPS -> at("$defs", "taskSubprocess", "properties", "cgroups", "properties");
      case IONICE -> ioNice();
      case CGROUP_LIMITS ->
          at("$defs", "taskSubprocess", "properties", "cgroup_limits", "properties");
      case START_RATE -> startRate();
      case LOG_RETENTION -> at("$defs", "logRetention", "properties");
      case RETRY -> at("$defs", "retry", "properties");
      case KILL_SUBPROCESS -> at("$defs", "killSubprocess", "properties");
      case JOB -> at("$defs", "job", "properties");
      case QUEUE -> at("$defs", "queue", "properties");
      case WHOLE_JOB -> at("$defs", "wholeJob", "properties");
      case FAIL_JOB_WHEN -> at("$defs", "failJobWhen", "properties");
      case SUCCEED_JOB_WHEN -> at("$defs", "succeedJobWhen", "properties");
      case FILTER -> at("$defs", "filter", "properties");
    };
  }

  private static Json.Obj ioNice() {
    Json.Arr either =
        (Json.Arr)
            Objects.requireNonNull(
                at("$defs", "taskSubprocess", "properties", "ionice").get("anyOf"));
    return (Json.Obj) Objects.requireNonNull(((Json.Obj) either.items().get(1)).get("properties"));
  }

  private static Json.Obj startRate() {
    Json.Arr either = (Json.Arr) Objects.requireNonNull(at("$defs", "startRate").get("anyOf"));
    Json.Obj last = (Json.Obj) either.items().get(either.items().size() - 1);
    return (Json.Obj) Objects.requireNonNull(last.get("properties"));
  }

  private static Json.Obj at(String... path) {
    @Nullable Json value = JsonReader.parse(SCHEMA_TEXT).value();
    for (String key : path) {
      value = ((Json.Obj) Objects.requireNonNull(value, key)).get(key);
    }
    return (Json.Obj) Objects.requireNonNull(value, "the end of the path");
  }

  private static Json.Obj resolved(Json schema) {
    Json.Obj object = (Json.Obj) schema;
    if (object.get("description") == null && object.get("$ref") instanceof Json.Str ref) {
      return at("$defs", ref.value().replace("#/$defs/", ""));
    }
    return object;
  }
}
