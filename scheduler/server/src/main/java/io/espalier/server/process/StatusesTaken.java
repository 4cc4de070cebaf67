package io.espalier.server.process;

import io.espalier.core.running.Invocation;
import io.espalier.core.status.Batch;
import io.espalier.core.status.StatusRow;
import io.espalier.core.status.StatusStore;
import io.espalier.core.status.TaskStatus;
import io.espalier.json.JsonReader;
import io.espalier.server.exit.CommandFailure;
import io.espalier.server.exit.ExitCode;
import io.espalier.server.store.DataDirectory;
import io.espalier.server.store.DataDirectoryException;
import io.espalier.server.store.SqliteStatusStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes over the statuses of schedulers that had divided the nodes in another way ({@code
 * --statuses-from}). Of a task that several know, and this scheduler too, the newest status counts,
 * so that it can be done again. Histories stay where they are.
 */
final class StatusesTaken {
  private static final Logger LOG = LoggerFactory.getLogger(StatusesTaken.class);
  private static final int ROWS_PER_COMMIT = 5_000;

  private final StatusStore into;
  private final long epoch;
  private long taken;

  private StatusesTaken(StatusStore into, long epoch) {
    this.into = into;
    this.epoch = epoch;
  }

  /**
   * @param configUri to which they must belong
   * @throws CommandFailure when one cannot be had: it is in use, belongs to another configuration,
   *     or its last scheduler did not see the end of its tasks
   */
  static void take(List<Path> directories, String configUri, StatusStore into, long epoch) {
    for (Path directory : directories) {
      StatusesTaken taking = new StatusesTaken(into, epoch);
      taking.from(directory, configUri);
      LOG.info("took {} statuses from {}", taking.taken, directory);
    }
  }

  private void from(Path directory, String configUri) {
    String source = DataDirectory.sourceOf(directory);
    if (source == null || !DataOwner.parse(source).configUri().equals(configUri)) {
      throw refused(
          directory,
          source == null
              ? "is no data directory"
              : "belongs to " + source + ", not to " + configUri);
    }
    // Locked, so that nobody writes to it and no task of it starts.
    try (DataDirectory other = DataDirectory.open(directory, source)) {
      if (!Files.exists(other.statusFile())) {
        throw refused(directory, "has no statuses in a file: they can be taken from SQLite only");
      }
      try (SqliteStatusStore store =
          SqliteStatusStore.open(other.statusFile(), JsonReader::parse)) {
        Map<String, Long> incarnations = store.incarnations();
        for (String job : store.jobs()) {
          rows(directory, store, job, incarnations.getOrDefault(job, 0L));
        }
      }
    } catch (DataDirectoryException e) {
      throw new CommandFailure(ExitCode.USAGE, "--statuses-from: " + e.getMessage(), e);
    }
  }

  private void rows(Path directory, SqliteStatusStore store, String job, long incarnation) {
    Map<String, Long> known = new HashMap<>();
    into.load(job, row -> known.put(row.node(), row.status().sinceMillis()));
    List<StatusRow> rows = new ArrayList<>();
    store.load(
        job,
        row -> {
          if (row.status().main() == TaskStatus.Main.RUNNING) {
            throw refused(
                directory,
                "says that "
                    + job
                    + " is running on "
                    + row.node()
                    + ": start its scheduler once more as it was, and stop it when its tasks ended");
          }
          if (row.status().sinceMillis() > known.getOrDefault(row.node(), Long.MIN_VALUE)) {
            Invocation last = new Invocation(epoch, 0, row.invocation().startMillis());
            rows.add(new StatusRow(job, row.node(), row.status(), last));
          }
        });
    for (int at = 0; at < rows.size(); at += ROWS_PER_COMMIT) {
      Batch.Builder batch = Batch.builder();
      rows.subList(at, Math.min(rows.size(), at + ROWS_PER_COMMIT)).forEach(batch::put);
      if (incarnation != 0) {
        batch.incarnation(job, incarnation);
      }
      into.commit(epoch, batch.build());
    }
    taken += rows.size();
  }

  private static CommandFailure refused(Path directory, String why) {
    return new CommandFailure(ExitCode.USAGE, "--statuses-from: " + directory + " " + why);
  }
}
