package io.espalier.worker.logs;

import io.espalier.core.logs.LogLine;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.CRC32C;

/**
 * The write-ahead file, which receives every line first, so that the line survives a crash of the
 * process before it is part of a {@link Block}. It consists of frames of {@link LogRowCodec}, each
 * with its length and checksum. Used by one thread at a time.
 */
final class WriteAheadLog implements AutoCloseable {
  private static final Pattern NAME = Pattern.compile("([0-9a-f]{16})\\.wal");
  private static final long MAGIC = 0x455350414c494552L;
  private static final int HEAD = 16;
  private static final int FRAME_HEAD = 8;
  private static final int MOST = 256 << 20;

  private final Path directory;
  private long number;
  private Path path;
  private FileChannel file;
  private long end;

  private WriteAheadLog(Path directory, long number, Path path, FileChannel file, long end) {
    this.directory = directory;
    this.number = number;
    this.path = path;
    this.file = file;
    this.end = end;
  }

  /**
   * Reads the existing lines and continues after them.
   *
   * @param lastId receives the last id that was assigned when a file was begun
   * @param lines receives all lines, some perhaps more than once
   */
  static WriteAheadLog open(Path directory, Consumer<Long> lastId, Consumer<LogLine> lines)
      throws IOException {
    TreeMap<Long, Path> files = new TreeMap<>();
    try (DirectoryStream<Path> all = Files.newDirectoryStream(directory, "*.wal")) {
      for (Path one : all) {
        Matcher name = NAME.matcher(String.valueOf(one.getFileName()));
        if (name.matches()) {
          files.put(Long.parseUnsignedLong(name.group(1), 16), one);
        }
      }
    }
    long end = 0;
    for (Path one : files.values()) {
      end = read(one, lastId, lines);
    }
    if (files.isEmpty()) {
      WriteAheadLog begun = begin(directory, 1, 0);
      return begun;
    }
    long newest = files.lastKey();
    Path path = files.get(newest);
    if (path == null || end < HEAD) {
      return begin(directory, newest + 1, 0);
    }
    FileChannel file = FileChannel.open(path, StandardOpenOption.WRITE);
    // After it comes a truncated frame.
    file.truncate(end);
    return new WriteAheadLog(directory, newest, path, file, end);
  }

  private static WriteAheadLog begin(Path directory, long number, long lastId) throws IOException {
    Path path = directory.resolve(String.format("%016x.wal", number));
    FileChannel file =
        FileChannel.open(
            path,
            StandardOpenOption.CREATE,
            StandardOpenOption.TRUNCATE_EXISTING,
            StandardOpenOption.WRITE);
    boolean begun = false;
    try {
      writeAll(file, ByteBuffer.allocate(HEAD).putLong(MAGIC).putLong(lastId).flip(), 0);
      begun = true;
    } finally {
      if (!begun) {
        file.close();
        Files.deleteIfExists(path);
      }
    }
    return new WriteAheadLog(directory, number, path, file, HEAD);
  }

  /** Returns the offset at which the intact part of a file ends. */
  private static long read(Path path, Consumer<Long> lastId, Consumer<LogLine> lines)
      throws IOException {
    try (FileChannel file = FileChannel.open(path, StandardOpenOption.READ)) {
      long size = file.size();
      if (size < HEAD) {
        return 0;
      }
      ByteBuffer head = readAll(file, 0, HEAD);
      if (head.getLong() != MAGIC) {
        throw new IOException(path + " is not a file of task logs");
      }
      lastId.accept(head.getLong());
      long at = HEAD;
      while (size - at >= FRAME_HEAD) {
        ByteBuffer frame = readAll(file, at, FRAME_HEAD);
        int length = frame.getInt();
        int checksum = frame.getInt();
        if (length < 0 || length > MOST || at + FRAME_HEAD + length > size) {
          break;
        }
        byte[] body = readAll(file, at + FRAME_HEAD, length).array();
        if (checksum(body) != checksum) {
          break;
        }
        LogRowCodec rows = new LogRowCodec(body);
        for (int i = 0; i < rows.size(); i++) {
          lines.accept(rows.line(i));
        }
        at += FRAME_HEAD + length;
      }
      return at;
    }
  }

  /** Appends lines, all or none of them. */
  void append(List<LogLine> lines) throws IOException {
    byte[] body = LogRowCodec.encode(lines);
    ByteBuffer frame = ByteBuffer.allocate(FRAME_HEAD + body.length);
    frame.putInt(body.length).putInt(checksum(body)).put(body).flip();
    int length = frame.remaining();
    try {
      writeAll(file, frame, end);
    } catch (IOException e) {
      file.truncate(end);
      throw e;
    }
    end += length;
  }

  /** Begins a new file with the given lines and deletes the old one. */
  void renew(long lastId, List<LogLine> stillNeeded) throws IOException {
    WriteAheadLog next = begin(directory, number + 1, lastId);
    boolean good = false;
    try {
      if (!stillNeeded.isEmpty()) {
        next.append(new ArrayList<>(stillNeeded));
      }
      next.file.force(false);
      good = true;
    } finally {
      if (!good) {
        next.file.close();
        Files.deleteIfExists(next.path);
      }
    }
    file.close();
    Path old = path;
    file = next.file;
    path = next.path;
    number = next.number;
    end = next.end;
    for (long n = number - 1; n > 0; n--) {
      Path earlier = directory.resolve(String.format("%016x.wal", n));
      if (!Files.deleteIfExists(earlier) && !earlier.equals(old)) {
        break;
      }
    }
  }

  long length() {
    return end;
  }

  /** Syncs written lines to disk, so that they survive a crash of the machine. */
  void force() throws IOException {
    file.force(false);
  }

  @Override
  public void close() throws IOException {
    file.close();
  }

  private static int checksum(byte[] body) {
    CRC32C checksum = new CRC32C();
    checksum.update(body);
    return (int) checksum.getValue();
  }

  private static void writeAll(FileChannel file, ByteBuffer bytes, long at) throws IOException {
    long to = at;
    while (bytes.hasRemaining()) {
      to += file.write(bytes, to);
    }
  }

  private static ByteBuffer readAll(FileChannel file, long at, int length) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(length);
    while (bytes.hasRemaining()) {
      if (file.read(bytes, at + bytes.position()) < 0) {
        throw new EOFException("ends at byte " + (at + bytes.position()));
      }
    }
    return bytes.flip();
  }
}
