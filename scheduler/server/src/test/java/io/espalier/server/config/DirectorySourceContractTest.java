package io.espalier.server.config;

import io.espalier.core.config.source.WritableConfigSource;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

final class DirectorySourceContractTest extends WritableSourceContract {
  private final Path directory;

  DirectorySourceContractTest(@TempDir Path directory) {
    this.directory = directory;
  }

  @Override
  protected WritableConfigSource open() {
    return new DirectoryConfigSource(directory);
  }

  @Override
  protected void put(String text) throws Exception {
    Files.writeString(directory.resolve("a.json"), text);
  }
}
