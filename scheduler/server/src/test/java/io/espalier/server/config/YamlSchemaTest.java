package io.espalier.server.config;

import static org.assertj.core.api.Assertions.assertThat;

import com.networknt.schema.InputFormat;
import com.networknt.schema.JsonSchema;
import com.networknt.schema.JsonSchemaFactory;
import com.networknt.schema.SpecVersion.VersionFlag;
import com.networknt.schema.ValidationMessage;
import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import io.espalier.json.JsonReader;
import io.espalier.server.config.SchemaRows.Row;
import io.espalier.server.config.SchemaRows.Verdict;
import io.espalier.server.config.yaml.YamlSchema;
import io.espalier.server.config.yaml.YamlWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The JSON Schema with which editors check configurations in YAML. */
class YamlSchemaTest {
  private static final Path FILE = Path.of("src/main/resources/espalier-yaml.schema.json");
  private static final Path ROOT = Path.of("../..");

  /** A whole configuration in a document: up to the end of its block or of the file it makes. */
  private static final Pattern CONFIGURATION =
      Pattern.compile("(?ms)^espalier: v1.*?(?=^(?:END|```)$|\\z)");

  private static final String REST =
      """
      espalier: v1
      tree: {levels: [host, db], sources: [{sql: {url: u, query: q}}]}
      limits: {host: {slots: 2}}
      """;
  private static final JsonSchema SCHEMA =
      JsonSchemaFactory.getInstance(VersionFlag.V202012).getSchema(schema(), InputFormat.JSON);

  private static String schema() {
    return JsonWriter.pretty(YamlSchema.of(ConfigSchema.generated())) + "\n";
  }

  private static Set<ValidationMessage> problems(String yaml) {
    return SCHEMA.validate(JsonWriter.compact(YamlSchema.read(yaml)), InputFormat.JSON);
  }

  /**
   * The schema is generated from the definitions of the keys. After a change of a key run this test
   * with {@code -Dconfig.schema=write}: it then writes the file.
   */
  @Test
  void theSchemaIsWhatTheKeysSay() throws IOException {
    if ("write".equals(System.getProperty("config.schema"))) {
      Files.writeString(FILE, schema());
    }
    assertThat(Files.readString(FILE))
        .as("-Dconfig.schema=write writes it again")
        .isEqualTo(schema());
  }

  /** Documents that use every key: the test of the other schema sees to that. */
  static Stream<String> goodDocuments() {
    return SchemaTest.rows()
        .filter(row -> row.verdict() == Verdict.GOOD)
        .map(Row::document)
        .map(document -> document.replace('\'', '"'));
  }

  @ParameterizedTest
  @MethodSource("goodDocuments")
  void whatCanBeConvertedIsValid(String json) {
    Json document = Objects.requireNonNull(JsonReader.strict().read(json).value());
    String yaml = YamlWriter.write((Json.Obj) document);
    assertThat(problems(yaml)).as(yaml).isEmpty();
  }

  static Stream<String> configurations() throws IOException {
    List<String> found = new ArrayList<>();
    for (Path folder : List.of(ROOT.resolve("docs"), ROOT.resolve("config-examples"))) {
      try (Stream<Path> files = Files.walk(folder)) {
        for (Path file :
            files.filter(each -> each.toString().matches(".*\\.(md|ya?ml)")).toList()) {
          addTo(found, file);
        }
      }
    }
    addTo(found, ROOT.resolve("README.md"));
    return found.stream();
  }

  private static void addTo(List<String> found, Path file) throws IOException {
    Matcher matcher = CONFIGURATION.matcher(Files.readString(file).replace("\r\n", "\n"));
    while (matcher.find()) {
      found.add(matcher.group());
    }
  }

  @ParameterizedTest
  @MethodSource("configurations")
  void configurationsOfExamplesAndDocumentsAreValid(String yaml) {
    assertThat(problems(yaml)).as(yaml).isEmpty();
  }

