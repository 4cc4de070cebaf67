package io.espalier.server.process;

import io.espalier.core.api.JobProgress;
import io.espalier.core.api.SchedulerApi;
import io.espalier.core.config.Config;
import io.espalier.core.config.ConfigSource;
import io.espalier.core.loop.SchedulerLoop;
import io.espalier.core.problem.Problem;
import io.espalier.core.scheduling.Peak;
import io.espalier.server.config.ConfigPoller;
import io.espalier.server.config.ConfigSources;
import io.espalier.server.exit.CommandFailure;
import io.espalier.server.exit.ExitCode;
import java.net.URI;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One scheduler process that runs: what {@code run} and {@code scheduler} do with it. What it is
 * made of is in {@link Wiring}.
 */
public final class EspalierProcess implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(EspalierProcess.class);

  private final Wiring parts;
  private final Thread hook;
  private final AtomicBoolean closed = new AtomicBoolean();
  private final CountDownLatch ended = new CountDownLatch(1);
  private final AtomicReference<@Nullable Throwable> death;
  private long changesSeen = -1;
  private volatile boolean daemon;

  private EspalierProcess(Wiring parts, AtomicReference<@Nullable Throwable> death) {
    this.parts = parts;
    this.death = death;
    this.hook = new Thread(this::stopOnSignal, "shutdown");
    Runtime.getRuntime().addShutdownHook(hook);
  }

  /**
   * Starts everything.
   *
   * @throws CommandFailure with clear lines when something cannot be had: the configuration, the
   *     data directory, the port
   */
  public static EspalierProcess start(ProcessOptions options) {
    AtomicReference<@Nullable Throwable> death = new AtomicReference<>();
    try {
      Plugins plugins = Plugins.load();
      ConfigNews follow = new ConfigNews();
      ConfigPoller configs =
          new ConfigPoller(
              ConfigSources.open(options.configUri()),
              plugins.configParser(),
              InstantSource.system(),
              follow);
      configs.poll(Instant.now());
      if (configs.current().config() == null) {
        throw new CommandFailure(ExitCode.USAGE, lines(configs.current().problems()));
      }
      return new EspalierProcess(new Wiring(options, plugins, configs, follow, death::set), death);
    } catch (CommandFailure e) {
      throw e;
    } catch (ConfigSource.Unavailable e) {
      throw new CommandFailure(ExitCode.USAGE, e.problem().toString(), e);
    } catch (Exception e) {
      throw new CommandFailure(ExitCode.USAGE, String.valueOf(e.getMessage()), e);
    }
  }

  private static String lines(List<Problem> problems) {
    return problems.stream().map(Problem::toString).collect(Collectors.joining("\nespalier: "));
  }

  public SchedulerApi api() {
    return parts.api;
  }

  /** The configuration in force. */
  public Config config() {
    Config config = parts.configs.current().config();
    if (config == null) {
      throw new IllegalStateException("a process starts with a configuration");
    }
    return config;
  }

  /** What is wrong with the configuration although it is in force. */
  public List<Problem> problems() {
    return parts.configs.current().problems();
  }

  /** Where it serves HTTP, if it does. */
  public Optional<URI> httpUri() {
    return Optional.ofNullable(parts.web).map(io.espalier.webui.WebServer::uri);
  }

  /** How many tasks were started since the process began. */
  public long started() throws InterruptedException {
    return askLoop(SchedulerLoop::started);
  }

  /** The counts of all configured jobs as of this moment. */
  public Collection<JobProgress> progress() throws InterruptedException {
    return askLoop(SchedulerLoop::progress).values();
  }

  public List<Peak> peaks() throws InterruptedException {
    return askLoop(SchedulerLoop::peaks);
  }

  /**
   * Waits a while for the end of all work: nothing runs, may start or waits for a time, and a fresh
   * look at the nodes brought nothing new (ruling 19).
   *
   * @return whether that is so
   */
  public boolean awaitQuiet(long millis) throws InterruptedException {
    requireAlive();
    if (!parts.changes.isSettled() || !askLoop(SchedulerLoop::isQuiet)) {
      if (ended.await(millis, TimeUnit.MILLISECONDS)) {
        throw new InterruptedException("stopped by a signal");
      }
      return false;
    }
    long changes = parts.changes.changesInForce();
    if (changes == changesSeen) {
      return true;
    }
    changesSeen = changes;
    parts.nodes.poll(Instant.now());
    return false;
  }

  /** Waits until the first configuration and its nodes are in force, and seen in the view. */
  public void awaitSettled() throws InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.MINUTES.toNanos(2);
    while (api().view().config() == null) {
      requireAlive();
      List<Problem> problems = parts.nodes.state().problems();
      if (parts.nodes.state().failing()) {
        throw new CommandFailure(ExitCode.FAILED, lines(problems));
      }
      if (System.nanoTime() > deadline) {
        throw new CommandFailure(ExitCode.FAILED, "the nodes do not come");
      }
      TimeUnit.MILLISECONDS.sleep(10);
    }
  }

  /** Waits until the process is stopped by a signal, or dies. */
  public void awaitEnd() throws InterruptedException {
    while (!ended.await(1, TimeUnit.SECONDS)) {
      requireAlive();
    }
  }

  /**
   * Waits for an answer.
   *
   * @throws CommandFailure when it was refused
   */
  public <T> T await(CompletionStage<T> answer) throws InterruptedException {
    try {
      return answer.toCompletableFuture().get(1, TimeUnit.MINUTES);
    } catch (ExecutionException e) {
      throw new CommandFailure(ExitCode.FAILED, String.valueOf(e.getCause()), e);
    } catch (java.util.concurrent.TimeoutException e) {
      requireAlive();
      throw new CommandFailure(ExitCode.FAILED, "the scheduler does not answer", e);
    }
  }

  private <T> T askLoop(Function<SchedulerLoop, T> question) throws InterruptedException {
    try {
      return parts.thread.call(() -> question.apply(parts.loop));
    } catch (java.util.concurrent.TimeoutException e) {
      requireAlive();
      throw new CommandFailure(ExitCode.FAILED, "the scheduler does not answer", e);
    }
  }

  private void requireAlive() {
    Throwable cause = death.get();
    if (cause != null) {
      throw new CommandFailure(ExitCode.FAILED, "the scheduler died: " + cause, cause);
    }
  }

  private void stopOnSignal() {
    LOG.info("stopping");
    close();
    if (daemon) {
      // A daemon that was told to stop, and did, has succeeded: not 128 and the signal's number.
      Runtime.getRuntime().halt(ExitCode.OK);
    }
  }

  /** From now on a signal that stops the process makes it exit with 0. */
  public void actAsDaemon() {
    daemon = true;
  }

  /** Stops everything in order; safe to call twice and from several threads. */
  @Override
  public void close() {
    if (!closed.compareAndSet(false, true)) {
      return;
    }
    try {
      parts.close();
    } finally {
      ended.countDown();
      if (Thread.currentThread() != hook) {
        try {
          Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
          LOG.debug("the virtual machine is already going down");
        }
      }
    }
  }
}
