package io.espalier.worker.logs;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A file of {@link Block}s of one job. While it grows its name is {@code FIRST.open}; when it is
 * full, {@code FIRST-LAST-MINTIME-MAXTIME.seg}, so that a directory listing shows what each file
 * contains. One thread at a time writes; all others see only published blocks.
 */
final class Segment {
  private static final Pattern SEALED =
      Pattern.compile("([0-9a-f]{16})-([0-9a-f]{16})-([0-9]{1,18})-([0-9]{1,18})\\.seg");
  private static final Pattern OPEN = Pattern.compile("([0-9a-f]{16})\\.open");

  private Path path;
  private final long firstId;
  private volatile long lastId;
  private volatile long minTime = Long.MAX_VALUE;
  private volatile long maxTime = Long.MIN_VALUE;
  private volatile long length;
  private volatile boolean sealed;
  private boolean deleted;
  private @Nullable List<Block> blocks;

  private Segment(Path path, long firstId) {
    this.path = path;
    this.firstId = firstId;
    this.lastId = firstId - 1;
  }

  /** Creates a segment, whose file does not exist before the first block. */
  static Segment create(Path directory, long firstId) {
    Segment segment = new Segment(directory.resolve(hex(firstId) + ".open"), firstId);
    segment.blocks = new ArrayList<>();
    return segment;
  }

  /** Opens the segment in a file; null when the file is not a segment, or has no block. */
  static @Nullable Segment open(Path path) throws IOException {
    String name = String.valueOf(path.getFileName());
    Matcher full = SEALED.matcher(name);
    if (full.matches()) {
      Segment segment = new Segment(path, Long.parseLong(full.group(1), 16));
      segment.lastId = Long.parseLong(full.group(2), 16);
      segment.minTime = Long.parseLong(full.group(3));
      segment.maxTime = Long.parseLong(full.group(4));
      segment.length = Files.size(path);
      segment.sealed = true;
      return segment;
    }
    Matcher open = OPEN.matcher(name);
    if (!open.matches()) {
      return null;
    }
    Segment segment = new Segment(path, Long.parseLong(open.group(1), 16));
    segment.recover();
    return segment;
  }

  /** Determines how much of a file is intact after its writer stopped. */
  private void recover() throws IOException {
    long size = Files.size(path);
    List<Block> found = new ArrayList<>();
    try (FileChannel file = FileChannel.open(path, StandardOpenOption.READ)) {
      for (Block block = Block.readHead(file, 0, size);
          block != null;
          block = Block.readHead(file, block.offset() + block.length(), size)) {
        found.add(block);
      }
      if (!found.isEmpty()) {
        Block last = found.get(found.size() - 1);
        try {
          last.read(file);
        } catch (IOException torn) {
          found.remove(last);
        }
      }
    }
    blocks = found;
    found.forEach(this::count);
    // The remainder is a truncated write. It stays; new lines go to another segment.
    sealed = length < size;
  }

  private void count(Block block) {
    lastId = block.lastId();
    minTime = Math.min(minTime, block.minTime());
    maxTime = Math.max(maxTime, block.maxTime());
    length = block.offset() + block.length();
  }

  /**
   * Appends a block; removes it again when it cannot be written completely.
   *
   * @return the block, not yet published
   */
  Block write(ByteBuffer bytes) throws IOException {
    long at = length();
    try (FileChannel file =
        FileChannel.open(
            path, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      Block block;
      try {
        if (at == 0) {
          // The existing content is a truncated write.
          file.truncate(0);
        }
        long to = at;
        while (bytes.hasRemaining()) {
          to += file.write(bytes, to);
        }
        block = Block.readHead(file, at, to);
      } catch (IOException e) {
        file.truncate(at);
        throw e;
      }
      if (block == null) {
        throw new IOException("what was written at byte " + at + " is not there");
      }
      return block;
    }
  }

  /** Makes the block visible to readers. */
  synchronized void publish(Block block) {
    count(block);
    List<Block> known = blocks;
    if (known != null) {
      known.add(block);
    }
  }

  /**
   * Syncs written blocks to disk, so that they survive a crash of the machine, unless the segment
   * was deleted meanwhile.
   */
  void force() throws IOException {
    try (FileChannel file = FileChannel.open(path, StandardOpenOption.WRITE)) {
      file.force(false);
    } catch (NoSuchFileException e) {
      if (!isDeleted()) {
        throw e;
      }
    }
  }

  private synchronized boolean isDeleted() {
    return deleted;
  }

  /** Ends writing: no block is added any more. */
  synchronized void seal() throws IOException {
    if (!sealed) {
      Path full =
          path.resolveSibling(
              hex(firstId) + "-" + hex(lastId) + "-" + minTime + "-" + maxTime + ".seg");
      Files.move(path, full);
      path = full;
      sealed = true;
    }
  }

  synchronized void delete() throws IOException {
    deleted = true;
    Files.deleteIfExists(path);
  }

  /** Returns an open reader of the file; null when the file was deleted meanwhile. */
  synchronized @Nullable FileChannel reader() throws IOException {
    try {
      return deleted ? null : FileChannel.open(path, StandardOpenOption.READ);
    } catch (NoSuchFileException e) {
      return null;
    }
  }

  /** Returns the heads of all blocks so far. */
  synchronized List<Block> blocks() throws IOException {
    List<Block> known = blocks;
    if (known == null) {
      known = new ArrayList<>();
      if (!deleted) {
        try (FileChannel file = FileChannel.open(path, StandardOpenOption.READ)) {
          for (Block block = Block.readHead(file, 0, length);
              block != null;
              block = Block.readHead(file, block.offset() + block.length(), length)) {
            known.add(block);
          }
        } catch (NoSuchFileException e) {
          return List.of();
        }
      }
      blocks = known;
    }
    return List.copyOf(known);
  }

  /** Drops the heads of a sealed segment from memory; the file still has them. */
  synchronized void forgetBlocks() {
    if (sealed) {
      blocks = null;
    }
  }

  long firstId() {
    return firstId;
  }

  long lastId() {
    return lastId;
  }

  long minTime() {
    return minTime;
  }

  long maxTime() {
    return maxTime;
  }

  long length() {
    return length;
  }

  boolean isSealed() {
    return sealed;
  }

  private static String hex(long id) {
    return String.format("%016x", id);
  }

  @Override
  public synchronized String toString() {
    return path.toString();
  }
}
