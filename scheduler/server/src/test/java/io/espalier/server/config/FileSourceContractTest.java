package io.espalier.server.config;

import io.espalier.core.config.source.WritableConfigSource;
import java.nio.file.Files;
import java.nio.file.Path;
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
}
