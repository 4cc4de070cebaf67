package io.espalier.worker.logs;

import io.espalier.core.logs.LogLine;
import io.espalier.core.logs.LogQuery;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.zip.CRC32C;
import java.util.zip.DataFormatException;
import java.util.zip.Deflater;
import java.util.zip.Inflater;
import org.jspecify.annotations.Nullable;

/**
 * A block of a segment file: a head that describes the body, a {@link NodeBloomFilter}, and the
 * body, which is a deflated {@link LogRowCodec}. The checksum covers everything after itself.
 *
 * @param offset position in the file
 * @param length total length of head, filter and body
 * @param streams bit set of the streams that have lines in the block
 */
record Block(
    long offset,
    int length,
    int rawLength,
    int streams,
    long firstId,
    long lastId,
    long minTime,
    long maxTime,
    int lines,
    NodeBloomFilter filter) {
  private static final int MAGIC = 0x45534c31;
  private static final int HEAD = 60;

  /**
   * An upper bound on lengths, above what any writer produces, even for a block of a single line.
   */
  private static final int MOST = 64 << 20;

  /** Encodes lines with increasing ids as a block. */
  static ByteBuffer encode(List<LogLine> lines, Deflater deflater) {
    byte[] raw = LogRowCodec.encode(lines);
    Set<String> nodes = new HashSet<>();
    int streams = 0;
    long minTime = Long.MAX_VALUE;
    long maxTime = Long.MIN_VALUE;
    for (LogLine line : lines) {
      nodes.add(line.node());
      streams |= 1 << LogRowCodec.code(line.stream());
      minTime = Math.min(minTime, line.timeMillis());
      maxTime = Math.max(maxTime, line.timeMillis());
    }
    NodeBloomFilter filter = NodeBloomFilter.of(nodes);
    byte[] body = new byte[raw.length + raw.length / 100 + 64];
    deflater.reset();
    deflater.setInput(raw);
    deflater.finish();
    int bodyLength = 0;
    while (!deflater.finished()) {
      if (bodyLength == body.length) {
        throw new IllegalStateException("deflating grew by more than it can");
      }
      bodyLength += deflater.deflate(body, bodyLength, body.length - bodyLength);
    }
    ByteBuffer bytes = ByteBuffer.allocate(HEAD + filter.length() + bodyLength);
    bytes.putInt(MAGIC).putInt(0);
    bytes.putInt(filter.length()).putInt(bodyLength).putInt(raw.length).putInt(streams);
    bytes.putLong(lines.get(0).id()).putLong(lines.get(lines.size() - 1).id());
    bytes.putLong(minTime).putLong(maxTime).putInt(lines.size());
    bytes.put(filter.bytes()).put(body, 0, bodyLength);
    bytes.putInt(4, checksum(bytes.array()));
    return bytes.flip();
  }

  private static int checksum(byte[] block) {
    CRC32C checksum = new CRC32C();
    checksum.update(block, 8, block.length - 8);
    return (int) checksum.getValue();
  }

  /** Reads the head at an offset; null when no complete block of plausible form is there. */
  static @Nullable Block readHead(FileChannel file, long offset, long end) throws IOException {
    if (end - offset < HEAD) {
      return null;
    }
    ByteBuffer head = read(file, offset, HEAD);
    if (head.getInt() != MAGIC) {
      return null;
    }
    head.getInt();
    int filterLength = head.getInt();
    int bodyLength = head.getInt();
    int rawLength = head.getInt();
    if (filterLength < 0
        || bodyLength < 0
        || rawLength < 0
        || filterLength > MOST
        || bodyLength > MOST
        || rawLength > MOST
        || offset + HEAD + filterLength + bodyLength > end) {
      return null;
    }
    int streams = head.getInt();
    long firstId = head.getLong();
    long lastId = head.getLong();
    long minTime = head.getLong();
    long maxTime = head.getLong();
    int lines = head.getInt();
    return new Block(
        offset,
        HEAD + filterLength + bodyLength,
        rawLength,
        streams,
        firstId,
        lastId,
        minTime,
        maxTime,
        lines,
        new NodeBloomFilter(read(file, offset + HEAD, filterLength).array()));
  }

  /**
   * Reads the lines of the block.
   *
   * @throws IOException when the file cannot be read, or is damaged here
   */
  LogRowCodec read(FileChannel file) throws IOException {
    byte[] all = read(file, offset, length).array();
    if (ByteBuffer.wrap(all).getInt(4) != checksum(all)) {
      throw new IOException("damaged at byte " + offset);
    }
    int body = HEAD + filter.length();
    byte[] raw = new byte[rawLength];
    Inflater inflater = new Inflater();
    try {
      inflater.setInput(all, body, all.length - body);
      int done = 0;
      while (done < raw.length) {
        int some = inflater.inflate(raw, done, raw.length - done);
        if (some == 0) {
          throw new IOException("damaged at byte " + offset);
        }
        done += some;
      }
    } catch (DataFormatException e) {
      throw new IOException("damaged at byte " + offset, e);
    } finally {
      inflater.end();
    }
    return new LogRowCodec(raw);
  }

  /** Returns whether the block may contain a line that the query asks for. */
  boolean mayHold(LogQuery query, long keptSince) {
    return (streams & streamsOf(query)) != 0
        && maxTime >= Math.max(keptSince, query.sinceMillis())
        && (query.untilMillis() <= 0 || minTime < query.untilMillis())
        && (query.nodes().isEmpty() || filter.mayHold(query.nodes()));
  }

  private static int streamsOf(LogQuery query) {
    int bits = 0;
    for (LogLine.Stream stream : query.streams()) {
      bits |= 1 << LogRowCodec.code(stream);
    }
    return bits;
  }

  private static ByteBuffer read(FileChannel file, long offset, int length) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(length);
    while (bytes.hasRemaining()) {
      if (file.read(bytes, offset + bytes.position()) < 0) {
        throw new IOException("ends at byte " + (offset + bytes.position()));
      }
    }
    return bytes.flip();
  }
}
