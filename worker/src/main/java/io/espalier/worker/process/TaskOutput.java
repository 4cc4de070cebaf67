package io.espalier.worker.process;

import io.espalier.core.config.SubprocessOptions;
import io.espalier.core.logs.LogLine;
import io.espalier.core.logs.Redactor;
import io.espalier.core.status.Attempt;
import java.util.EnumSet;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Standard output and error of one task, from bytes to lines in the log, at the rate of its quota
 * while its process lives: above it the pipe is not read, so that the task has to wait. Once the
 * process has exited nobody can be slowed down any more, and what the pipes still hold is taken at
 * once, so that no end waits for the quota (docs/design/bistro.md#output). The status pipe is none
 * of its business.
 */
final class TaskOutput {
  /** What two pipes and our own buffers can hold when the process exits. */
  private static final long FREE_BYTES_AFTER_EXIT = 1 << 18;

  /** Of the last line of stderr. The rest is in the log. */
  private static final int LONGEST_TOLD = Attempt.MAX_MESSAGE;

  private final Sink sink;
  private final LineSplitter[] lines;
  private final Set<Channel> open = EnumSet.noneOf(Channel.class);
  private final Set<Channel> paused = EnumSet.noneOf(Channel.class);
  private final LogQuota quota;
  private boolean exited;
  private long freeBytes;
  private @Nullable String lastError;

  /** Where lines go, and who reads the pipes. */
  interface Sink {
    void line(LogLine.Stream stream, String text);

    void pause(Channel channel);

    void resume(Channel channel);

    /** Calls {@link TaskOutput#goOn} after that time. */
    void goOnAfter(long nanos, Channel channel);
  }

  /**
   * @param redactor hides secrets, before a long line is cut
   * @param room whether the log store can take more now
   */
  TaskOutput(SubprocessOptions options, Redactor redactor, BooleanSupplier room, Sink sink) {
    this.sink = sink;
    this.lines = new LineSplitter[] {new LineSplitter(redactor), new LineSplitter(redactor)};
    this.quota =
        new LogQuota(
            System.nanoTime(), options.pollMillis(), options.maxLogLinesPerPollInterval(), room);
  }

  void opened(Channel channel) {
    open.add(channel);
  }

  void add(Channel channel, byte[] bytes, int length) {
    lines[channel.index()].add(bytes, length);
    freeBytes -= length;
    take(channel);
  }

  void closed(Channel channel) {
    open.remove(channel);
    take(channel);
  }

  /** The process is gone. */
  void exited() {
    exited = true;
    freeBytes = FREE_BYTES_AFTER_EXIT;
    take(Channel.STDOUT);
    take(Channel.STDERR);
  }

  /** The time that was asked for has passed. */
  void goOn(Channel channel) {
    if (paused.contains(channel)) {
      take(channel);
    }
  }

  /** Whether the task may be waiting for us. */
  boolean isPaused() {
    return !paused.isEmpty();
  }

  /** Whether all that was read has become lines. */
  boolean isEmpty() {
    return lines[0].isEmpty() && lines[1].isEmpty();
  }

  /**
   * The latest line of stderr that is not blank, without blanks around it, and no more of it than
   * is kept with an attempt; null: there is none.
   */
  @Nullable String lastErrorLine() {
    String line = lastError == null ? "" : lastError.strip();
    if (line.length() > LONGEST_TOLD) {
      int end = Character.isHighSurrogate(line.charAt(LONGEST_TOLD - 1)) ? 1 : 0;
      return line.substring(0, LONGEST_TOLD - end);
    }
    return line.isEmpty() ? null : line;
  }

  /** Lines as the quota allows; stops reading the channel when it does not. */
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
