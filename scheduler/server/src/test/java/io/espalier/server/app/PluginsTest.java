package io.espalier.server.app;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.running.TaskRunner;
import io.espalier.core.running.TaskRunnerType;
import io.espalier.server.app.options.RunnerOptions;
import io.espalier.worker.DryRunRunner;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class PluginsTest {
  private static final class Instant implements TaskRunnerType {
    @Override
    public String name() {
      return "instant";
    }

    @Override
    public TaskRunner create(Context context) {
      return new DryRunRunner(context.shard());
    }
  }

  private final Plugins plugins =
      new Plugins(
          new TreeMap<>(),
          new TreeMap<>(),
          new TreeMap<>(),
          new TreeMap<>(Map.of("instant", new Instant())));

  @Test
  void runnersOfPluginsAreKnownBesideTheBuiltInOnes() {
    assertThat(plugins.runnerNames())
        .containsExactly("local", "remote", "dry-run", "simulated", "instant");
    for (String name : plugins.runnerNames()) {
      assertThat(plugins.complaintAboutRunner(name)).as(name).isNull();
    }
    assertThat(RunnerOptions.Kind.of("instant")).isEqualTo(RunnerOptions.Kind.PLUG_IN);
    assertThat(RunnerOptions.Kind.of("")).isEqualTo(RunnerOptions.Kind.PLUG_IN);
    assertThat(RunnerOptions.Kind.of("local")).isEqualTo(RunnerOptions.Kind.LOCAL);
  }

  @Test
  void anUnknownRunnerIsAnsweredWithThoseThatExist() {
    assertThat(plugins.complaintAboutRunner("instent"))
        .isEqualTo(
            "--runner instent is none of local, remote, dry-run, simulated, instant; did you mean"
                + " \"instant\"?");
    assertThat(plugins.complaintAboutRunner("kubernetes"))
        .isEqualTo("--runner kubernetes is none of local, remote, dry-run, simulated, instant");
  }
}
