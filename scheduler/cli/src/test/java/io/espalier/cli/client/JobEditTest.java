package io.espalier.cli.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** In a process of its own, whose environment names the editor. */
final class JobEditTest extends FakedCommands {
  @Test
  void theTextOfAnEditorThatFailsIsKeptAndItsFileNamed(@TempDir Path directory) throws Exception {
    server.on("GET /api/v1/jobs/backup", "{'job':'backup','version':3,'original':{'owner':'ann'}}");
    ProcessBuilder command =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Djava.io.tmpdir=" + directory,
                "-cp",
                System.getProperty("java.class.path"),
                "io.espalier.cli.Main",
                "job",
                "edit",
                "backup",
                "--server=" + server.url())
            .redirectErrorStream(true);
    command.environment().remove("VISUAL");
    command.environment().put("EDITOR", "false");
    Process process = command.start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).isEqualTo(1);
    try (Stream<Path> files = Files.list(directory)) {
      List<Path> texts = files.filter(file -> file.toString().endsWith(".json")).toList();
      assertThat(texts).hasSize(1);
      assertThat(said)
          .contains("the editor \"false\" ended with 1", "your text is in " + texts.get(0));
    }
  }
}
