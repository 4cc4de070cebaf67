package io.espalier.server.config;

import static org.assertj.core.api.Assertions.assertThat;

import com.networknt.schema.InputFormat;
import com.networknt.schema.JsonSchema;
import com.networknt.schema.JsonSchemaFactory;
import com.networknt.schema.SpecVersion.VersionFlag;
import com.networknt.schema.ValidationMessage;
import io.espalier.core.config.Config;
import io.espalier.core.config.keys.ConfigKeys;
import io.espalier.core.config.schema.Section;
import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Result;
import io.espalier.json.JsonReader;
import io.espalier.server.config.SchemaRows.Row;
import io.espalier.server.config.SchemaRows.Verdict;
import io.espalier.testkit.config.ConfigFixtures;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
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
            new SchemaRowsOfJobs(),
            new SchemaRowsOfPrograms())
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

  static List<Section<?>> sections() {
    return ConfigKeys.SECTIONS;
  }

  @ParameterizedTest
  @MethodSource("sections")
  void everyKeyIsInTheTableOnceWellAndOnceBadly(Section<?> section) {
    for (String key : section.names()) {
      for (Verdict verdict : List.of(Verdict.GOOD, Verdict.BAD)) {
        assertThat(rows())
            .as("%s %s", verdict, key)
            .anyMatch(row -> row.verdict() == verdict && row.document().contains("'" + key + "'"));
      }
    }
  }

  /**
   * The schema is generated from the definitions of the keys. After a change of a key run this test
   * with {@code -Dconfig.schema=write}: it then writes the file.
   */
  @Test
  void theSchemaIsWhatTheKeysSay() throws IOException {
    Path file = Path.of("src/main/resources/espalier-config.schema.json");
    String generated = JsonWriter.pretty(ConfigSchema.generated()) + "\n";
    if ("write".equals(System.getProperty("config.schema"))) {
      Files.writeString(file, generated);
    }
    assertThat(Files.readString(file))
        .as("-Dconfig.schema=write writes it again")
        .isEqualTo(generated);
  }
}
