package io.espalier.server.shipping;

import java.io.IOException;
import java.util.List;

/** Takes lines of task output. One thread sends; another may close. */
interface LogReceiver extends AutoCloseable {
  /**
   * A line.
   *
   * @param timeMillis when the task wrote it, epoch milliseconds
   * @param json its JSON object, without line breaks
   */
  record Line(long timeMillis, String json) {}

  /**
   * Sends lines; returns when the receiver has taken them, as far as its protocol tells.
   *
   * @throws IOException when the receiver did not take all of them, or when that is unknown
   */
  void send(List<Line> lines) throws IOException, InterruptedException;

  /** Ends a call of {@link #send} that waits. */
  @Override
  void close();
}
