package io.espalier.worker.process.output;

import io.espalier.core.running.Progress;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The status line of a task, read from its status path: the last line that is not claimed for
 * another purpose. Its newline is removed, nothing else is trimmed
 * (docs/design/bistro.md#what-a-task-writes). Only the beginning of a line longer than {@link
 * #MAX_LINE} bytes is kept.
 */
public final class StatusLine {
  /**
   * The maximum length. Statuses should have a few KB. It exceeds the limit of progress by one
   * byte, so that a progress line that is too long can be recognized.
   */
  public static final int MAX_LINE = Progress.MAX_BYTES + 1;

  private final Predicate<String> others;
  private @Nullable ByteArrayOutputStream current;
  private @Nullable String last;

  StatusLine() {
    this(line -> false);
  }

  /**
   * @param others tests each line, in order, and accepts those that are not a status
   */
  StatusLine(Predicate<String> others) {
    this.others = others;
  }

  void add(byte[] bytes, int length) {
    int from = 0;
    for (int i = 0; i < length; i++) {
      if (bytes[i] == '\n') {
        append(bytes, from, i - from);
        from = i + 1;
        finish();
      }
    }
    if (from < length) {
      append(bytes, from, length - from);
    }
  }

  /** Ends the input: an unfinished line counts as a line. */
  void close() {
    finish();
  }

  /** Returns the last line, complete or not; null when nothing was written. */
  @Nullable String last() {
    return current != null ? current.toString(StandardCharsets.UTF_8) : last;
  }

  private void append(byte[] bytes, int from, int length) {
    if (current == null) {
      current = new ByteArrayOutputStream(Math.min(MAX_LINE, Math.max(length, 16)));
    }
    current.write(bytes, from, Math.min(length, MAX_LINE - current.size()));
  }

  private void finish() {
    if (current != null) {
      String line = current.toString(StandardCharsets.UTF_8);
      current = null;
      if (!others.test(line)) {
        last = line;
      }
    }
  }
}
