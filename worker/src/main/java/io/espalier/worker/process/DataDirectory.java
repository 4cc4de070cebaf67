package io.espalier.worker.process;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A data directory that was taken over: locked, and nothing of an earlier run is alive. */
record DataDirectory(Journal journal, Recovery recovery) {
  private static final Logger log = LoggerFactory.getLogger(DataDirectory.class);
  private static final Duration SURVIVORS_BOUND = Duration.ofSeconds(10);

  /**
   * @throws IOException naming the path, when it cannot be used, another process uses it, or a
   *     survivor could not be verified to be gone
   */
  static DataDirectory takeOver(Path directory) throws IOException {
    Path running = directory.resolve("running").toAbsolutePath();
    Journal journal;
    try {
      Path jobs = Files.createDirectories(directory.resolve("jobs"));
      if (ProcFs.effectiveUid() == 0) {
        // Tasks of other users must reach their own directory in it, and see no other.
        Files.setPosixFilePermissions(jobs, PosixFilePermissions.fromString("rwx--x--x"));
      }
      journal = Journal.lock(running);
    } catch (IOException e) {
      throw new IOException(
          "cannot use the data directory " + directory + ": " + e.getMessage(), e);
    }
    boolean taken = false;
    try {
      Recovery recovery = Survivors.killAll(journal.left(), SURVIVORS_BOUND);
      if (recovery.killedProcesses() > 0) {
        log.warn(
            "killed {} processes of tasks that an earlier run had left behind",
            recovery.killedProcesses());
      }
      removeOldFiles(running);
      journal.begin();
      taken = true;
      return new DataDirectory(journal, recovery);
    } finally {
      if (!taken) {
        journal.close();
      }
    }
  }

  private static void removeOldFiles(Path running) throws IOException {
    try (DirectoryStream<Path> files = Files.newDirectoryStream(running, "*.{json,status,mark}")) {
      for (Path file : files) {
        Files.deleteIfExists(file);
      }
    }
  }
}
