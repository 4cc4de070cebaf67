package io.espalier.server.config;

import io.espalier.core.config.source.ConfigSource.Text;
import io.espalier.core.config.source.ConfigSource.Unavailable;
import io.espalier.core.config.source.JobVersion;
import io.espalier.core.json.Json;
import io.espalier.json.JsonReader;
import io.espalier.worker.files.AtomicFiles;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;

/**
 * Writes the files of the file and the directory source. It replaces each file as a whole, under a
 * lock that other schedulers on this host respect too, so that nobody reads a partial file and no
 * edit is lost. Two hidden files next to the configuration contain the lock and the history of
 * jobs.
 */
final class ConfigFiles {
  private final Path place;
  private final Path lockFile;
  private final Path historyFile;

  /**
   * @param place the file or directory, for problems
   * @param parent the directory for the hidden files
   * @param name the base of their names
   */
  ConfigFiles(Path place, Path parent, String name) {
    this.place = place;
    this.lockFile = parent.resolve("." + name + ".lock");
    this.historyFile = parent.resolve("." + name + ".history.jsonl");
  }

  /** Reads the current text again. */
  interface Reading {
    Text fetch() throws Unavailable, InterruptedException;
  }

  synchronized boolean write(
      Reading reading, Text expected, SortedMap<String, Optional<byte[]>> documents)
      throws Unavailable, InterruptedException {
    try (FileChannel channel =
            FileChannel.open(lockFile, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        FileLock lock = channel.lock()) {
      if (!lock.isValid() || !reading.fetch().hash().equals(expected.hash())) {
        return false;
      }
      Map<Path, Path> fresh = new LinkedHashMap<>();
      for (Map.Entry<String, Optional<byte[]>> document : documents.entrySet()) {
        if (document.getValue().isPresent()) {
          Path file = target(Path.of(document.getKey()));
          fresh.put(file, written(file, document.getValue().get()));
        }
      }
      for (Map.Entry<Path, Path> file : fresh.entrySet()) {
        Files.move(
            file.getValue(),
            file.getKey(),
            StandardCopyOption.ATOMIC_MOVE,
            StandardCopyOption.REPLACE_EXISTING);
        AtomicFiles.syncEntry(file.getKey());
      }
      for (Map.Entry<String, Optional<byte[]>> document : documents.entrySet()) {
        if (document.getValue().isEmpty()) {
          Path file = Path.of(document.getKey());
          Files.deleteIfExists(file);
          AtomicFiles.syncEntry(file);
        }
      }
      return true;
    } catch (OverlappingFileLockException e) {
      // Another source in this process has the lock; the caller reads again.
      return false;
    } catch (IOException e) {
      throw unavailable(e);
    }
  }

  /** Returns the file to replace: a symbolic link keeps its target. */
  private static Path target(Path named) throws IOException {
    return Files.exists(named) ? named.toRealPath() : named;
  }

  /** Writes what is to replace a file, with its permissions, next to it. */
  private static Path written(Path file, byte[] bytes) throws IOException {
    Path fresh = file.resolveSibling("." + file.getFileName() + ".new");
    try (FileChannel out =
        FileChannel.open(
            fresh,
            StandardOpenOption.CREATE,
            StandardOpenOption.TRUNCATE_EXISTING,
            StandardOpenOption.WRITE)) {
      written(out, bytes);
      out.force(true);
    }
    if (Files.exists(file)) {
      Set<PosixFilePermission> permissions = Files.getPosixFilePermissions(file);
      Files.setPosixFilePermissions(fresh, permissions);
    }
    return fresh;
  }

  synchronized void remember(List<JobVersion> versions) throws Unavailable {
    ByteArrayOutputStream lines = new ByteArrayOutputStream();
    for (JobVersion version : versions) {
      lines.writeBytes(JobVersionText.write(version));
      lines.write('\n');
    }
    try (FileChannel out =
        FileChannel.open(
            historyFile,
            StandardOpenOption.CREATE,
            StandardOpenOption.WRITE,
            StandardOpenOption.APPEND)) {
      if (endsWithinLine(historyFile)) {
        written(out, new byte[] {'\n'});
      }
      written(out, lines.toByteArray());
      out.force(true);
    } catch (IOException e) {
      throw unavailable(e);
    }
  }

  private static void written(FileChannel out, byte[] bytes) throws IOException {
    ByteBuffer left = ByteBuffer.wrap(bytes);
    while (left.hasRemaining()) {
      out.write(left);
    }
  }

  /** Returns whether a crash, or a full disk, has cut the last line. */
  private static boolean endsWithinLine(Path file) throws IOException {
    try (FileChannel in = FileChannel.open(file, StandardOpenOption.READ)) {
      ByteBuffer last = ByteBuffer.allocate(1);
      return in.size() > 0 && in.read(last, in.size() - 1) == 1 && last.get(0) != '\n';
    }
  }

  /** Reads the file once: it has the versions of all jobs. */
  synchronized Map<String, List<JobVersion>> histories(Collection<String> jobs) throws Unavailable {
    Map<String, List<JobVersion>> versions = new HashMap<>();
    jobs.forEach(job -> versions.put(job, new ArrayList<>()));
    try {
      for (String line : Files.readAllLines(historyFile)) {
        // A crash may have truncated the last line.
        if (JsonReader.parse(line).value() instanceof Json.Obj object) {
          String job = text(object, "job");
          List<JobVersion> ofJob = versions.get(job);
          if (ofJob != null) {
            ofJob.add(
                new JobVersion(
                    job,
                    number(object, "version"),
                    number(object, "at_ms"),
                    text(object, "author"),
                    text(object, "reason"),
                    object.get("config") instanceof Json.Obj config ? config : null));
          }
        }
      }
    } catch (NoSuchFileException e) {
      return versions;
    } catch (IOException e) {
      throw unavailable(e);
    }
    return versions;
  }

  private static String text(Json.Obj object, String key) {
    return object.get(key) instanceof Json.Str string ? string.value() : "";
  }

  private static long number(Json.Obj object, String key) {
    return object.get(key) instanceof Json.Num number ? number.value().longValue() : 0;
  }

  private Unavailable unavailable(IOException e) {
    String reason = e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
    return FileReading.unavailable(
        place, "this cannot be written: " + reason, "look at its permissions");
  }
}
