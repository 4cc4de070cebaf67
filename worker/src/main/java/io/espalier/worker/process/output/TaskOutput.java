package io.espalier.worker.process.output;

import io.espalier.core.config.task.SubprocessOptions;
import io.espalier.core.logs.LogLine;
import io.espalier.core.logs.Redactor;
import io.espalier.core.status.Attempt;
import io.espalier.core.text.ShortText;
import java.util.EnumSet;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Turns the standard output and error of one task into log lines, at the rate of its quota while
 * its process lives: above the quota the pipe is not read, so that the task must wait. Once the
 * process has exited nobody can be slowed down any more, so the remaining content of the pipes is
 * read at once, and no end waits for the quota (docs/design/bistro.md#output). It does not handle
 * the status pipe.
 */
public final class TaskOutput {
  /** The capacity of two pipes and our own buffers when the process exits. */
  private static final long FREE_BYTES_AFTER_EXIT = 1 << 18;

  /** The part of the last stderr line that is reported; the log has the rest. */
  private static final int LONGEST_TOLD = Attempt.MAX_MESSAGE;

  private final Sink sink;
  private final LineSplitter[] lines;
  private final Set<Channel> open = EnumSet.noneOf(Channel.class);
  private final Set<Channel> paused = EnumSet.noneOf(Channel.class);
  private final LogQuota quota;
  private boolean exited;
  private long freeBytes;
  private @Nullable String lastError;

  /** Receives lines and controls the reading of the pipes. */
  public interface Sink {
    void line(LogLine.Stream stream, String text);

    void pause(Channel channel);

    void resume(Channel channel);

    /** Calls {@link TaskOutput#goOn} after that time. */
    void goOnAfter(long nanos, Channel channel);
  }

  /**
   * @param redactor redacts secrets, before a long line is split
   * @param room returns whether the log store can accept more now
   */
  public TaskOutput(SubprocessOptions options, Redactor redactor, BooleanSupplier room, Sink sink) {
    this.sink = sink;
    this.lines = new LineSplitter[] {new LineSplitter(redactor), new LineSplitter(redactor)};
    this.quota =
        new LogQuota(
            System.nanoTime(), options.pollMillis(), options.maxLogLinesPerPollInterval(), room);
  }

  public void opened(Channel channel) {
    open.add(channel);
  }

  public void add(Channel channel, byte[] bytes, int length) {
    lines[channel.index()].add(bytes, length);
    freeBytes -= length;
    take(channel);
  }

  public void closed(Channel channel) {
    open.remove(channel);
    take(channel);
  }

  /** The process has exited. */
  public void exited() {
    exited = true;
    freeBytes = FREE_BYTES_AFTER_EXIT;
    take(Channel.STDOUT);
    take(Channel.STDERR);
  }

  /** Resumes a channel after the requested time. */
  public void goOn(Channel channel) {
    if (paused.contains(channel)) {
      take(channel);
    }
  }

  /** Returns whether the task may be waiting for us. */
  public boolean isPaused() {
    return !paused.isEmpty();
  }

  /** Returns whether everything read so far has become lines. */
  public boolean isEmpty() {
    return lines[0].isEmpty() && lines[1].isEmpty();
  }

  /**
   * Returns the latest stderr line that is not blank, trimmed and limited to the length that an
   * attempt keeps; null: there is none.
   */
  public @Nullable String lastErrorLine() {
    String line = lastError == null ? "" : lastError.strip();
    return line.isEmpty() ? null : ShortText.cut(line, LONGEST_TOLD);
  }

  /** Takes lines as the quota allows; stops reading the channel when it does not. */
  private void take(Channel channel) {
    LineSplitter splitter = lines[channel.index()];
    LogLine.Stream stream =
        channel == Channel.STDOUT ? LogLine.Stream.STDOUT : LogLine.Stream.STDERR;
    boolean free = exited && freeBytes > 0;
    long now = System.nanoTime();
    while (free || quota.allows(now)) {
      String line = splitter.next();
      if (line == null && !open.contains(channel)) {
        line = splitter.rest();
      }
      if (line == null) {
        if (paused.remove(channel)) {
          sink.resume(channel);
        }
        return;
      }
      quota.use();
      if (stream == LogLine.Stream.STDERR && !line.isBlank()) {
        lastError = line;
      }
      sink.line(stream, line);
    }
    if (splitter.isEmpty() && !open.contains(channel)) {
      return;
    }
    if (paused.add(channel) && open.contains(channel)) {
      sink.pause(channel);
    }
    sink.goOnAfter(quota.waitNanos(now), channel);
  }
}
