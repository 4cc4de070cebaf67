package io.espalier.cli.term;

import java.time.Duration;

/** The properties of standard output that commands need. */
public interface TerminalInfo {
  /** Returns the number of columns; 0: standard output is not a terminal, cut nothing. */
  int width();

  /** Returns the number of lines; 0 without a terminal. */
  int height();

  /** Returns true when escape sequences for colours may be used. */
  boolean colours();

  /** Returns true when a user at standard input can be asked. */
  boolean asks();

  /**
   * Waits between two pictures of {@code --watch}.
   *
   * @return false when that was the last picture
   */
  boolean pause(Duration time);

  /** Returns an instance without colours, prompts and redrawing. */
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
   * @return true when the sleep was not interrupted
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
