package io.espalier.worker.process.output;

import java.util.function.Consumer;

/**
 * Splits what arrives through the status pipe of a batch into lines; of a line longer than {@link
 * StatusLine#MAX_LINE} bytes only the beginning is kept. The marks of its prelude are taken out.
 */
public final class BatchPipe {
  private final StatusLine lines;

  /**
   * @param marks those of its prelude
   * @param sink receives each line, without its newline
   */
  public BatchPipe(PreludeMarks marks, Consumer<String> sink) {
    lines =
        new StatusLine(
            line -> {
              if (!marks.take(line)) {
                sink.accept(line);
              }
              return true;
            });
  }

  public void add(byte[] bytes, int length) {
    lines.add(bytes, length);
  }

  /** Ends the input: an unfinished line counts as a line. */
  public void close() {
    lines.close();
  }
}
