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
 * The file that every line goes to first, so that it survives a death of the process before it is
 * part of a {@link Block}. Frames of {@link LogRowCodec}, each with its length and checksum. One
 * thread at a time.
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
   * Reads what is there and goes on behind it.
   *
   * @param lastId gets the last id that was given out when a file was begun
   * @param lines get all lines, some maybe more than once
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
    // Behind it is a frame that was cut off.
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

  /** Where the good part of a file ends. */
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

  /** Adds lines; when that fails, nothing of them is there. */
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

  /** Goes on in a new file that begins with some lines, and deletes the old one. */
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

  /** Makes what was written survive the machine. */
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
