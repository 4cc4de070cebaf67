package io.espalier.core.config;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.config.write.BistroJobWriter;
import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import io.espalier.core.problem.Result;
import io.espalier.json.JsonReader;
import io.espalier.testkit.config.ConfigFixtures;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The export of every job of config-examples and of jobs with every key, byte by byte: stored
 * versions of jobs are compared with it, so a difference would look like an edit. {@code
 * -Djob.exports=write} writes the expected exports again.
 */
class JobExportTest {
  private static final Path EXPECTED = Path.of("src/test/resources/job-exports.txt");
  private static final Path EVERY_KEY = Path.of("src/test/resources/every-key.json");
  private static final Path EXAMPLES = Path.of("../../config-examples");

  @Test
  void exportsAreThoseOfTheVersionsBefore() throws IOException {
    List<String> exports;
    try (Stream<Path> files = Files.walk(EXAMPLES)) {
      exports =
          Stream.concat(files.filter(JobExportTest::isConfig).sorted(), Stream.of(EVERY_KEY))
              .flatMap(JobExportTest::exports)
              .toList();
    }
    if ("write".equals(System.getProperty("job.exports"))) {
      Files.write(EXPECTED, exports);
    }
    assertThat(exports).hasSizeGreaterThan(20).isEqualTo(Files.readAllLines(EXPECTED));
  }

  private static boolean isConfig(Path file) {
    return file.toString().endsWith(".json") && json(file).get("bistro_settings") != null;
  }

  private static Json.Obj json(Path file) {
    try {
      Json json = JsonReader.config().read(Files.readString(file)).value();
      return json instanceof Json.Obj object ? object : Json.Obj.EMPTY;
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private static Stream<String> exports(Path file) {
    Result<Config> parsed = ConfigFixtures.parser().inspect(json(file));
    Config config = Objects.requireNonNull(parsed.value(), () -> file + ": " + parsed.problems());
    return config.jobs().values().stream()
        .map(
            job ->
                file.getFileName()
                    + " "
                    + job.name()
                    + " "
                    + JsonWriter.compact(BistroJobWriter.toJson(job, config.settings())));
  }
}
