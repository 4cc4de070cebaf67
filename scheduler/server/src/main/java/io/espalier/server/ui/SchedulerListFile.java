package io.espalier.server.ui;

import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Result;
import io.espalier.webui.fleet.SchedulerListListener;
import io.espalier.webui.fleet.SchedulerLists;
import io.espalier.webui.fleet.poll.SchedulerAddress;
import io.espalier.worker.thread.PeriodicThread;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Follows a file with a list of schedulers. When the file is missing or invalid, the last good list
 * stays in force.
 */
public final class SchedulerListFile implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(SchedulerListFile.class);
  private static final int MOST_BYTES = 4 << 20;

  private final Path file;
  private final SchedulerListListener news;
  private final PeriodicThread looking = new PeriodicThread("espalier-fleet-list");
  private String latest;

  private SchedulerListFile(Path file, String latest, SchedulerListListener news) {
    this.file = file;
    this.latest = latest;
    this.news = news;
  }

  /** Thrown when problems prevent the use of a list at the start. */
  public static final class BadListException extends Exception {
    private static final long serialVersionUID = 1L;
    private final transient List<Problem> problems;

    BadListException(List<Problem> problems) {
      super(problems.size() + " problems");
      this.problems = problems;
    }

    public List<Problem> problems() {
      return problems;
    }
  }

  /**
   * Reads the file, passes the list to the listener, and follows the file.
   *
   * @param every the period between two readings
   * @throws BadListException when the list cannot be used; the listener was not called then
   */
  public static SchedulerListFile follow(Path file, Duration every, SchedulerListListener news)
      throws BadListException {
    String text;
    try {
      text = text(file);
    } catch (IOException e) {
      throw new BadListException(List.of(unreadable(file, e)));
    }
    Result<List<SchedulerAddress>> list = SchedulerLists.parse(text);
    if (list.value() == null || !list.problems().isEmpty()) {
      throw new BadListException(list.problems());
    }
    if (list.value().isEmpty()) {
      throw new BadListException(List.of(empty(file)));
    }
    news.follow(file.toString(), list.value());
    SchedulerListFile followed = new SchedulerListFile(file, text, news);
    followed.looking.every(every, every, followed::look);
    return followed;
  }

  private void look() {
    try {
      String text = text(file);
      if (text.equals(latest)) {
        return;
      }
      Result<List<SchedulerAddress>> list = SchedulerLists.parse(text);
      latest = text;
      if (list.value() == null || !list.problems().isEmpty()) {
        LOG.warn("{} has changed and has {} problems", file, list.problems().size());
        news.complain(list.problems());
      } else if (list.value().isEmpty()) {
        LOG.warn("{} is empty now", file);
        news.complain(List.of(empty(file)));
      } else {
        LOG.info("{} has changed: {} schedulers", file, list.value().size());
        news.follow(file.toString(), list.value());
      }
    } catch (IOException e) {
      if (!latest.isEmpty()) {
        LOG.warn("{}", unreadable(file, e));
      }
      latest = "";
      news.complain(List.of(unreadable(file, e)));
    }
  }

  private static Problem empty(Path file) {
    return Problem.error(file.toString(), "there is no scheduler in it");
  }

  private static Problem unreadable(Path file, IOException e) {
    return Problem.error(
        file.toString(),
        e instanceof NoSuchFileException ? "there is no such file" : "cannot be read: " + e);
  }

  private static String text(Path file) throws IOException {
    try (InputStream in = Files.newInputStream(file)) {
      byte[] bytes = in.readNBytes(MOST_BYTES + 1);
      if (bytes.length > MOST_BYTES) {
        throw new IOException("it is longer than " + MOST_BYTES + " bytes");
      }
      return new String(bytes, StandardCharsets.UTF_8);
    }
  }

  @Override
  public void close() {
    looking.close();
  }
}
