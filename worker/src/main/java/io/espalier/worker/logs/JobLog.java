package io.espalier.worker.logs;

import io.espalier.core.logs.LogLine;
import io.espalier.core.logs.LogQuery;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The lines of one job: segments, oldest first, then lines that are in memory. Guarded by the lock
 * of the store; only what touches files runs without it, and that on one thread at a time.
 */
final class JobLog {
  private static final Logger log = LoggerFactory.getLogger(JobLog.class);
  private static final String NAME_FILE = "job";

  private final String job;
  private final Path directory;
  private final List<Segment> segments = new ArrayList<>();
  private List<LogLine> open = new ArrayList<>();
  private long openBytes;
  private long keptSince;

  /** What a query reads: nothing of it changes, but segments may be deleted meanwhile. */
  record View(String job, List<Part> parts, List<LogLine> open, long keptSince) {}

  /**
   * A segment as far as it was when the query began.
   *
   * @param lastId what follows was in memory then
   */
  record Part(Segment segment, long lastId) {}

  JobLog(String job, Path directory) {
    this.job = job;
    this.directory = directory;
  }

  /** The log in a directory, or null when there is none. */
  static @Nullable JobLog load(Path directory) throws IOException {
    Path nameFile = directory.resolve(NAME_FILE);
    if (!Files.isRegularFile(nameFile)) {
      return null;
    }
    JobLog found = new JobLog(Files.readString(nameFile), directory);
    try (DirectoryStream<Path> files = Files.newDirectoryStream(directory)) {
      for (Path file : files) {
        Segment segment = Segment.open(file);
        if (segment != null && segment.lastId() >= segment.firstId()) {
          found.segments.add(segment);
        }
      }
    }
    found.segments.sort(Comparator.comparingLong(Segment::firstId));
    return found;
  }

  String job() {
    return job;
  }

  void add(LogLine line, int bytes) {
    open.add(line);
    openBytes += bytes;
  }

  long openBytes() {
    return openBytes;
  }

  List<LogLine> openLines() {
    return List.copyOf(open);
  }

  /** Those in memory up to an id. */
  List<LogLine> openLines(long lastId) {
    return List.copyOf(open.subList(0, firstFrom(lastId + 1)));
  }

  List<Segment> segments() {
    return List.copyOf(segments);
  }

  boolean isEmpty() {
    return open.isEmpty() && segments.isEmpty();
  }

  /** The last id that is in a file; 0: none. */
  long lastStoredId() {
    return segments.isEmpty() ? 0 : segments.get(segments.size() - 1).lastId();
  }

  /** The last id there is; 0: none. */
  long lastId() {
    return open.isEmpty() ? lastStoredId() : open.get(open.size() - 1).id();
  }

  /** Where the next block goes. */
  Segment target(long firstId) {
    if (!segments.isEmpty()) {
      Segment last = segments.get(segments.size() - 1);
      if (!last.isSealed()) {
        return last;
      }
    }
    return Segment.create(directory, firstId);
  }

  /** Makes the directory; without the lock. */
  void makeDirectory() throws IOException {
    Path nameFile = directory.resolve(NAME_FILE);
    if (!Files.exists(nameFile)) {
      Files.createDirectories(directory);
      Files.write(nameFile, job.getBytes(StandardCharsets.UTF_8));
    }
  }

  /** Deletes the directory, if nothing is in it; without the lock. */
  void removeDirectory() throws IOException {
    Files.deleteIfExists(directory.resolve(NAME_FILE));
    try (DirectoryStream<Path> rest = Files.newDirectoryStream(directory, "*.open")) {
      // What was torn beyond use when it was opened.
      for (Path file : rest) {
        Files.deleteIfExists(file);
      }
    } catch (java.nio.file.NoSuchFileException e) {
      return;
    }
    try {
      Files.deleteIfExists(directory);
    } catch (java.nio.file.DirectoryNotEmptyException e) {
      log.info("{} holds files that are none of ours", directory);
    }
  }

  /**
   * The first lines in memory are in a block now.
   *
   * @return bytes of memory that they took
   */
  long stored(Segment segment, Block block, int lines) {
    segment.publish(block);
    if (!segments.contains(segment)) {
      segments.add(segment);
    }
    return forgetFirst(lines);
  }

  private long forgetFirst(int lines) {
    long before = openBytes;
    open = new ArrayList<>(open.subList(lines, open.size()));
    openBytes = open.stream().mapToLong(JobLogTable::sizeOf).sum();
    return before - openBytes;
  }

  void remove(Segment segment) {
    segments.remove(segment);
  }

  /**
   * Lines before this time are gone from now on, wherever they are.
   *
   * @return bytes of memory that they took
   */
  long keepSince(long millis) {
    keptSince = Math.max(keptSince, millis);
    int gone = 0;
    while (gone < open.size() && open.get(gone).timeMillis() < keptSince) {
      gone++;
    }
    return gone == 0 ? 0 : forgetFirst(gone);
  }

  View view(LogQuery query) {
    List<Part> parts = new ArrayList<>();
    for (Segment segment : segments) {
      long last = segment.lastId();
      boolean reached =
          query.from() < 0
              || (query.ascending() ? last >= query.from() : segment.firstId() <= query.from());
      if (reached && segment.maxTime() >= Math.max(keptSince, query.sinceMillis())) {
        parts.add(new Part(segment, last));
      }
    }
    List<LogLine> lines = new ArrayList<>();
    int begin = query.ascending() && query.from() >= 0 ? firstFrom(query.from()) : 0;
    for (LogLine line : open.subList(begin, open.size())) {
      if (query.wants(line) && line.timeMillis() >= keptSince) {
        lines.add(line);
      }
    }
    return new View(job, parts, lines, keptSince);
  }

  /** The place of the first line with this id or a later one. */
  private int firstFrom(long id) {
    int low = 0;
    int high = open.size();
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (open.get(middle).id() < id) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
}
