package io.espalier.server.config;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.config.source.JobVersion;
import io.espalier.core.config.source.WritableConfigSource;
import io.espalier.testkit.config.ConfigFixtures;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.InstantSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class FileSourceContractTest extends WritableSourceContract {
  private final Path file;

  FileSourceContractTest(@TempDir Path directory) {
    file = directory.resolve("site.json");
  }

  @Override
  protected WritableConfigSource open() {
    return new FileConfigSource(file);
  }

  @Override
  protected void put(String text) throws Exception {
    Files.writeString(file, text);
  }

  @Test
  void aVersionThatACrashHasCutDoesNotTakeTheNextOneWithIt() throws Exception {
    put(
        "{\"bistro_settings\": {\"nodes\": {\"levels\": [\"host\"], \"node_sources\":"
            + " [{\"source\": \"empty\"}]}, \"resources\": {}}}");
    JobEditor editor = new JobEditor(open(), ConfigFixtures.parser(), InstantSource.system());
    editor.save("new", job("{\"owner\": \"a\"}"), 0, "ann", "made");
    Path history = file.resolveSibling(".site.json.history.jsonl");
    Files.writeString(history, "{\"job\":\"new\",\"ver", StandardOpenOption.APPEND);

    editor.save("new", job("{\"owner\": \"b\"}"), 1, "bob", "mine");

    assertThat(editor.history("new")).extracting(JobVersion::version).containsExactly(1L, 2L);
  }
}
