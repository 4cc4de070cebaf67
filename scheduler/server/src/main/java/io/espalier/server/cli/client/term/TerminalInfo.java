package io.espalier.server.cli.client.term;

import java.time.Duration;

/** What standard output is, as far as commands care. */
public interface TerminalInfo {
  /** Columns; 0: standard output is no terminal, cut nothing. */
  int width();

  /** Lines; 0 where there is no terminal. */
  int height();

  /** Whether escape sequences for colours are welcome. */
  boolean colours();

  /** Whether a person sits at standard input and can be asked. */
  boolean asks();

  /**
   * Waits between two pictures of {@code --watch}.
   *
   * @return false: that was the last picture
   */
  boolean pause(Duration time);

  /** No colours, no questions, nothing redrawn. */
  static TerminalInfo plain(int width) {
    return new TerminalInfo() {
      @Override
      public int width() {
        return width;
      }

      @Override
      public int height() {
        return 0;
      }

      @Override
      public boolean colours() {
        return false;
      }

      @Override
      public boolean asks() {
        return false;
      }

      @Override
      public boolean pause(Duration time) {
        return slept(time);
      }
    };
  }

  /**
   * @return whether it was not interrupted
   */
  static boolean slept(Duration time) {
    try {
      Thread.sleep(time.toMillis());
      return true;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }
}
