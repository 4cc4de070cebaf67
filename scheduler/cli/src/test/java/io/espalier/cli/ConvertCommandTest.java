package io.espalier.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.testkit.config.ConfigFixtures;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class ConvertCommandTest {
  private static final String YAML =
      """
      espalier: v1
      tree:
        levels: [host]
        sources:
          - manual: {h1: []}
      jobs:
        j:
          owner: o
          timeout: 90s
      """;

  @TempDir
  @SuppressWarnings("NullAway.Init")
  Path directory;

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  private int run(String... args) {
    return new CommandLine(new ConvertCommand(ConfigFixtures.parser()))
        .setOut(new PrintWriter(out))
        .setErr(new PrintWriter(err))
        .setExecutionExceptionHandler(
            (failure, line, parsed) -> {
              line.getErr().println(failure.getMessage());
              return 2;
            })
        .execute(args);
  }

  private String write(String name, String text) throws IOException {
    return Files.writeString(directory.resolve(name), text).toString();
  }

  @Test
  void jsonBecomesYamlAndBack() throws Exception {
    String json =
        write(
            "c.json",
            """
            // a comment, which is lost
            {"bistro_settings": {"nodes": {"levels": ["host"],
               "node_sources": [{"source": "manual", "prefs": {"h1": []}}]}, "resources": {}},
             "bistro_job->j": {"owner": "o", "timeout_sec": 90}}
            """);
    assertThat(run(json)).isZero();
    assertThat(out).hasToString(YAML);
    Path again = directory.resolve("again.json");
    assertThat(run(write("c.yaml", YAML), "-o", again.toString())).isZero();
    assertThat(ConfigFixtures.json(Files.readString(again)))
        .isEqualTo(ConfigFixtures.json(Files.readString(Path.of(json))));
    assertThat(err.toString()).isEmpty();
  }

  @Test
  void toYamlReplacesTemplatesByWhatTheyStandFor() throws Exception {
    String text = YAML.replace("    owner: o\n", "    extends: base\n");
    String yaml = write("c.yaml", text + "templates: {base: {owner: o}}\n");
    assertThat(run(yaml, "--to", "yaml")).isZero();
    assertThat(out.toString().lines()).containsExactlyInAnyOrderElementsOf(YAML.lines().toList());
  }

  @Test
  void whatHasErrorsIsNotConverted() throws Exception {
    String yaml = write("c.yaml", YAML.replace("90s", "90"));
    assertThat(run(yaml)).isEqualTo(2);
    assertThat(out.toString()).isEmpty();
    assertThat(err.toString())
        .startsWith(yaml + ":9:14: error: jobs.j.timeout: a time needs a unit (value: 90);");
    assertThat(run(directory.resolve("none.yaml").toString())).isEqualTo(2);
  }

  @Test
  void aFileIsNeverReplaced() throws Exception {
    String yaml = write("c.yaml", YAML);
    assertThat(run(yaml, "-o", yaml)).isEqualTo(2);
    assertThat(Files.readString(Path.of(yaml))).isEqualTo(YAML);
    assertThat(err.toString()).contains("exists already");
  }

  @Test
  void problemsOfSourcesAreToldInYamlToo() throws Exception {
    ValidateCommand validate =
        new ValidateCommand(ConfigFixtures.parser(), List.of(new ValidateCommandTest.PickyType()));
    String yaml = write("d.yaml", YAML.replace("h1: []", "x: []"));
    new CommandLine(validate).setOut(new PrintWriter(out)).execute(yaml, "--runner", "remote");
    assertThat(out.toString())
        .startsWith(yaml + ":5:19: error: tree.sources[0].manual.x: too picky (value: 7)");
  }
}
