package io.espalier.server.config;

import io.espalier.core.config.ConfigSource;
import java.nio.file.Path;
import java.util.List;

/** A configuration in one file. Immutable. */
public final class FileConfigSource implements ConfigSource {
  private final Path file;

  public FileConfigSource(Path file) {
    this.file = file;
  }

  @Override
  public String name() {
    return file.toString();
  }

  @Override
  public String directory() {
    Path parent = file.toAbsolutePath().getParent();
    return parent == null ? "/" : parent.toString();
  }

  @Override
  public Text fetch() throws Unavailable, InterruptedException {
    return FileReading.stable(
        file, () -> List.of(new Document(file.toString(), FileReading.bytes(file))));
  }
}
