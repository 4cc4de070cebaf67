package io.espalier.server.config;

import io.espalier.core.config.ConfigSource;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A configuration that is spread over the {@code *.json} files of one directory. Sub-directories
 * and hidden files (which editors leave behind) are not looked at.
 */
public final class DirectoryConfigSource implements ConfigSource {
  private final Path directory;
  private final FileReading reading;

  public DirectoryConfigSource(Path directory) {
    this.directory = directory;
    this.reading = new FileReading(directory, () -> list(directory));
  }

  @Override
  public String name() {
    return directory.toString();
  }

  @Override
  public String directory() {
    return directory.toAbsolutePath().toString();
  }

  @Override
  public Text fetch() throws Unavailable, InterruptedException {
    Text text = reading.fetch();
    if (text.documents().isEmpty()) {
      throw FileReading.unavailable(directory, "there is no *.json file in this directory", null);
    }
    return text;
  }

  private static List<Path> list(Path directory) throws IOException {
    List<Path> files = new ArrayList<>();
    try (DirectoryStream<Path> all = Files.newDirectoryStream(directory, "*.json")) {
      for (Path file : all) {
        if (!file.getFileName().toString().startsWith(".") && Files.isRegularFile(file)) {
          files.add(file);
        }
      }
    } catch (DirectoryIteratorException e) {
      throw e.getCause();
    }
    files.sort(null);
    return files;
  }
}
