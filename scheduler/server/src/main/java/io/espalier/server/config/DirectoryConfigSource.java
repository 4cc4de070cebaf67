package io.espalier.server.config;

import io.espalier.core.config.source.JobVersion;
import io.espalier.core.config.source.WritableConfigSource;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;

/**
 * A configuration in the {@code *.json}, {@code *.yaml} and {@code *.yml} files of one directory.
 * It ignores subdirectories and hidden files, such as those of editors.
 */
public final class DirectoryConfigSource implements WritableConfigSource {
  private final Path directory;
  private final FileReading reading;
  private final ConfigFiles files;

  public DirectoryConfigSource(Path directory) {
    this.directory = directory;
    this.reading = new FileReading(directory, () -> list(directory));
    this.files = new ConfigFiles(directory, directory, "espalier");
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
      throw FileReading.unavailable(
          directory, "there is no *.json or *.yaml file in this directory", null);
    }
    return text;
  }

  /** Returns the file of a job. Except for the colon, names of jobs are valid in names of files. */
  @Override
  public String documentFor(String job) {
    return directory.resolve("job-" + job.replace(":", "%3A") + ".json").toString();
  }

  @Override
  public boolean write(Text expected, SortedMap<String, Optional<byte[]>> documents)
      throws Unavailable, InterruptedException {
    FileReading now = new FileReading(directory, () -> list(directory));
    return files.write(now::fetch, expected, documents);
  }

  @Override
  public void remember(List<JobVersion> versions) throws Unavailable {
    files.remember(versions);
  }

  @Override
  public List<JobVersion> history(String job) throws Unavailable {
    return histories(List.of(job)).getOrDefault(job, List.of());
  }

  @Override
  public Map<String, List<JobVersion>> histories(Collection<String> jobs) throws Unavailable {
    return files.histories(jobs);
  }

  private static List<Path> list(Path directory) throws IOException {
    List<Path> files = new ArrayList<>();
    try (DirectoryStream<Path> all = Files.newDirectoryStream(directory, "*.{json,yaml,yml}")) {
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
