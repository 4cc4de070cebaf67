package io.espalier.worker.logs;

import io.espalier.core.logs.LogLine;
import io.espalier.core.logs.LogQuery;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Walks the lines of one job in the direction of a query and opens files as late as possible. It
 * returns only lines that match the query, except that it ignores the query's regular expression.
 */
final class JobCursor implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(JobCursor.class);

  /** The cost of examining the head of a block, in bytes of body. */
  private static final int SKIP_COST = 256;

  private final LogQuery query;
  private final JobLog.View view;
  private final BlockHeaderCache heads;
  private final Work work;
  private final List<JobLog.Part> parts;
  private int nextPart;
  private @Nullable Segment segment;
  private @Nullable FileChannel file;
  private List<Block> blocks = List.of();
  private int nextBlock;
  private @Nullable LogRowCodec rows;
  private int row;
  private int rowsLeft;
  private final List<LogLine> open;
  private int nextOpen;

  /** Counts the cost of a query. */
  static final class Work {
    private long bytesLeft;

    Work(long bytes) {
      bytesLeft = bytes;
    }

    void spend(long bytes) {
      bytesLeft -= bytes;
    }

    boolean isDone() {
      return bytesLeft <= 0;
    }
  }

  JobCursor(LogQuery query, JobLog.View view, BlockHeaderCache heads, Work work) {
    this.query = query;
    this.heads = heads;
    this.view = view;
    this.work = work;
    this.parts = new ArrayList<>(view.parts());
    this.open = new ArrayList<>(view.open());
    if (!query.ascending()) {
      Collections.reverse(parts);
      Collections.reverse(open);
    }
  }

  /**
   * Returns a bound on the ids still to come: in the direction of the query no line lies before it;
   * null at the end. Lines in memory are the newest: they come last when ascending, first when
   * descending.
   */
  @Nullable Long bound() {
    if (!query.ascending() && nextOpen < open.size()) {
      return open.get(nextOpen).id();
    }
    LogRowCodec current = rows;
    if (current != null && rowsLeft > 0) {
      return current.id(row);
    }
    if (nextBlock < blocks.size()) {
      Block block = blocks.get(nextBlock);
      return clipped(query.ascending() ? block.firstId() : block.lastId());
    }
    if (nextPart < parts.size()) {
      JobLog.Part part = parts.get(nextPart);
      return clipped(query.ascending() ? part.segment().firstId() : part.lastId());
    }
    return nextOpen < open.size() ? open.get(nextOpen).id() : null;
  }

  /** Returns whether the next step reads memory only. */
  boolean isLoaded() {
    return (rows != null && rowsLeft > 0)
        || (nextBlock >= blocks.size() && nextPart >= parts.size());
  }

  /** Clips the id to the query, since a block may begin before the query does. */
  private long clipped(long id) {
    if (query.from() < 0) {
      return id;
    }
    return query.ascending() ? Math.max(id, query.from()) : Math.min(id, query.from());
  }

  /**
   * Takes one step and moves the bound on. Returns the line at the bound if it matches; a null has
   * no further meaning.
   */
  @Nullable LogLine step() {
    if (!query.ascending() && nextOpen < open.size()) {
      return nextOpenLine();
    }
    LogRowCodec current = rows;
    if (current != null && rowsLeft > 0) {
      return nextRow(current);
    }
    rows = null;
    if (nextBlock < blocks.size()) {
      openBlock(blocks.get(nextBlock++));
      return null;
    }
    if (nextPart < parts.size()) {
      openSegment(parts.get(nextPart++));
      return null;
    }
    return nextOpenLine();
  }

  private LogLine nextOpenLine() {
    LogLine line = open.get(nextOpen++);
    work.spend(SKIP_COST + line.text().length());
    return line;
  }

  private @Nullable LogLine nextRow(LogRowCodec current) {
    int at = row;
    row += query.ascending() ? 1 : -1;
    rowsLeft--;
    boolean wanted =
        query.streams().contains(current.stream(at))
            && query.reaches(current.id(at))
            && current.time(at) >= view.keptSince()
            && query.wantsTime(current.time(at))
            && (query.nodes().isEmpty() || query.nodes().contains(current.node(at)))
            && (query.invocation().isEmpty() || query.invocation().equals(current.invocation(at)));
    return wanted ? current.line(at) : null;
  }

  private void openBlock(Block block) {
    FileChannel from = file;
    boolean reached =
        query.from() < 0
            || (query.ascending()
                ? block.lastId() >= query.from()
                : block.firstId() <= query.from());
    if (from == null || !reached || !block.mayHold(query, view.keptSince())) {
      work.spend(SKIP_COST + block.filter().length());
      return;
    }
    work.spend(block.rawLength() + (long) SKIP_COST);
    try {
      LogRowCodec read = block.read(from);
      rows = read;
      rowsLeft = read.size();
      row = query.ascending() ? 0 : read.size() - 1;
    } catch (IOException e) {
      // One damaged block must not hide all others.
      log.warn("lines of {} are lost: {} is {}", view.job(), segment, e.getMessage());
    }
  }

  private void openSegment(JobLog.Part part) {
    close();
    blocks = List.of();
    nextBlock = 0;
    try {
      file = part.segment().reader();
      if (file == null) {
        return;
      }
      segment = part.segment();
      List<Block> known = new ArrayList<>();
      for (Block block : heads.blocks(part.segment())) {
        // Lines of later blocks were in memory when the query began.
        if (block.lastId() <= part.lastId()) {
          known.add(block);
        }
      }
      if (!query.ascending()) {
        Collections.reverse(known);
      }
      blocks = known;
    } catch (IOException e) {
      log.warn("lines of {} cannot be read: {}: {}", view.job(), part.segment(), e.getMessage());
    }
  }

  @Override
  public void close() {
    FileChannel opened = file;
    file = null;
    segment = null;
    if (opened != null) {
      try {
        opened.close();
      } catch (IOException e) {
        log.debug("closing a reader of task logs", e);
      }
    }
  }
}
