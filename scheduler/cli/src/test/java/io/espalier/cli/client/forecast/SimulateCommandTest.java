package io.espalier.cli.client.forecast;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.cli.client.Client;
import io.espalier.cli.client.CommandRun;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SimulateCommandTest {
  /** There is no scheduler. */
  private static final Client.Opener NONE =
      new Client.Opener() {
        @Override
        public Client server(String server) {
          throw new AssertionError("asked " + server);
        }

        @Override
        public Client dataDirectory(Path dataDir) {
          throw new AssertionError("asked " + dataDir);
        }
      };

  @Test
  void with_a_copy_no_scheduler_is_asked(@TempDir Path directory) throws Exception {
    CommandRun missing = CommandRun.of(NONE, 100, "simulate", "--snapshot", "/no/such/file");
    assertThat(missing.code()).isEqualTo(2);
    assertThat(missing.err()).contains("--snapshot: cannot read /no/such/file");

    Path other = Files.writeString(directory.resolve("other"), "no recording");
    CommandRun unreadable = CommandRun.of(NONE, 100, "simulate", "--snapshot", other.toString());
    assertThat(unreadable.code()).isEqualTo(1);
    assertThat(unreadable.err()).contains("snapshot cannot be read");

    CommandRun bad = CommandRun.of(NONE, 100, "simulate", "--snapshot=-", "--horizon", "3650d");
    assertThat(bad.code()).isEqualTo(2);
    assertThat(bad.err()).contains("--horizon is at most 366d");
  }
}
