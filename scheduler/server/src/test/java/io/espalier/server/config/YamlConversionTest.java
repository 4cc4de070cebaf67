package io.espalier.server.config;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.config.Config;
import io.espalier.core.config.keys.ConfigKeys;
import io.espalier.core.config.read.ConfigParser;
import io.espalier.core.config.schema.Key;
import io.espalier.core.config.schema.Section;
import io.espalier.core.config.source.ConfigSource.Document;
import io.espalier.core.config.source.ConfigSource.Text;
import io.espalier.core.config.write.BistroJobWriter;
import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Result;
import io.espalier.server.config.SchemaRows.Row;
import io.espalier.server.config.SchemaRows.Verdict;
import io.espalier.server.config.yaml.YamlWriter;
import io.espalier.testkit.config.ConfigFixtures;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Whatever JSON can say, YAML can, and it means the same. */
class YamlConversionTest {
  private static final Pattern NUMBER =
      Pattern.compile("\\s*[+-]?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][0-9])?\\s*");
  private static final Pattern IGNORED = Pattern.compile("_.*|//.*|\\$.*|node_source(_prefs)?");
  private static final Map<String, String> SPELLINGS =
      Map.of(
          "kill_request", "kill_subprocess",
          "worker_resources_overrides", "worker_resources_override");
  private static final Map<String, Long> WINDOWS =
      Map.of("90s", 90L, "15m", 900L, "1h", 3600L, "366d", 31_622_400L);

  private static final ConfigLoader LOADER =
      new ConfigLoader(
          new ConfigParser(
              with(ConfigFixtures.POLICIES, "fewest_left"),
              with(ConfigFixtures.WORKER_SELECTORS, "least_loaded"),
              with(ConfigFixtures.NODE_SOURCES, "labels")));

  private static List<String> with(List<String> names, String one) {
    return Stream.concat(names.stream(), Stream.of(one)).toList();
  }

  /** Documents that use every key: the test of the schema sees to that. */
  static Stream<String> documents() {
    return SchemaTest.rows()
        .filter(row -> row.verdict() == Verdict.GOOD)
        .map(Row::document)
        .map(document -> document.replace('\'', '"'));
  }

  static Stream<String> examples() throws IOException {
    try (Stream<Path> files = Files.walk(Path.of("../../config-examples"))) {
      return files
          .filter(YamlConversionTest::isConfiguration)
          .sorted()
          .map(YamlConversionTest::read)
          .toList()
          .stream();
    }
  }

  private static boolean isConfiguration(Path file) {
    return file.toString().endsWith(".json") && read(file).contains("bistro_settings");
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  @ParameterizedTest
  @MethodSource({"documents", "examples"})
  void aConfigurationMeansTheSameAfterTwoConversions(String json) {
    Text first = text("a.json", json);
    Json.Obj before = document(first);
    String yaml = YamlWriter.write(before);
    Text second = text("a.yaml", yaml);
    Json.Obj after = document(second);
    assertThat(shape(after)).as(yaml).isEqualTo(shape(before));
    assertThat(YamlWriter.write(after)).isEqualTo(yaml);
    assertThat(meaning(second)).as(yaml).isEqualTo(meaning(first));
  }

  @Test
  void theExampleInBothNotationsMeansTheSame() {
    Path examples = Path.of("../../config-examples");
    Json.Obj yaml = document(text("a.yaml", read(examples.resolve("quickstart.yaml"))));
    assertThat(yaml).isEqualTo(document(text("a.json", read(examples.resolve("quickstart.json")))));
  }

  private static Text text(String name, String text) {
    return new Text(List.of(new Document(name, text)), "");
  }

  private static Json.Obj document(Text text) {
    Result<Json.Obj> read = LOADER.document(text);
    assertThat(read.problems()).noneMatch(Problem::isError);
    return Objects.requireNonNull(read.value());
  }

  /** All jobs, with everything that they inherit. */
  private static SortedMap<String, Json> meaning(Text text) {
    Result<Config> loaded = LOADER.load(text);
    assertThat(loaded.problems()).noneMatch(Problem::isError);
    Config config = Objects.requireNonNull(loaded.value());
    SortedMap<String, Json> jobs = new TreeMap<>();
    config
        .jobs()
        .forEach((name, job) -> jobs.put(name, BistroJobWriter.toJson(job, config.settings())));
    return jobs;
  }

  /** A document without comments and what does nothing, with numbers as numbers. */
  private static Json shape(Json value) {
    if (value instanceof Json.Obj object) {
      Json.Builder out = Json.object();
      object
          .members()
          .forEach(
              (key, member) -> {
                boolean isObsolete =
                    member.equals(object.get("node_order")) && object.get("nodes") != null;
                if (!IGNORED.matcher(key).matches() && !isObsolete) {
                  out.put(SPELLINGS.getOrDefault(key, key), shape(member));
                }
              });
      return object.get("source") != null && object.get("prefs") == null
          ? out.put("prefs", Json.Obj.EMPTY).build()
          : out.build();
    }
    if (value instanceof Json.Arr list) {
      return new Json.Arr(list.items().stream().map(YamlConversionTest::shape).toList());
    }
    if (value instanceof Json.Str text && WINDOWS.containsKey(text.value())) {
      return Json.of(WINDOWS.get(text.value()));
    }
    return value instanceof Json.Str text && NUMBER.matcher(text.value()).matches()
        ? new Json.Num(new BigDecimal(text.value().strip()))
        : value;
  }

  @Test
  void everyTextComesBack() {
    Json.Builder config = Json.object();
    int count = 0;
    for (String text :
        List.of(
            "", " ", "no", "on", "null", "~", "1", "0x1f", "0o17", "1e3", ".5", "-", "- a",
            "a: b")) {
      config.put("k" + count++, text);
    }
    for (String text :
        List.of(
            "#", "a #b", "\u00e4\u20ac", "\ud83d\ude00", "\t", "a\nb\n", "\\", "\"", "'", "*x")) {
      config.put("k" + count++, text);
    }
    for (String text :
        List.of(
            "${x}", "$${x}", "${", "{", "[", "%", "@", "!", "&a", "|", ">", "---", "...", "\u2028",
            "\u0085")) {
      config.put("k" + count++, text).put(text, count);
    }
    config
        .put("long", "word ".repeat(100))
        .put("nested", new Json.Arr(List.of(Json.Arr.EMPTY, Json.Obj.EMPTY)));
    Json.Obj document =
        Json.object()
            .put(
                "bistro_settings",
                ConfigFixtures.json("{'nodes': {'levels': ['a']}, 'resources': {}}"))
            .put(
                "bistro_job->j",
                Json.object().put("owner", "o").put("config", config.build()).build())
            .build();
    Text yaml = text("a.yaml", YamlWriter.write(document));
    assertThat(document(yaml)).as(JsonWriter.pretty(document)).isEqualTo(document);
  }

  static List<Section<?>> sections() {
    return ConfigKeys.SECTIONS;
  }

  @ParameterizedTest
  @MethodSource("sections")
  void everyKeyHasAnExample(Section<?> section) {
    for (Key<?, ?> key : section.keys()) {
      assertThat(documents())
          .as(key.name())
          .anyMatch(text -> text.contains('"' + key.name() + '"'));
    }
  }
}
