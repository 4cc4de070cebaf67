package io.espalier.server.store.archive;

import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import io.espalier.core.running.Counters;
import io.espalier.core.status.Attempt;
import io.espalier.core.status.StatusLabel;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.store.StatusRow;
import io.espalier.core.status.store.StatusStore;
import io.espalier.core.status.store.TaskHistory;
import io.espalier.core.status.store.TaskTotals;
import io.espalier.worker.files.AtomicFiles;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A directory of files with the statuses of jobs that expired: for each of them one file of JSON
 * lines, compressed (docs/stores.md#finished-jobs). The name of a file follows from the job and
 * from when it was removed, so a file that is written again after a crash replaces the first one.
 *
 * <p>All of them together take at most a number of bytes; beyond it, the oldest are deleted. Not
 * thread-safe.
 */
public final class StatusArchive {
  static final String FORMAT = "espalier_archive";
  static final int VERSION = 1;

  /** The most bytes of all files: the statuses of some hundred million tasks. */
  public static final long MOST_BYTES = 4L << 30;

  private static final String SUFFIX = ".jsonl.gz";
  private static final int ROWS_PER_QUERY = 500;
  private static final Logger LOG = LoggerFactory.getLogger(StatusArchive.class);

  private final Path directory;
  private final long mostBytes;

  /**
   * @param directory exists, and is private
   * @param mostBytes the most bytes of all files; the newest file stays in any case
   */
  public StatusArchive(Path directory, long mostBytes) {
    this.directory = directory;
    this.mostBytes = mostBytes;
  }

  /** Says that a job has tasks that run or have changed lately. */
  private static final class Changing extends RuntimeException {
    private static final long serialVersionUID = 1;
  }

  /**
   * Writes the statuses and the histories of a job to a file, which is durable on return.
   *
   * @param absentMillis since when the job has not been configured, epoch milliseconds
   * @param changedBeforeMillis tasks must have changed before this time, epoch milliseconds
   * @return the file; empty when tasks run, or have changed later than that
   * @throws IOException when the file cannot be written; there is no half of a file then
   */
  public Optional<Path> write(
      StatusStore store, String job, long absentMillis, long changedBeforeMillis)
      throws IOException {
    Path file = directory.resolve(name(job, absentMillis));
    Path fresh = directory.resolve(file.getFileName() + ".new");
    try {
      try (Writer out =
          new BufferedWriter(
              new OutputStreamWriter(
                  new GZIPOutputStream(Files.newOutputStream(fresh)), StandardCharsets.UTF_8))) {
        new Lines(out, store, job, changedBeforeMillis).write(absentMillis);
      } catch (UncheckedIOException e) {
        throw e.getCause();
      } catch (Changing e) {
        return Optional.empty();
      }
      AtomicFiles.move(fresh, file);
    } finally {
      Files.deleteIfExists(fresh);
    }
    return Optional.of(file);
  }

  /** Deletes the oldest files until the rest fits, but not this one. */
  public void trim(Path newest) throws IOException {
    List<Path> files = new ArrayList<>();
    try (Stream<Path> all = Files.list(directory)) {
      all.filter(file -> file.getFileName().toString().endsWith(SUFFIX)).forEach(files::add);
    }
    long bytes = 0;
    List<Dated> dated = new ArrayList<>();
    for (Path file : files) {
      long size = Files.size(file);
      bytes += size;
      dated.add(new Dated(file, Files.getLastModifiedTime(file), size));
    }
    dated.sort(Comparator.comparing(Dated::written).thenComparing(Dated::file));
    for (Dated oldest : dated) {
      if (bytes <= mostBytes) {
        return;
      }
      if (!oldest.file.equals(newest)) {
        Files.delete(oldest.file);
        bytes -= oldest.size;
        LOG.warn(
            "archive {}: it would be larger than {} bytes, so the oldest file is deleted",
            oldest.file,
            mostBytes);
      }
    }
  }

  private record Dated(Path file, FileTime written, long size) {}

  /** Names of jobs are foreign text, so that of the file is made of a hash. */
  private static String name(String job, long absentMillis) {
    UUID hash = UUID.nameUUIDFromBytes((absentMillis + " " + job).getBytes(StandardCharsets.UTF_8));
    return Instant.ofEpochMilli(absentMillis).atZone(ZoneOffset.UTC).toLocalDate()
        + "-"
        + hash
        + SUFFIX;
  }

  /** Writes the lines of one file. */
  private static final class Lines {
    private final Writer out;
    private final StatusStore store;
    private final String job;
    private final long changedBeforeMillis;
    private long tasks;

    Lines(Writer out, StatusStore store, String job, long changedBeforeMillis) {
      this.out = out;
      this.store = store;
      this.job = job;
      this.changedBeforeMillis = changedBeforeMillis;
    }

    void write(long absentMillis) {
      line(
          Json.object()
              .put(FORMAT, VERSION)
              .put("job", job)
              .put("create_time", store.incarnations().getOrDefault(job, 0L))
              .put("absent_since_ms", absentMillis)
              .build());
      String last = "";
      List<StatusRow> some = store.load(job, last, ROWS_PER_QUERY);
      while (!some.isEmpty()) {
        Map<String, TaskHistory> histories =
            store.histories(job, some.stream().map(StatusRow::node).toList());
        for (StatusRow row : some) {
          if (row.status().main() == TaskStatus.Main.RUNNING
              || row.status().sinceMillis() >= changedBeforeMillis) {
            throw new Changing();
          }
          task(row, histories.getOrDefault(row.node(), TaskHistory.EMPTY));
          last = row.node();
        }
        some = store.load(job, last, ROWS_PER_QUERY);
      }
      line(Json.object().put("tasks", tasks).build());
    }

    private void task(StatusRow row, TaskHistory history) {
      Json.Builder line = ArchivedStatusLine.of(row);
      TaskTotals totals = history.totals();
      if (totals.ended() > 0) {
        line.put("ended", totals.ended())
            .put("cpu_ms", totals.cpuMillis())
            .put("ran_ms", totals.ranMillis())
            .put("waited_ms", totals.waitedMillis());
        counters(line, totals.counters());
        line.put("history", new Json.Arr(history.attempts().stream().map(Lines::attempt).toList()));
      }
      line(line.build());
      tasks++;
    }

    private static Json attempt(Attempt attempt) {
      Json.Builder json =
          Json.object()
              .put("attempt", attempt.number())
              .put("invocation", attempt.invocation().token())
              .put("worker", attempt.worker().shard())
              .put("started_at_ms", attempt.invocation().startMillis())
              .put("ended_at_ms", attempt.endedAtMillis())
              .put("status", StatusLabel.of(attempt.bits()).word());
      if (attempt.exitCode() != null) {
        json.put("exit_code", attempt.exitCode());
      }
      if (attempt.signal() != null) {
        json.put("signal", attempt.signal());
      }
      if (!attempt.message().isEmpty()) {
        json.put("message", attempt.message());
      }
      if (!attempt.step().isEmpty()) {
        json.put("step", attempt.step());
      }
      counters(json, attempt.counters());
      return json.build();
    }

    private static void counters(Json.Builder json, Counters counters) {
      if (!counters.isEmpty()) {
        json.put("count", counters.json());
      }
    }

    private void line(Json.Obj line) {
      try {
        out.write(JsonWriter.compact(line));
        out.write('\n');
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
