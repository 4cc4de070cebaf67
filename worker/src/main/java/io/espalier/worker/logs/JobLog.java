package io.espalier.worker.logs;

import io.espalier.core.logs.LogLine;
import io.espalier.core.logs.LogQuery;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The log of one job: segments, oldest first, followed by lines in memory. Guarded by the lock of
 * the store, except for file operations, which run without it on one thread at a time.
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

  /**
   * The snapshot that a query reads. It does not change, but its segments may be deleted meanwhile.
   */
  record View(String job, List<Part> parts, List<LogLine> open, long keptSince) {}

  /**
   * The part of a segment that existed when the query began.
   *
   * @param lastId id of its last line; later lines were in memory then
   */
  record Part(Segment segment, long lastId) {}

  JobLog(String job, Path directory) {
    this.job = job;
    this.directory = directory;
  }

  /** Loads the log from a directory; null when the directory has none. */
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

  /** Returns the lines in memory up to an id. */
  List<LogLine> openLines(long lastId) {
    return List.copyOf(open.subList(0, firstFrom(lastId + 1)));
  }

  List<Segment> segments() {
    return List.copyOf(segments);
  }

  boolean isEmpty() {
    return open.isEmpty() && segments.isEmpty();
  }

  /** Returns the last id that is stored in a file; 0: none. */
  long lastStoredId() {
    return segments.isEmpty() ? 0 : segments.get(segments.size() - 1).lastId();
  }

  /** Returns the last id; 0: none. */
  long lastId() {
    return open.isEmpty() ? lastStoredId() : open.get(open.size() - 1).id();
  }

  /** Returns the segment for the next block. */
  Segment target(long firstId) {
    if (!segments.isEmpty()) {
      Segment last = segments.get(segments.size() - 1);
      if (!last.isSealed()) {
        return last;
      }
    }
    return Segment.create(directory, firstId);
  }

  /** Creates the directory; call without the lock. */
  void makeDirectory() throws IOException {
    Path nameFile = directory.resolve(NAME_FILE);
    if (!Files.exists(nameFile)) {
      Files.createDirectories(directory);
      Files.write(nameFile, job.getBytes(StandardCharsets.UTF_8));
    }
  }

  /** Deletes the directory if it is empty; call without the lock. */
  void removeDirectory() throws IOException {
    Files.deleteIfExists(directory.resolve(NAME_FILE));
    try (DirectoryStream<Path> rest = Files.newDirectoryStream(directory, "*.open")) {
      // Files that were damaged beyond use when they were opened.
      for (Path file : rest) {
        Files.deleteIfExists(file);
      }
    } catch (NoSuchFileException e) {
      return;
    }
    try {
      Files.deleteIfExists(directory);
    } catch (DirectoryNotEmptyException e) {
      log.info("{} contains files that are none of ours", directory);
    }
  }

  /**
   * Removes the first lines from memory, because a block contains them now.
   *
   * @return bytes of memory that they occupied
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
   * Hides all lines before this time from now on, in files and in memory.
   *
   * @return bytes of memory that they occupied
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

  /** Returns the index of the first line with this id or a later one. */
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
