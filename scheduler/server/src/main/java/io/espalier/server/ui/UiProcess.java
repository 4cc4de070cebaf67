package io.espalier.server.ui;

import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Result;
import io.espalier.server.CommandException;
import io.espalier.server.ExitCode;
import io.espalier.server.app.SignalHandling;
import io.espalier.server.ha.GroupsWatch;
import io.espalier.server.zk.ZooKeeperTarget;
import io.espalier.webui.WebOptions;
import io.espalier.webui.WebServer;
import io.espalier.webui.WebStartException;
import io.espalier.webui.fleet.Fleet;
import io.espalier.webui.fleet.SchedulerLists;
import io.espalier.webui.fleet.poll.FleetOptions;
import io.espalier.webui.fleet.poll.SchedulerAddress;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Runs everything behind {@code espalier ui}; closing ends it within about ten seconds. */
public final class UiProcess implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(UiProcess.class);
  private static final Duration LOOK_AT_FILE = Duration.ofSeconds(1);
  private static final int MOST_PROBLEMS = 50;

  private final Fleet fleet;
  private final AutoCloseable list;
  private final WebServer server;
  private final CountDownLatch ended = new CountDownLatch(1);
  private final AtomicBoolean closed = new AtomicBoolean();

  private UiProcess(Fleet fleet, AutoCloseable list, WebServer server) {
    this.fleet = fleet;
    this.list = list;
    this.server = server;
  }

  /**
   * The options of the process.
   *
   * @param schedulers a list, a file, or {@code zk://HOSTS/PATH}
   * @param zooKeeperAuth file with the account for ZooKeeper
   */
  public record Options(
      String schedulers, Optional<Path> zooKeeperAuth, FleetOptions fleet, WebOptions web) {}

  /**
   * Starts the process.
   *
   * @throws CommandException naming all problems of the list, or why it cannot listen
   */
  public static UiProcess start(Options options) {
    Fleet fleet = new Fleet(options.fleet(), InstantSource.system());
    AutoCloseable list = () -> {};
    try {
      list = follow(options, fleet);
      return new UiProcess(fleet, list, WebServer.fleet(options.web(), fleet));
    } catch (WebStartException | CommandException e) {
      end(list);
      fleet.close();
      throw e instanceof CommandException known
          ? known
          : new CommandException(ExitCode.USAGE, String.valueOf(e.getMessage()), e);
    }
  }

  /** Like {@link #start}; from now on SIGINT and SIGTERM end the program, cleanly and with 0. */
  public static UiProcess startUntilSignal(Options options) {
    CompletableFuture<UiProcess> started = new CompletableFuture<>();
    AtomicBoolean stopping = new AtomicBoolean();
    SignalHandling.handle(
        number -> {
          if (stopping.compareAndSet(false, true)) {
            var unused =
                started.thenAccept(
                    process -> {
                      LOG.info("stopping");
                      process.close();
                      System.exit(ExitCode.OK);
                    });
          }
        });
    UiProcess process = start(options);
    started.complete(process);
    return process;
  }

  private static AutoCloseable follow(Options options, Fleet fleet) {
    String schedulers = options.schedulers();
    if (schedulers.startsWith("zk://")) {
      try {
        return GroupsWatch.follow(
            ZooKeeperTarget.parse(schedulers).withAuthFile(options.zooKeeperAuth()), fleet);
      } catch (IllegalArgumentException | IOException e) {
        throw wrong(schedulers + ": " + e.getMessage());
      }
    }
    Optional<Path> file = file(schedulers);
    if (file.isPresent()) {
      try {
        return SchedulerListFile.follow(file.get(), LOOK_AT_FILE, fleet);
      } catch (SchedulerListFile.BadListException e) {
        throw wrong(file.get().toString(), e.problems());
      }
    }
    Result<List<SchedulerAddress>> list = SchedulerLists.parse(schedulers);
    if (!list.problems().isEmpty()) {
      throw wrong("the list", list.problems());
    }
    if (list.value() == null || list.value().isEmpty()) {
      throw wrong("the list is empty; expected such as 127.0.0.1:8080,127.0.0.1:8090");
    }
    fleet.follow("the command line", list.value());
    return () -> {};
  }

  /**
   * Returns the file if the text is the path of an existing file, or looks like a path and not like
   * a list.
   */
  static Optional<Path> file(String schedulers) {
    try {
      Path path = Path.of(schedulers);
      boolean looksLikePath =
          !schedulers.contains("://")
              && !schedulers.matches("(?s).*[\\s,;].*")
              && (schedulers.contains("/") || !schedulers.contains(":"));
      return !schedulers.isBlank() && (Files.exists(path) || looksLikePath)
          ? Optional.of(path)
          : Optional.empty();
    } catch (InvalidPathException e) {
      LOG.trace("no path", e);
      return Optional.empty();
    }
  }

  private static CommandException wrong(String what) {
    return new CommandException(ExitCode.USAGE, "--schedulers " + what);
  }

  private static CommandException wrong(String where, List<Problem> problems) {
    List<String> lines = new ArrayList<>();
    problems.stream()
        .limit(MOST_PROBLEMS)
        .forEach(problem -> lines.add("--schedulers, " + where + ": " + problem));
    if (problems.size() > MOST_PROBLEMS) {
      lines.add("and " + (problems.size() - MOST_PROBLEMS) + " more");
    }
    return new CommandException(ExitCode.USAGE, String.join("\nespalier: ", lines));
  }

  /** Returns the address on which it listens. */
  public URI uri() {
    return server.uri();
  }

  /**
   * Returns the number of schedulers in the list; a list in ZooKeeper arrives only after a while.
   */
  public int schedulers() {
    return fleet.view().hosts().size();
  }

  /** Waits until the process is being closed. */
  public void awaitEnd() throws InterruptedException {
    ended.await();
  }

  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      end(list);
      server.close();
      fleet.close();
      ended.countDown();
    }
  }

  private static void end(AutoCloseable list) {
    try {
      list.close();
    } catch (Exception e) {
      LOG.warn("the list of schedulers did not stop cleanly", e);
    }
  }
}
