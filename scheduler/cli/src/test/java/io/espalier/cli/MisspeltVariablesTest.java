package io.espalier.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.cli.flags.MisspeltVariables;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

final class MisspeltVariablesTest {
  private final AtomicInteger asked = new AtomicInteger();

  private List<String> warnings(Map<String, String> environment) {
    CommandTable table = EspalierCommand.table(environment);
    CommandLine jobs = new CommandLine(new EspalierCommand());
    table.neededFor("jobs").forEach(jobs::addSubcommand);
    return MisspeltVariables.warnings(
        environment,
        jobs,
        () -> {
          asked.incrementAndGet();
          return EspalierCommand.line(environment);
        });
  }

  @Test
  void aVariableThatIsNearlyAFlagIsNamedWithTheFlag() {
    assertThat(warnings(Map.of("ESPALIER_SEVER", "127.0.0.1:1", "ESPALIER_DATADIR", "x")))
        .containsExactly(
            "the variable ESPALIER_DATADIR has no effect; did you mean ESPALIER_DATA_DIR?",
            "the variable ESPALIER_SEVER has no effect; did you mean ESPALIER_SERVER?");
  }

  @Test
  void flagsOfOtherCommandsAndVariablesOfTasksAreNone() {
    assertThat(
            warnings(
                Map.of(
                    "ESPALIER_SHARD_ID", "w1",
                    "ESPALIER_TASK_NODE", "n",
                    "ESPALIER_TASK_NODES", "n",
                    "ESPALIER_LOG_LEVEL", "DEBUG",
                    "ESPALIER_JAVA_OPTS", "-Xmx1g",
                    "PATH", "/bin")))
        .isEmpty();
  }

  @Test
  void whatAClusterSetsForItsServicesIsNone() {
    assertThat(
            warnings(
                Map.of(
                    "ESPALIER_SERVICE_HOST", "10.0.0.1",
                    "ESPALIER_PORT", "tcp://10.0.0.1:8080",
                    "ESPALIER_PORT_8080_TCP_ADDR", "10.0.0.1",
                    "ESPALIER_REGION", "eu",
                    "ESPALIER_SEVER", "")))
        .isEmpty();
  }

  @Test
  void onlyAVariableThatTheCommandDoesNotKnowAsksForAllCommands() {
    assertThat(warnings(Map.of("ESPALIER_SERVER", "127.0.0.1:1"))).isEmpty();
    assertThat(asked).hasValue(0);
    assertThat(warnings(Map.of("ESPALIER_SHARD_ID", "w1"))).isEmpty();
    assertThat(asked).hasValue(1);
  }
}
