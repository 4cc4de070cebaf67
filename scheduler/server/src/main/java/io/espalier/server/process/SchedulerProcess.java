package io.espalier.server.process;

import io.espalier.core.api.JobProgress;
import io.espalier.core.api.SchedulerApi;
import io.espalier.core.config.Config;
import io.espalier.core.config.Settings;
import io.espalier.core.config.source.ConfigSource;
import io.espalier.core.loop.SchedulerLoop;
import io.espalier.core.outcome.JobStateRecord;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Problems;
import io.espalier.core.scheduling.query.PeakUsage;
import io.espalier.core.status.StoreException;
import io.espalier.core.topology.NodeSourceContext;
import io.espalier.server.config.ConfigPoller;
import io.espalier.server.config.ConfigSources;
import io.espalier.server.exit.CommandException;
import io.espalier.server.exit.ExitCode;
import io.espalier.server.nodes.NodeFetcher;
import io.espalier.server.nodes.NodesState;
import io.espalier.server.remote.RemoteRunner;
import io.espalier.server.store.mysql.MySqlAddress;
import io.espalier.server.store.mysql.MySqlStatusStore;
import io.espalier.worker.process.FileFailures;
import java.io.IOException;
import java.net.URI;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One scheduler process that runs: what {@code run} and {@code scheduler} do with it. What it is
 * made of is in {@link SchedulerAssembly}.
 */
