package io.espalier.server.config;

import io.espalier.core.config.Config;
import io.espalier.core.config.read.ConfigParser;
import io.espalier.core.config.source.ConfigSource;
import io.espalier.core.config.source.ConfigSource.Unavailable;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Result;
import io.espalier.worker.thread.PollingThread;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the configuration up to date. It compares the content four times a second, so that neither
 * equal nor backward modification times can hide an edit. New text comes into force when two polls
 * in a row have read it, in about half a second; this excludes a file that is still being written.
 * Text that cannot be read or has broken settings leaves the last good configuration in force.
 *
 * <p>{@link #poll} must be called by one thread at a time: the one of {@link #start}, or a test.
 * {@link #current} is thread-safe.
 */
public final class ConfigPoller implements AutoCloseable {
  /** The time between two polls. */
  public static final Duration PERIOD = Duration.ofMillis(250);

  private static final Logger LOG = LoggerFactory.getLogger(ConfigPoller.class);

  private final ConfigSource source;
  private final ConfigLoader loader;
  private final Consumer<ConfigSnapshot> listener;
  private final PollingThread thread;

  private volatile ConfigSnapshot current = ConfigSnapshot.NONE;

  /** The result of the latest poll: a hash of the text, or the words of a failure. */
  private String seen = "";

  /** The text from which {@link #current} was created. */
  private String applied = "";

  /**
   * Creates a poller that has not polled yet.
   *
   * @param listener receives each new snapshot, on the polling thread; must not block for long
   */
  public ConfigPoller(
      ConfigSource source,
      ConfigParser parser,
      InstantSource clock,
      Consumer<ConfigSnapshot> listener) {
    this.source = source;
    this.loader = new ConfigLoader(parser);
    this.listener = listener;
    this.thread =
        new PollingThread(
            "config-poller",
            "polling the configuration " + source.name(),
            clock,
            PERIOD,
            this::pollAgain);
  }

  /** Returns the polled source. */
  public ConfigSource source() {
    return source;
  }

  /** Returns the newest snapshot. */
  public ConfigSnapshot current() {
    return current;
  }

  /**
   * Polls once. The first poll applies what it reads; a later one applies new text that the poll
   * before it read as well.
   *
   * @return true when there is a new snapshot
   */
  public boolean poll(Instant now) throws InterruptedException {
    ConfigSource.@Nullable Text text = null;
    @Nullable Problem failure = null;
    String identity;
    try {
      text = source.fetch();
      identity = "text " + text.hash();
    } catch (Unavailable e) {
      failure = e.problem();
      identity = "failure " + failure;
    }
    boolean settled = identity.equals(seen) || applied.isEmpty();
    seen = identity;
    if (identity.equals(applied)) {
      confirm(now);
      return false;
    }
    if (!settled) {
      return false;
    }
    applied = identity;
    Result<Config> result =
        text == null
            ? new Result<>(null, failure == null ? List.of() : List.of(failure))
            : loader.load(text);
    publish(result, now);
    return true;
  }

  private void confirm(Instant now) {
    ConfigSnapshot s = current;
    if (!s.stale()) {
      current =
          new ConfigSnapshot(s.config(), s.version(), s.problems(), false, s.inForceSince(), now);
    }
  }

  private void publish(Result<Config> result, Instant now) {
    ConfigSnapshot before = current;
    Config config = result.value();
    // Problems at the start are reported by the starting code, in the form of the command line.
    boolean first = before.version() == 0;
    if (config == null) {
      current =
          new ConfigSnapshot(
              before.config(),
              before.version(),
              result.problems(),
              true,
              before.inForceSince(),
              before.confirmedAt());
      if (!first) {
        LOG.error(
            "The configuration {} cannot be used, the one from {} stays in force:{}",
            source.name(),
            before.inForceSince(),
            lines(result.problems()));
      }
    } else {
      current =
          new ConfigSnapshot(config, before.version() + 1, result.problems(), false, now, now);
      LOG.info("Configuration {} of {} is in force", current.version(), source.name());
      ConfigChanges.log(LOG, before.config(), config);
      if (!first && !config.warnings().isEmpty()) {
        LOG.warn("The configuration {} has warnings:{}", source.name(), lines(config.warnings()));
      }
    }
    listener.accept(current);
  }

  private static String lines(List<Problem> problems) {
    StringBuilder out = new StringBuilder();
    problems.stream().limit(50).forEach(problem -> out.append("\n  ").append(problem));
    if (problems.size() > 50) {
      out.append("\n  and ").append(problems.size() - 50).append(" more");
    }
    return out.toString();
  }

  /** Starts to poll on a separate thread. Must be called once. */
  public void start() {
    thread.dueIn(Duration.ZERO);
    thread.start();
  }

  private void pollAgain(Instant now) throws InterruptedException {
    boolean unused = poll(now);
    thread.dueIn(PERIOD);
  }

  /** Stops polling and waits a second for the thread to end. */
  @Override
  public void close() {
    thread.close(Duration.ofSeconds(1), true);
    source.close();
  }
}