  @Test
  void theDocumentOnYamlHasAConfiguration() throws IOException {
    List<String> found = new ArrayList<>();
    addTo(found, ROOT.resolve("docs/configuration-yaml.md"));
    assertThat(found).isNotEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "jobs: {j: {extends: [a, b], after: [c], timeout: '${T}', backoff: 30s, needs: {slots: 1}}}",
        "jobs: {j: {command: ./task.sh one, windows: \"Mo-Fr 22:00-06:00\", fail_when: false}}",
        "jobs: {j: {after_whole_jobs: c, filters: {db: {only: db1, share: '${S}'}}}}",
        "templates: {t: {fail_when: {min_samples: 5}, call: {idempotent: true}}}",
        "defaults: {process: {use_canary_pipe: '${ON}'}, kill: {kill_wait: 0}}",
        "worker_limits: {w1: {slots: '${LIMIT}'}}",
        "variables: {A: 1, B: text, C: true}",
        "include: more.yaml",
        "include: [one.yaml, two.yaml]",
        "probes: {lag: {level: host, push: {}, bad_above: 5, good_below: 2}}",
        "_comment: {anything: 1}",
      })
  void shortFormsVariablesAndTemplatesAreValid(String member) {
    String yaml = REST + member + "\n";
    assertThat(problems(yaml)).as(yaml).isEmpty();
  }

  @Test
  void aFileThatIsIncludedIsValid() {
    assertThat(problems("espalier: v1\njobs: {j: {owner: o, command: [./task.sh]}}\n")).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "limit: {}",
        "scheduler: [roundrobin]",
        "bistro_settings: {}",
        "timeout: 5s",
        "defaults: {timeout_sec: 5}",
        "defaults: {timeout: 5}",
        "defaults: {timeout: 5 s}",
        "defaults: {timeout: -5s}",
        "defaults: {timeout: 10%}",
        "enabled: 'yes'",
        "defaults: {backoff: [30, fail]}",
        "defaults: {backoff: [30s, never]}",
        "defaults: {kill: {method: trem}}",
        "defaults: {command: [x]}",
        "jobs: []",
        "jobs: {j: {comand: [x]}}",
        "jobs: {j: {depends_on: [x]}}",
        "jobs: {j: {command: 'a | b'}}",
        "jobs: {j: {needs: {slots: many}}}",
        "jobs: {j: {filters: {db: {share: 0.5}}}}",
        "jobs: {j: {filters: {db: {sahre: 5%}}}}",
        "jobs: {j: {status: exitcode}}",
        "jobs: {j: {rollout: {stages: [1%], soak: soon}}}",
        "jobs: {'a b': {}}",
        "templates: {t: {ownr: o}}",
        "node_limits: [{level: host, name: h1}]",
        "queues: {q: {max_share: {slots: 0.5}}}",
        "probes: {lag: {level: host, bad_above: 5, good_below: 2}}",
        "probes: {lag: {level: host, push: {}, good_below: 2}}",
        "variables: {A: [1]}",
        "include: {file: a.yaml}",
      })
  void aMistakeIsSeen(String member) {
    String yaml = REST + member + "\n";
    assertThat(problems(yaml)).as(yaml).isNotEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "tree: {levels: [host]}",
        "espalier: v2",
        "espalier: v1\ntree: {sources: [{empty: {}}]}",
        "espalier: v1\ntree: {levels: [host], source: []}",
        "espalier: v1\ntree: {levels: [host], sources: [{sql: {parent_level: host}}]}",
        "espalier: v1\ntree: {levels: [host], sources: [{sql: {refresh: 5}}]}",
        "espalier: v1\ntree: {levels: [host], sources: [{sql: select}]}",
        "espalier: v1\ntree: {levels: [host], sources: [{source: sql, perfs: {}}]}",
        "espalier: v1\ntree: {levels: [host], sources: [{change_guard: {}}]}",
        "espalier: v1\nlimits: {host: 2}",
        "espalier: v1\nlimits: {host: {slots: two}}",
        "espalier: v1\nlimits: {host: {slots: {default: 1}}}",
        "espalier: v1\nlimits: {host: {slots: {limit: 1, wieght: 2}}}",
      })
  void aMistakeInTheTreeAndItsLimitsIsSeen(String yaml) {
    assertThat(problems(yaml + "\n")).as(yaml).isNotEmpty();
  }
}
