package io.espalier.webui.security;

import io.espalier.core.json.JsonWriter;
import io.espalier.json.JsonReader;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Stores the audit log in {@code audit.jsonl}, one object per line; older entries are in {@code
 * audit.1.jsonl} (the newest of them) and so on. Concurrent entries share one sync. One thread does
 * all input and output.
 */
public final class FileAuditLog implements AuditLog {
  private static final Logger LOG = LoggerFactory.getLogger(FileAuditLog.class);
  private static final int CHUNK = 64 * 1024;

  private final Path directory;
  private final long fileBytes;
  private final int files;
  private final ConcurrentLinkedQueue<Waiting> queue = new ConcurrentLinkedQueue<>();
  private final ExecutorService writer =
      Executors.newSingleThreadExecutor(
          work -> {
            Thread thread = new Thread(work, "audit");
            thread.setDaemon(true);
            return thread;
          });
  private @Nullable FileChannel out;
  private long last;
  private volatile @Nullable String problem;

  private record Waiting(AuditEntry entry, CompletableFuture<Void> written) {}

  private FileAuditLog(Path directory, long fileBytes, int files) {
    this.directory = directory;
    this.fileBytes = fileBytes;
    this.files = files;
  }

  /**
   * Opens a new or existing log.
   *
   * @param directory exists, and is used only by this process
   * @param fileBytes size above which a file is rotated
   * @param files number of kept files, 1 or more, including the current one
   */
  public static FileAuditLog open(Path directory, long fileBytes, int files) throws IOException {
    FileAuditLog log = new FileAuditLog(directory, fileBytes, files);
    for (int age = 0; age < files && log.last == 0; age++) {
      List<AuditEntry> newest = new ArrayList<>();
      log.readBack(log.file(age), Long.MAX_VALUE, 1, newest);
      log.last = newest.isEmpty() ? 0 : newest.get(0).id();
    }
    log.out = log.writable();
    return log;
  }

  @Override
  public CompletionStage<Void> append(AuditEntry entry) {
    Waiting waiting = new Waiting(entry, new CompletableFuture<>());
    queue.add(waiting);
    try {
      writer.execute(this::writeAll);
    } catch (RejectedExecutionException e) {
      waiting.written().completeExceptionally(new IOException("the audit log is closed", e));
    }
    return waiting.written();
  }

  @Override
  public CompletionStage<List<AuditEntry>> before(long id, int limit) {
    try {
      return CompletableFuture.supplyAsync(() -> read(id, limit), writer);
    } catch (RejectedExecutionException e) {
      return CompletableFuture.failedFuture(new IOException("the audit log is closed", e));
    }
  }

  @Override
  public Optional<String> problem() {
    return Optional.ofNullable(problem);
  }

