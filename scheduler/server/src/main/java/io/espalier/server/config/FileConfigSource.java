package io.espalier.server.config;

import io.espalier.core.config.source.JobVersion;
import io.espalier.core.config.source.WritableConfigSource;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;

/** A configuration in one file. */
public final class FileConfigSource implements WritableConfigSource {
  private final Path file;
  private final FileReading reading;
  private final ConfigFiles files;

  public FileConfigSource(Path file) {
    this.file = file;
    this.reading = new FileReading(file, () -> List.of(file));
    this.files = new ConfigFiles(file, Path.of(directory()), String.valueOf(file.getFileName()));
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

  @Override
  public String documentFor(String job) {
    return file.toString();
  }

  @Override
  public boolean write(Text expected, SortedMap<String, Optional<byte[]>> documents)
      throws Unavailable, InterruptedException {
    FileReading now = new FileReading(file, () -> List.of(file));
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
}
