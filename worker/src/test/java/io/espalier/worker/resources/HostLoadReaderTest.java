package io.espalier.worker.resources;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.running.MeasuredLoad;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HostLoadReaderTest {
  private static final HostResources HALF = new HostResources(2, 4_096, List.of(), List.of());

  @TempDir Path root = Path.of("");

  @BeforeEach
  void proc() throws IOException {
    Files.createDirectories(root.resolve("proc"));
  }

  private void cpu(long user, long idle, long waits) throws IOException {
    String times = "0 0 " + idle + " " + waits + " 0 0 0 0 0\n";
    StringBuilder text = new StringBuilder("cpu  " + user + " " + times);
    for (int i = 0; i < 4; i++) {
      text.append("cpu").append(i).append(' ').append(user / 4).append(' ').append(times);
    }
    Files.writeString(root.resolve("proc/stat"), text + "intr 1 2 3\n");
  }

  private void memory(long totalMb, long availableMb) throws IOException {
    Files.writeString(
        root.resolve("proc/meminfo"),
        "MemTotal:  %d kB\nMemFree:  1 kB\nMemAvailable:  %d kB\n"
            .formatted(totalMb * 1024, availableMb * 1024));
  }

  @Test
  void sharesAreOfWhatTheWorkerMayUse() throws IOException {
    HostLoadReader reader = new HostLoadReader(root);
    cpu(1_000, 5_000, 100);
    memory(8_192, 7_168);
    assertThat(reader.read(HALF)).as("the first time").isEqualTo(new MeasuredLoad(-1, 250));
    // A quarter of four processors is half of two.
    cpu(1_100, 5_250, 150);
    assertThat(reader.read(HALF)).isEqualTo(new MeasuredLoad(500, 250));
    cpu(1_500, 5_250, 150);
    memory(8_192, 0);
    assertThat(reader.read(HALF))
        .as("others use the rest")
        .isEqualTo(new MeasuredLoad(1_000, 1_000));
  }

  @Test
  void whatCannotBeReadIsUnknown() throws IOException {
    HostLoadReader reader = new HostLoadReader(root);
    assertThat(reader.read(HALF)).isEqualTo(MeasuredLoad.UNKNOWN);
    Files.writeString(root.resolve("proc/stat"), "cpu  1 2 x\n");
    Files.writeString(root.resolve("proc/meminfo"), "MemTotal: 5 kB\n");
    assertThat(reader.read(HALF)).isEqualTo(MeasuredLoad.UNKNOWN);
    memory(8_192, 8_192);
    HostResources nothing = new HostResources(0, 0, List.of(), List.of());
    assertThat(reader.read(nothing)).isEqualTo(MeasuredLoad.UNKNOWN);
  }

  @Test
  void thisHostCanBeMeasured() {
    HostLoadReader reader = new HostLoadReader(Path.of("/"));
    HostResources all = new HostResources(1, 1, List.of(), List.of());
    assertThat(reader.read(all).memory()).isEqualTo(1_000);
  }
}
