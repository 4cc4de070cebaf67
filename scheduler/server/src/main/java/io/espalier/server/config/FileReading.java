package io.espalier.server.config;

import io.espalier.core.config.source.ConfigSource.Document;
import io.espalier.core.config.source.ConfigSource.Text;
import io.espalier.core.config.source.ConfigSource.Unavailable;
import io.espalier.json.JsonReader;
import io.espalier.server.config.yaml.YamlText;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reads files until two readings in a row agree. The file and the directory source share it. Not
 * thread-safe.
 */
final class FileReading {
  private static final int TRIES = 20;

  /** A change this shortly before a reading may have left the same stamp as one after it. */
  private static final long STAMP_DOUBT_MILLIS = 2000;

  /** The time for which stamps are trusted; remote file systems can be wrong about them. */
  private static final long STAMP_TRUST_MILLIS = 10_000;

  /** The maximum number of files to which documents may refer. */
  private static final int MOST_REFERRED = 1000;

  private final Path place;
  private final Listing listing;
  private final InstantSource clock;

  private List<FileStamp> stamps = List.of();
  private @Nullable Text last;
  private long readAt;

  /** Lists the files of the configuration. */
  interface Listing {
    List<Path> files() throws IOException;
  }

  /**
   * Creates a reading of the listed files.
   *
   * @param place for problems
   */
  FileReading(Path place, Listing listing) {
    this(place, listing, InstantSource.system());
  }

  FileReading(Path place, Listing listing, InstantSource clock) {
    this.place = place;
    this.listing = listing;
    this.clock = clock;
  }

  /**
   * Returns the current text. Two readings that differ reveal a file that is being written; the
   * poller, which waits for the text to settle, detects slower writes.
   */
  Text fetch() throws Unavailable, InterruptedException {
    try {
      long now = clock.millis();
      Text known = last;
      List<FileStamp> found = FileStamp.of(withReferred(listing.files(), known));
      if (known != null && found.equals(stamps) && stampsTell(found, now)) {
        return known;
      }
      last = null;
      Text text = readUntilStable();
      stamps =
          text.referred().isEmpty() ? found : FileStamp.of(withReferred(listing.files(), text));
      readAt = now;
      last = text;
      return text;
    } catch (IOException e) {
      throw unavailable(place, e);
    }
  }

  /** Returns true when equal stamps imply equal content. */
  private boolean stampsTell(List<FileStamp> found, long now) {
    return !found.isEmpty()
        && now - readAt < STAMP_TRUST_MILLIS
        && found.stream().allMatch(stamp -> stamp.changedBefore(readAt - STAMP_DOUBT_MILLIS));
  }

  private Text readUntilStable() throws IOException, Unavailable, InterruptedException {
    List<Path> files = listing.files();
    Text before = text(files);
    if (files.stream().anyMatch(file -> Files.exists(file) && !Files.isRegularFile(file))) {
      // A pipe, as in "validate <(command)", can be read only once.
      return before;
    }
    for (int i = 0; i < TRIES; i++) {
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
      Text again = text(listing.files());
      if (again.hash().equals(before.hash())) {
        return again;
      }
      before = again;
    }
    throw unavailable(place, "the text changes faster than it can be read", null);
  }

  /** Returns the content, or just enough of it to show that the file is too large. */
  private static byte[] bytes(Path file) throws IOException {
    try (InputStream in = Files.newInputStream(file)) {
      return in.readNBytes(JsonReader.MAX_CONFIG_BYTES + 1);
    }
  }

  private static Text text(List<Path> files) throws IOException {
    List<Document> documents = new ArrayList<>();
    for (Path file : files) {
      documents.add(new Document(file.toString(), bytes(file)));
    }
    return ConfigText.of(documents, referred(documents));
  }

  /** Reads the files to which documents refer, and to which those do in turn, as far as there. */
  private static List<Document> referred(List<Document> documents) throws IOException {
    Map<String, Document> known = new LinkedHashMap<>();
    documents.forEach(document -> known.put(document.name(), document));
    Deque<Document> open = new ArrayDeque<>(documents);
    while (!open.isEmpty() && known.size() < documents.size() + MOST_REFERRED) {
      for (String name : YamlText.references(open.remove())) {
        Path file = path(name);
        if (file != null
            && !known.containsKey(name)
            && Files.isRegularFile(file)
            && Files.isReadable(file)) {
          Document document = new Document(name, bytes(file));
          known.put(name, document);
          open.add(document);
        }
      }
    }
    return known.values().stream().skip(documents.size()).toList();
  }

  /** Returns null for a text that is no name of a file; what refers to it is told so later. */
  private static @Nullable Path path(String name) {
    try {
      return Path.of(name);
    } catch (InvalidPathException e) {
      return null;
    }
  }

  /** Adds the files that were referred to when they were last read, if they are still there. */
  private static List<Path> withReferred(List<Path> files, @Nullable Text text) {
    if (text == null || text.referred().isEmpty()) {
      return files;
    }
    List<Path> all = new ArrayList<>(files);
    text.referred().stream()
        .map(document -> Path.of(document.name()))
        .filter(Files::exists)
        .forEach(all::add);
    return all;
  }

  static Unavailable unavailable(Path place, IOException e) {
    if (e instanceof NoSuchFileException) {
      return unavailable(place, "there is no such file or directory", null);
    }
    if (e instanceof AccessDeniedException) {
      return unavailable(place, "this may not be read", "look at its permissions");
    }
    String reason = e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
    return unavailable(place, "this cannot be read: " + reason, null);
  }

  static Unavailable unavailable(Path place, String message, @Nullable String hint) {
    return ConfigText.unavailable(place.toString(), message, hint);
  }
}
