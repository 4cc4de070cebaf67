package io.espalier.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.config.Levels;
import io.espalier.core.config.NodeSourceSpec;
import io.espalier.core.json.Json;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Result;
import io.espalier.core.topology.NodeSource;
import io.espalier.core.topology.NodeSourceContext;
import io.espalier.core.topology.NodeSourceType;
import io.espalier.json.JsonReader;
import io.espalier.testkit.config.ConfigFixtures;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class ValidateCommandTest {
  @TempDir
  @SuppressWarnings("NullAway.Init")
  Path directory;

  private final StringWriter out = new StringWriter();

  /** Has something to say about every source. */
  static final class PickyType implements NodeSourceType {
    @Override
    public String name() {
      return "manual";
    }

    @Override
    public Result<NodeSource> create(
        NodeSourceSpec spec, Levels levels, NodeSourceContext context) {
      Json at = Objects.requireNonNull(spec.prefs().get("x"));
      Problem problem =
          new Problem(
              Problem.Severity.ERROR, spec.path() + ".prefs.x", at.at(), "too picky", "7", null);
      return new Result<>(null, List.of(problem));
    }
  }

  private int run(String... args) {
    ValidateCommand command =
        new ValidateCommand(ConfigFixtures.parser(), List.of(new PickyType()));
    return new CommandLine(command).setOut(new PrintWriter(out)).execute(args);
  }

  private String write(String text) throws IOException {
    return Files.writeString(directory.resolve("c.json"), text.replace('\'', '"')).toString();
  }

  private static final String GOOD =
      "{'bistro_settings': {'nodes': {'levels': []}, 'resources': {}},\n"
          + " 'bistro_job->j': {'owner': 'o'}}";

  @Test
  void aGoodConfigurationIsGood() throws Exception {
    String file = write(GOOD);
    assertThat(run(file)).isZero();
    assertThat(out).hasToString(file + ": 0 errors, 0 warnings, 1 job\n");
  }

  @Test
  void everyProblemIsPrintedInTheOrderOfTheText() throws Exception {
    String file =
        write(
            """
            {
              'bistro_job->j': {'owner': 'o', 'prioritty': 1},
              'bistro_settings': {
                'scheduler': 'roundrobbin',
                'colour': 'red',
                'nodes': {'levels': []}, 'resources': {}
              }
            }
            """);
    assertThat(run(file)).isEqualTo(2);
    assertThat(out.toString().lines())
        .containsExactly(
            file
                + ":2:35: error: bistro_job->j.prioritty: unknown key (value: 1);"
                + " did you mean \"priority\"?",
            file
                + ":4:18: error: bistro_settings.scheduler: unknown scheduling policy"
                + " (value: \"roundrobbin\"); did you mean \"roundrobin\"?",
            file
                + ":5:5: warning: bistro_settings.colour: unknown key, it does nothing"
                + " (value: \"red\"); start it with \"_\" if it is a comment",
            file + ": 2 errors, 1 warning, 1 job");
  }

  @Test
  void sourcesThatAreNotInstalledAreErrors() throws Exception {
    String file =
        write(
            """
            {'bistro_settings': {'resources': {}, 'nodes': {'levels': ['host'], 'node_sources': [
              {'source': 'manaul'}, {'source': 'manual', 'prefs': {'x': 7}}]},
              'probes': {'lag': {'source': 'htp', 'bad_above': 5, 'good_below': 2}}}}
            """);
    assertThat(run(file)).isEqualTo(2);
    assertThat(out.toString().lines())
        .containsExactly(
            file
                + ":2:14: error: bistro_settings.nodes.node_sources[0].source: unknown node source"
                + " (value: \"manaul\"); did you mean \"manual\"?",
            file
                + ":2:61: error: bistro_settings.nodes.node_sources[1].prefs.x: too picky (value: 7)",
            file
                + ":3:32: error: bistro_settings.probes.lag.source: unknown source of a probe"
                + " (value: \"htp\"); did you mean \"http\"?",
            file + ": 3 errors, 0 warnings, 0 jobs");
  }

  @Test
  void warningsCountOnlyWhenAskedFor() throws Exception {
    String file = write(GOOD.replace("'o'}", "'o', 'colour': 1}"));
    assertThat(run(file)).isZero();
    assertThat(run("--strict", file)).isEqualTo(2);
  }

  @Test
  void jsonIsForPrograms() throws Exception {
    String file = write(GOOD.replace("'o'}", "[]}"));
    assertThat(run("--json", file)).isEqualTo(2);
    Json.Obj json = (Json.Obj) Objects.requireNonNull(JsonReader.parse(out.toString()).value());
    assertThat(json.members())
        .containsEntry("ok", Json.of(false))
        .containsEntry("errors", Json.of(1))
        .containsEntry("warnings", Json.of(0))
        .containsEntry("jobs", Json.of(1));
    Json.Obj problem =
        (Json.Obj) ((Json.Arr) Objects.requireNonNull(json.get("problems"))).items().get(0);
    assertThat(problem.members())
        .containsEntry("severity", Json.of("error"))
        .containsEntry("file", Json.of(file))
        .containsEntry("line", Json.of(2))
        .containsEntry("column", Json.of(29))
        .containsEntry("path", Json.of("bistro_job->j.owner"))
        .containsEntry("value", Json.of("[]"))
        .containsKey("message");
  }

  @Test
  void preferencesOfNodeSourcesAreChecked() throws Exception {
    String file =
        write(
            "{'bistro_settings': {'nodes': {'levels': ['a'], 'node_sources': ["
                + "{'source': 'manual', 'prefs': {'x': 7}}]}, 'resources': {}, 'enabled': 'no'}}");
    assertThat(run(file)).isEqualTo(2);
    assertThat(out.toString()).contains("bistro_settings.enabled: expected true or false");
    assertThat(out.toString())
        .contains("error: bistro_settings.nodes.node_sources[0].prefs.x: too picky (value: 7)");
  }

  private static String commanding(String program) {
    return GOOD.replace("'o'}", "'o', 'command': ['" + program + "', '{node}']}");
  }

  @Test
  void aProgramThatIsNotThereIsAnErrorAtItsPlace() throws Exception {
    String file = write(commanding("./task.sh"));
    assertThat(run(file)).isEqualTo(2);
    assertThat(out.toString().lines().findFirst())
        .contains(
            file
                + ":2:46: error: bistro_job->j.command[0]: cannot start "
                + directory.resolve("task.sh")
                + ": No such file or directory (value: \"./task.sh\"); if only the hosts of"
                + " workers have it: --runner remote");
  }

  @Test
  void aProgramMustBeExecutable() throws Exception {
    Path script = Files.writeString(directory.resolve("task.sh"), "#!/bin/sh\n");
    assertThat(run(write(commanding("./task.sh")))).isEqualTo(2);
    assertThat(out.toString()).contains("Permission denied (it is not executable; chmod +x");
    assertThat(script.toFile().setExecutable(true)).isTrue();
    assertThat(run(write(commanding("./task.sh")))).isZero();
    assertThat(run(write(commanding(script.toString())))).isZero();
  }

  @Test
  void aBareWordIsLookedForInThePathOfTheTask() throws Exception {
    assertThat(run(write(commanding("sh")))).isZero();
    assertThat(run(write(commanding("no-such-program")))).isEqualTo(2);
    assertThat(out.toString()).contains("no program \"no-such-program\" in PATH");
    String elsewhere = "['sh'], 'task_subprocess': {'environment': {'PATH': '" + directory + "'}}}";
    assertThat(run(write(GOOD.replace("'o'}", "'o', 'command': " + elsewhere)))).isEqualTo(2);
    assertThat(out.toString()).contains("no program \"sh\" in PATH (" + directory + ")");
  }

  @Test
  void whatRunsElsewhereOrNotAtAllIsNotLookedFor() throws Exception {
    String file = write(commanding("/no/such/program"));
    for (String runner : List.of("remote", "dry-run", "simulated")) {
      assertThat(run("--runner", runner, file)).as(runner).isZero();
    }
    assertThat(run(write(commanding("/no/such").replace("'o',", "'o', 'enabled': false,"))))
        .isZero();
    assertThat(run("--runner", "lokal", file)).isNotZero();
  }

  @Test
  void theWorkerCommandIsThatOfJobsWithoutOne() throws Exception {
    assertThat(run("--worker-command", "sh", write(GOOD))).isZero();
    assertThat(run("--worker-command", "/no/such", write(GOOD))).isEqualTo(2);
    assertThat(out.toString())
        .contains("error: bistro_job->j: --worker-command: cannot start /no/such");
  }

  @Test
  void aDirectoryIsOneConfiguration() throws Exception {
    write(GOOD);
    Files.writeString(directory.resolve("d.json"), "{\"bistro_job->k\": {\"owner\": 5, \"x\": 1}}");
    assertThat(run(directory.toString())).isZero();
    assertThat(out.toString()).contains("d.json:1:32: warning").endsWith("1 warning, 2 jobs\n");
  }

  @Test
  void whatCannotBeReadIsAnError() {
    String missing = directory.resolve("none.json").toString();
    assertThat(run(missing)).isEqualTo(2);
    assertThat(out.toString())
        .startsWith(missing + ": error: there is no such file or directory\n");
    assertThat(run("zk://h")).isEqualTo(2);
    assertThat(out.toString()).contains("zk://h: error: the path is missing");
    assertThat(run("mysql://u:secret@h/p")).isEqualTo(2);
    assertThat(out.toString()).doesNotContain("secret");
  }

  @Test
  void emptyAndTruncatedFilesAreErrors() throws Exception {
    assertThat(run(write(""))).isEqualTo(2);
    assertThat(run(write(GOOD.substring(0, GOOD.length() - 3)))).isEqualTo(2);
    assertThat(out.toString()).contains(":1:1: error: the text is empty").contains("not closed");
  }

  @Test
  void namesCannotPlayWithTheTerminal() throws Exception {
    assertThat(run(write(GOOD.replace("->j", "->\\u001b[2J\\u202e")))).isEqualTo(2);
    assertThat(out.toString()).doesNotContain("\u001b", "\u202e");
  }

  @Test
  void withoutAFileTheUsageIsShown() {
    assertThat(run()).isEqualTo(2);
  }
}
