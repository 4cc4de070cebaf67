package io.espalier.server.config;

import io.espalier.core.config.ConfigSource;
import java.nio.file.Path;
import java.util.List;

/** A configuration in one file. */
public final class FileConfigSource implements ConfigSource {
  private final Path file;
  private final FileReading reading;

  public FileConfigSource(Path file) {
    this.file = file;
    this.reading = new FileReading(file, () -> List.of(file));
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
    return reading.fetch();
  }
}