public final class SchedulerProcess implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(SchedulerProcess.class);

  private final SchedulerAssembly parts;
  private final Thread hook;
  private final AtomicBoolean closed = new AtomicBoolean();
  private final CountDownLatch ended = new CountDownLatch(1);
  private final AtomicReference<@Nullable Throwable> death;
  private volatile boolean signalled;
  private long changesSeen = -1;

  private SchedulerProcess(SchedulerAssembly parts, AtomicReference<@Nullable Throwable> death) {
    this.parts = parts;
    this.death = death;
    this.hook = new Thread(this::stopOnSignal, "shutdown");
    Runtime.getRuntime().addShutdownHook(hook);
  }

  /**
   * Starts everything, and from now on SIGINT and SIGTERM stop it and end this program. A signal
   * that comes during the start ends its waits, and is obeyed after anything else.
   *
   * @param clean whether a signal ends the program with 0, as it does a daemon, or with 130 and 143
   * @throws CommandException as {@link #start}
   */
  public static SchedulerProcess startUntilSignal(ProcessOptions options, boolean clean) {
    CompletableFuture<SchedulerProcess> started = new CompletableFuture<>();
    AtomicInteger stopping = new AtomicInteger();
    StartWaits waits = new StartWaits();
    SignalHandling.handle(
        number -> {
          if (stopping.compareAndSet(0, number)) {
            waits.giveUp();
            // When the start fails, the main thread says so and ends the program.
            var unused = started.thenAccept(process -> process.endOnSignal(number, clean));
          }
        });
    try {
      SchedulerProcess process = start(options, Leadership.ALONE, waits);
      started.complete(process);
      return process;
    } catch (StartWaits.GivenUp e) {
      throw new CommandException(
          clean ? ExitCode.OK : ExitCode.SIGNAL + stopping.get(),
          String.valueOf(e.getMessage()),
          e);
    }
  }

  private void endOnSignal(int number, boolean clean) {
    signalled = true;
    stopOnSignal();
    if (!clean) {
      System.err.println("espalier: stopped; run it again to go on where it was");
    }
    System.exit(clean ? ExitCode.OK : ExitCode.SIGNAL + number);
  }

  /**
   * Starts everything.
   *
   * @throws CommandException with clear lines when something cannot be had: the configuration, the
   *     data directory, the port
   */
  public static SchedulerProcess start(ProcessOptions options) {
    return start(options, Leadership.ALONE, new StartWaits());
  }

  /**
   * Starts everything as the leader of several schedulers.
   *
   * @param waits what the start may wait for
   * @throws CommandException as {@link #start(ProcessOptions)}
   * @throws StartWaits.GivenUp when a wait was ended
   */
  public static SchedulerProcess start(
      ProcessOptions options, Leadership leadership, StartWaits waits) {
    AtomicReference<@Nullable Throwable> death = new AtomicReference<>();
    try {
      Plugins plugins = Plugins.load();
      LateBoundListener follow = new LateBoundListener();
      return new SchedulerProcess(
          wired(
              options, plugins, polled(options, plugins, follow), follow, leadership, waits, death),
          death);
    } catch (CommandException | StartWaits.GivenUp e) {
      throw e;
    } catch (ConfigSource.Unavailable e) {
      throw new CommandException(ExitCode.USAGE, e.problem().toString(), e);
    } catch (FileSystemException e) {
      throw new CommandException(ExitCode.USAGE, "cannot start: " + FileFailures.why(e), e);
    } catch (Exception e) {
      throw new CommandException(ExitCode.USAGE, String.valueOf(e.getMessage()), e);
    }
  }

  /** What cannot be wired does not go on looking after the configuration. */
  private static SchedulerAssembly wired(
      ProcessOptions options,
      Plugins plugins,
      ConfigPoller configs,
      LateBoundListener follow,
      Leadership leadership,
      StartWaits waits,
      AtomicReference<@Nullable Throwable> death)
      throws IOException, InterruptedException {
    boolean complete = false;
    try {
      SchedulerAssembly wiring =
          new SchedulerAssembly(options, plugins, configs, follow, leadership, waits, death::set);
      complete = true;
      return wiring;
    } finally {
      if (!complete) {
        configs.close();
      }
    }
  }

  /**
   * Looks whether there are a configuration and a store to start with, and starts nothing. It also
   * leaves the program warm: much of what a take-over needs is loaded and compiled then.
   *
   * @throws CommandException saying why not
   */
  public static void check(ProcessOptions options) throws InterruptedException {
    options.mysql().ifPresent(SchedulerProcess::check);
    try (ConfigPoller configs = polled(options, Plugins.load(), new LateBoundListener())) {
      LOG.debug("{} can be used", configs.source().name());
    } catch (ConfigSource.Unavailable e) {
      throw new CommandException(ExitCode.USAGE, e.problem().toString(), e);
    }
  }

  private static void check(MySqlAddress address) {
    try {
      MySqlStatusStore.check(address);
    } catch (StoreException e) {
      if (!e.retryable()) {
        throw new CommandException(ExitCode.USAGE, String.valueOf(e.getMessage()), e);
      }
      LOG.warn("{}; it is tried again when it is needed", e.getMessage());
    }
  }

  /** Polled once, with a good configuration. */
  private static ConfigPoller polled(
      ProcessOptions options, Plugins plugins, LateBoundListener follow)
      throws ConfigSource.Unavailable, InterruptedException {
    ConfigPoller configs =
        new ConfigPoller(
            ConfigSources.open(options.configUri()),
            plugins.configParser().inShard(options.shard()),
            InstantSource.system(),
            follow);
    boolean good = false;
    try {
      configs.poll(Instant.now());
      Config config = configs.current().config();
      if (config == null) {
        throw new CommandException(ExitCode.USAGE, lines(configs.current().problems()));
      }
      requireNodeSources(plugins, options, config.settings());
      if (options.oneRun() && options.runner() == ProcessOptions.Runner.LOCAL) {
        requireCommands(options, config);
      }
      good = true;
      return configs;
    } finally {
      if (!good) {
        configs.close();
      }
    }
  }

  /** What no retry can mend must not look like a scheduler that is still fetching. */
  private static void requireNodeSources(
      Plugins plugins, ProcessOptions options, Settings settings) {
    NodeSourceContext context =
        new NodeSourceContext(options.configDirectory(), options.dataDir().toString());
    List<Problem> problems =
        new NodeFetcher(plugins.nodeSources(), options.instanceNodeName(), context).check(settings);
    if (problems.stream().anyMatch(Problem::isError)) {
      throw new CommandException(ExitCode.USAGE, lines(problems));
    }
  }

  /** A task that fails again and again for want of its program must not be what tells of it. */
  private static void requireCommands(ProcessOptions options, Config config) {
    CommandCheck check =
        new CommandCheck(
            Path.of(options.configDirectory()), System.getenv(), options.workerCommand(), null);
    List<Problem> problems = new ArrayList<>(check.problems(config));
    problems.addAll(check.withoutCommand(config));
    if (!problems.isEmpty()) {
      throw new CommandException(ExitCode.USAGE, lines(Problems.sorted(problems)));
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

  /** Where it expects workers, if it does, as HOST:PORT. */
  public Optional<String> thriftAddress() {
    return Optional.ofNullable(parts.remote)
        .map(RemoteRunner::address)
        .map(
            at ->
                new ProcessOptions.HostPort(
                        at.getAddress().isAnyLocalAddress() ? "0.0.0.0" : at.getHostString(),
                        at.getPort())
                    .toString());
  }

  /** How many tasks were started since the process began. */
  public long started() throws InterruptedException {
    return askLoop(SchedulerLoop::started);
  }

  /** The counts of all configured jobs as of this moment. */
  public Collection<JobProgress> progress() throws InterruptedException {
    return askLoop(SchedulerLoop::progress).values();
  }

  /** How all configured jobs stand, by name, as of this moment. */
  public Map<String, JobStateRecord> standings() throws InterruptedException {
    return askLoop(SchedulerLoop::standings);
  }

  public List<PeakUsage> peaks() throws InterruptedException {
    return askLoop(SchedulerLoop::peaks);
  }

  /**
   * Waits a while for the end of all work: nothing runs, may start or waits for a time, and a fresh
   * look at the nodes brought nothing new (docs/design/design.md#the-end-of-a-run).
   *
   * @return whether that is so
   */
  public boolean awaitQuiet(long millis) throws InterruptedException {
    requireAlive();
    requireNodes();
    if (!parts.changes.isSettled() || !askLoop(SchedulerLoop::isQuiet)) {
      if (ended.await(millis, TimeUnit.MILLISECONDS)) {
        throw stopped();
      }
      return false;
    }
    long changes = parts.changes.changesInForce();
    if (changes == changesSeen) {
      return true;
    }
    changesSeen = changes;
    try {
      parts.nodes.poll(Instant.now());
    } catch (InterruptedException e) {
      throw signalled ? stopped() : e;
    }
    return false;
  }

  /** Waits until the first configuration and its nodes are in force, and seen in the view. */
  public void awaitSettled() throws InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.MINUTES.toNanos(2);
    while (api().view().config() == null) {
      requireAlive();
      requireNodes();
      if (System.nanoTime() > deadline) {
        throw new CommandException(ExitCode.FAILED, "the nodes do not come");
      }
      TimeUnit.MILLISECONDS.sleep(10);
    }
  }

  private InterruptedException stopped() throws InterruptedException {
    if (signalled) {
      // The thread that was told of the signal ends the program, with its exit code.
      TimeUnit.MINUTES.sleep(1);
    }
    return new InterruptedException("stopped");
  }

  /** Without any nodes there is nothing to wait for: their sources are part of what was asked. */
  private void requireNodes() {
    NodesState nodes = parts.nodes.state();
    if (nodes.snapshot() == null && nodes.failing()) {
      throw new CommandException(ExitCode.FAILED, lines(nodes.problems()));
    }
  }

  /** Waits until the process is stopped by a signal, or dies. */
  public void awaitEnd() throws InterruptedException {
    while (!awaitEnd(1_000)) {
      requireAlive();
    }
  }

  /**
   * Waits a while for the end.
   *
   * @return whether it was stopped
   * @throws CommandException when it died
   */
  public boolean awaitEnd(long millis) throws InterruptedException {
    requireAlive();
    return ended.await(millis, TimeUnit.MILLISECONDS);
  }

  /**
   * Waits for an answer.
   *
   * @throws CommandException when it was refused
   */
  public <T> T await(CompletionStage<T> answer) throws InterruptedException {
    try {
      return answer.toCompletableFuture().get(1, TimeUnit.MINUTES);
    } catch (ExecutionException e) {
      if (signalled) {
        throw stopped();
      }
      throw new CommandException(ExitCode.FAILED, String.valueOf(e.getCause()), e);
    } catch (java.util.concurrent.TimeoutException e) {
      requireAlive();
      throw new CommandException(ExitCode.FAILED, "the scheduler does not answer", e);
    }
  }

  private <T> T askLoop(Function<SchedulerLoop, T> question) throws InterruptedException {
    try {
      return parts.thread.call(() -> question.apply(parts.loop));
    } catch (InterruptedException e) {
      throw signalled ? stopped() : e;
    } catch (java.util.concurrent.TimeoutException e) {
      requireAlive();
      throw new CommandException(ExitCode.FAILED, "the scheduler does not answer", e);
    }
  }

  private void requireAlive() {
    Throwable cause = death.get();
    if (cause != null) {
      throw new CommandException(
          ExitCode.FAILED,
          cause instanceof StoreException
              ? String.valueOf(cause.getMessage())
              : "the scheduler died: " + cause,
          cause);
    }
  }

  private void stopOnSignal() {
    LOG.info("stopping");
    close();
  }

  /**
   * Stops everything in order; safe to call twice and from several threads. Whoever comes second
   * waits for the first: the end of a main thread must not cut off the one that is stopping.
   */
  @Override
  public void close() {
    if (!closed.compareAndSet(false, true)) {
      awaitClosed();
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

  private void awaitClosed() {
    try {
      if (!ended.await(1, TimeUnit.MINUTES)) {
        LOG.warn("stopping takes too long");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
