package io.espalier.server.app;

import io.espalier.core.api.SchedulerApi;
import io.espalier.core.api.view.JobProgress;
import io.espalier.core.config.Config;
import io.espalier.core.config.Settings;
import io.espalier.core.config.source.ConfigSource;
import io.espalier.core.loop.SchedulerLoop;
import io.espalier.core.outcome.JobStateRecord;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Problems;
import io.espalier.core.scheduling.query.NextAttempt;
import io.espalier.core.scheduling.query.PeakUsage;
import io.espalier.core.status.store.StoreException;
import io.espalier.core.topology.NodeSourceContext;
import io.espalier.server.CommandException;
import io.espalier.server.ExitCode;
import io.espalier.server.app.options.HostPort;
import io.espalier.server.app.options.ProcessOptions;
import io.espalier.server.app.options.RunnerOptions;
import io.espalier.server.app.ownership.Leadership;
import io.espalier.server.app.ownership.StartWaits;
import io.espalier.server.app.update.LateBoundListener;
import io.espalier.server.config.ConfigPoller;
import io.espalier.server.config.ConfigSources;
import io.espalier.server.nodes.NodeFetcher;
import io.espalier.server.nodes.NodesState;
import io.espalier.server.remote.RemoteRunner;
import io.espalier.server.store.jdbc.mysql.MySqlAddress;
import io.espalier.server.store.jdbc.mysql.MySqlStatusStore;
import io.espalier.worker.process.os.FileFailures;
import io.espalier.worker.thread.OwnerThread;
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
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A running scheduler process, as started by {@code run} and {@code scheduler}. {@link
 * SchedulerAssembly} wires its parts.
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
   * Starts everything and handles signals: from now on SIGINT and SIGTERM stop the process and end
   * this program. A signal that arrives during the start ends the waits of the start and is obeyed
   * after its other steps.
   *
   * @param clean whether a signal ends the program with exit code 0, as for a daemon, or with 130
   *     and 143
   * @throws CommandException as {@link #start}
   */
  public static SchedulerProcess startUntilSignal(ProcessOptions options, boolean clean) {
    CompletableFuture<SchedulerProcess> started = new CompletableFuture<>();
    AtomicInteger stopping = new AtomicInteger();
    StartWaits waits = new StartWaits();
    OwnerThread.haltOnDeath(ExitCode.FAILED);
    SignalHandling.handle(
        number -> {
          if (stopping.compareAndSet(0, number)) {
            waits.giveUp();
            // When the start fails, the main thread reports it and ends the program.
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
      System.err.println(reached() + "espalier: stopped; run it again to go on where it was");
    }
    System.exit(clean ? ExitCode.OK : ExitCode.SIGNAL + number);
  }

  /** Returns a line that says how far the run has come; after the stop with the last counts. */
  private String reached() {
    long total = 0;
    long done = 0;
    long failed = 0;
    for (JobProgress progress : parts.loop.view().latestProgress().values()) {
      total += progress.total();
      done += progress.done();
      failed += progress.failed();
    }
    return "espalier: "
        + done
        + " of "
        + total
        + " tasks done, "
        + failed
        + " failed; what ran was ended and starts again\n";
  }

  /**
   * Starts everything.
   *
   * @throws CommandException with clear lines when something is not available: the configuration,
   *     the data directory, the port
   */
  public static SchedulerProcess start(ProcessOptions options) {
    return start(options, Leadership.ALONE, new StartWaits());
  }

  /**
   * Starts everything as the leader of several schedulers.
   *
   * @param waits the waits of the start, which a stop request can end
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

  /** Wires the parts. Stops to poll the configuration when the wiring fails. */
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
   * Checks that a configuration and a store are available, and starts nothing. This also warms the
   * program up: it loads and compiles much of the code that a take-over needs.
   *
   * @throws CommandException with the reason when something is not available
   */
  public static void check(ProcessOptions options) throws InterruptedException {
    options.store().mysql().ifPresent(SchedulerProcess::check);
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

  /** Creates a poller and polls once; the result has a good configuration. */
  private static ConfigPoller polled(
      ProcessOptions options, Plugins plugins, LateBoundListener follow)
      throws ConfigSource.Unavailable, InterruptedException {
    ConfigPoller configs =
        new ConfigPoller(
            ConfigSources.open(options.source().configUri()),
            plugins.configParser().inShard(options.source().shard()),
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
      if (options.oneRun() && options.runner().kind() == RunnerOptions.Kind.LOCAL) {
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

  /**
   * Rejects node sources that no retry can fix, because they would look like a scheduler that is
   * still fetching.
   */
  private static void requireNodeSources(
      Plugins plugins, ProcessOptions options, Settings settings) {
    NodeSourceContext context =
        new NodeSourceContext(
            options.source().configDirectory(), options.store().dataDir().toString());
    List<Problem> problems =
        new NodeFetcher(plugins.nodeSources(), options.source().instanceNodeName(), context)
            .check(settings);
    if (problems.stream().anyMatch(Problem::isError)) {
      throw new CommandException(ExitCode.USAGE, lines(problems));
    }
  }

  /**
   * Rejects commands that cannot be started. Otherwise the user would learn of a missing program
   * only from tasks that fail again and again.
   */
  private static void requireCommands(ProcessOptions options, Config config) {
    CommandCheck check =
        new CommandCheck(
            Path.of(options.source().configDirectory()),
            System.getenv(),
            options.runner().workerCommand(),
            null);
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
    return parts.web.api();
  }

  /** Returns the configuration in force. */
  public Config config() {
    Config config = parts.configs.current().config();
    if (config == null) {
      throw new IllegalStateException("a process starts with a configuration");
    }
    return config;
  }

  /** Returns the problems of the configuration that do not keep it from being in force. */
  public List<Problem> problems() {
    return parts.configs.current().problems();
  }

  /** Returns the address on which the process serves HTTP, if it does. */
  public Optional<URI> httpUri() {
    return Optional.ofNullable(parts.web.server()).map(io.espalier.webui.WebServer::uri);
  }

  /** Returns the address on which the process accepts workers, if it does, as HOST:PORT. */
  public Optional<String> thriftAddress() {
    return Optional.ofNullable(parts.loop.remote())
        .map(RemoteRunner::address)
        .map(
            at ->
                new HostPort(
                        at.getAddress().isAnyLocalAddress() ? "0.0.0.0" : at.getHostString(),
                        at.getPort())
                    .toString());
  }

  /** Returns the number of tasks started since the process began. */
  public long started() throws InterruptedException {
    return askLoop(SchedulerLoop::started);
  }

  /** Returns the current counts of all configured jobs. */
  public Collection<JobProgress> progress() throws InterruptedException {
    return askLoop(SchedulerLoop::progress).values();
  }

  /** Returns the back-off that ends first, if its task may start then. */
  public Optional<NextAttempt> nextAttempt() throws InterruptedException {
    return askLoop(SchedulerLoop::nextAttempt);
  }

  /** Returns the current states of all configured jobs, by name. */
  public Map<String, JobStateRecord> jobStates() throws InterruptedException {
    return askLoop(SchedulerLoop::jobStates);
  }

  public List<PeakUsage> peaks() throws InterruptedException {
    return askLoop(SchedulerLoop::peaks);
  }

  /**
   * Waits up to the given time for the end of all work: no task runs, may start or waits for a
   * time, and a fresh fetch of the nodes returned nothing new
   * (docs/design/design.md#the-end-of-a-run).
   *
   * @return true when all work has ended
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

  /** Waits until the first configuration and its nodes are in force and visible in the view. */
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
      // The thread that handles the signal ends the program, with its exit code.
      TimeUnit.MINUTES.sleep(1);
    }
    return new InterruptedException("stopped");
  }

  /**
   * Fails when no nodes could be fetched at all: the node sources are part of the request, and
   * nothing could run. The problems are in the log already.
   */
  private void requireNodes() {
    NodesState nodes = parts.nodes.state();
    if (nodes.snapshot() == null && nodes.failing()) {
      throw new CommandException(
          ExitCode.FAILED, "nothing can run: there are no nodes, for the reasons logged above");
    }
  }

  /** Waits until a signal stops the process, or until it dies. */
  public void awaitEnd() throws InterruptedException {
    while (!awaitEnd(1_000)) {
      requireAlive();
    }
  }

  /**
   * Waits up to the given time for the end of the process.
   *
   * @return true when the process was stopped
   * @throws CommandException when it died
   */
  public boolean awaitEnd(long millis) throws InterruptedException {
    requireAlive();
    return ended.await(millis, TimeUnit.MILLISECONDS);
  }

  /**
   * Waits for an answer.
   *
   * @throws CommandException when the request was refused
   */
  public <T> T await(CompletionStage<T> answer) throws InterruptedException {
    try {
      return answer.toCompletableFuture().get(1, TimeUnit.MINUTES);
    } catch (ExecutionException e) {
      if (signalled) {
        throw stopped();
      }
      throw new CommandException(ExitCode.FAILED, String.valueOf(e.getCause()), e);
    } catch (TimeoutException e) {
      requireAlive();
      throw new CommandException(ExitCode.FAILED, "the scheduler does not answer", e);
    }
  }

  private <T> T askLoop(Function<SchedulerLoop, T> question) throws InterruptedException {
    try {
      return parts.loop.thread().call(question);
    } catch (InterruptedException e) {
      throw signalled ? stopped() : e;
    } catch (TimeoutException e) {
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
   * Stops everything in order. Several threads may call this, also repeatedly; later callers wait
   * for the first, so that the end of a main thread does not interrupt the thread that is stopping.
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