  @Override
  public void close() {
    writer.shutdown();
    try {
      if (!writer.awaitTermination(10, TimeUnit.SECONDS)) {
        LOG.warn("the audit log could not be closed in time");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private Path file(int age) {
    return directory.resolve(age == 0 ? "audit.jsonl" : "audit." + age + ".jsonl");
  }

  // ---- writing

  private void writeAll() {
    List<Waiting> batch = new ArrayList<>();
    StringBuilder text = new StringBuilder();
    long id = last;
    for (Waiting next = queue.poll(); next != null; next = queue.poll()) {
      batch.add(next);
      line(next.entry().withId(++id), text);
    }
    if (batch.isEmpty()) {
      return;
    }
    // Also after a failed write: part of it may be in the file.
    last = id;
    try {
      FileChannel to = out == null ? writable() : out;
      out = to;
      ByteBuffer bytes = ByteBuffer.wrap(text.toString().getBytes(StandardCharsets.UTF_8));
      while (bytes.hasRemaining()) {
        to.write(bytes);
      }
      to.force(false);
      if (to.size() > fileBytes) {
        rotate(to);
      }
      problem = null;
      batch.forEach(waiting -> waiting.written().complete(null));
    } catch (IOException e) {
      problem = "the audit log cannot be written: " + e.getMessage();
      closeQuietly();
      batch.forEach(waiting -> waiting.written().completeExceptionally(e));
    }
  }

  /**
   * Writes one line, whatever the entry contains, without characters that a terminal would
   * interpret.
   */
  private static void line(AuditEntry entry, StringBuilder out) {
    String json = JsonWriter.compact(entry.toJson());
    for (int i = 0; i < json.length(); i++) {
      char c = json.charAt(i);
      int type = Character.getType(c);
      if (type == Character.CONTROL || type == Character.FORMAT) {
        // Such characters occur only within strings: the punctuation of JSON contains none.
        out.append(String.format("\\u%04x", (int) c));
      } else {
        out.append(c);
      }
    }
    out.append('\n');
  }

  /** Opens the file for appending after a complete line. Only the owner may read it. */
  private FileChannel writable() throws IOException {
    Path path = file(0);
    FileAttribute<?>[] owner =
        path.getFileSystem().supportedFileAttributeViews().contains("posix")
            ? new FileAttribute<?>[] {
              PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"))
            }
            : new FileAttribute<?>[0];
    FileChannel channel =
        FileChannel.open(
            path,
            Set.copyOf(EnumSet.of(StandardOpenOption.CREATE, StandardOpenOption.APPEND)),
            owner);
    try {
      if (channel.size() > 0 && !endsWithLine(path)) {
        // A crash truncated the last line; reading skips the rest of it.
        channel.write(ByteBuffer.wrap(new byte[] {'\n'}));
      }
      return channel;
    } catch (IOException e) {
      channel.close();
      throw e;
    }
  }

  private static boolean endsWithLine(Path path) throws IOException {
    try (RandomAccessFile in = new RandomAccessFile(path.toFile(), "r")) {
      in.seek(in.length() - 1);
      return in.read() == '\n';
    }
  }

  private void rotate(FileChannel full) throws IOException {
    full.close();
    out = null;
    for (int age = files - 1; age > 0; age--) {
      if (Files.exists(file(age - 1))) {
        Files.move(file(age - 1), file(age), StandardCopyOption.REPLACE_EXISTING);
      }
    }
    if (files == 1) {
      Files.delete(file(0));
    }
  }

  private void closeQuietly() {
    try {
      if (out != null) {
        out.close();
      }
    } catch (IOException e) {
      LOG.debug("closing the audit log", e);
    }
    out = null;
  }

  // ---- reading

  private List<AuditEntry> read(long below, int limit) {
    List<AuditEntry> found = new ArrayList<>();
    try {
      for (int age = 0; age < files && found.size() < limit; age++) {
        readBack(file(age), below, limit, found);
      }
      return found;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Adds the entries of one file, from its end. */
  private void readBack(Path path, long below, int limit, List<AuditEntry> found)
      throws IOException {
    if (!Files.exists(path)) {
      return;
    }
    try (RandomAccessFile in = new RandomAccessFile(path.toFile(), "r")) {
      long at = in.length();
      // The beginning of a line whose end was already read.
      byte[] rest = new byte[0];
      while (at > 0 && found.size() < limit) {
        int size = (int) Math.min(CHUNK, at);
        at -= size;
        byte[] bytes = new byte[size + rest.length];
        in.seek(at);
        in.readFully(bytes, 0, size);
        System.arraycopy(rest, 0, bytes, size, rest.length);
        int end = bytes.length;
        for (int i = bytes.length - 1; i >= 0 && found.size() < limit; i--) {
          if (bytes[i] == '\n') {
            take(bytes, i + 1, end, below, found);
            end = i;
          }
        }
        rest = Arrays.copyOf(bytes, end);
      }
      if (at == 0 && found.size() < limit) {
        take(rest, 0, rest.length, below, found);
      }
    }
  }

  private static void take(byte[] bytes, int from, int to, long below, List<AuditEntry> found) {
    if (to <= from) {
      return;
    }
    String line = new String(bytes, from, to - from, StandardCharsets.UTF_8);
    AuditEntry entry = idOf(line) < below ? AuditEntry.of(JsonReader.parse(line).value()) : null;
    if (entry != null) {
      found.add(entry);
    }
  }

  /** Parses only the id: reading an old page skips many lines. */
  private static long idOf(String line) {
    String begin = "{\"id\":";
    if (!line.startsWith(begin)) {
      return -1;
    }
    long id = 0;
    for (int i = begin.length(); i < line.length() && Character.isDigit(line.charAt(i)); i++) {
      id = id * 10 + line.charAt(i) - '0';
    }
    return id;
  }
}
