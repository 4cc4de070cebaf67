package io.espalier.server.app;

import io.espalier.core.config.label.Labels;
import io.espalier.core.config.task.StatusSource;
import io.espalier.core.json.Json;
import io.espalier.core.logs.LogStore;
import io.espalier.core.running.TaskResult;
import io.espalier.core.status.StatusParser;
import io.espalier.core.status.TaskEvent;
import io.espalier.json.JsonReader;
import io.espalier.server.CommandException;
import io.espalier.server.ExitCode;
import io.espalier.server.app.metrics.JvmMetrics;
import io.espalier.server.app.metrics.LogMetrics;
import io.espalier.server.app.metrics.WorkerMetrics;
import io.espalier.server.app.options.TaskLogOptions;
import io.espalier.server.shipping.LogShipper;
import io.espalier.server.store.DataDirectory;
import io.espalier.webui.WebOptions;
import io.espalier.webui.WebServer;
import io.espalier.worker.agent.AgentOptions;
import io.espalier.worker.agent.AgentStats;
import io.espalier.worker.agent.JobLogs;
import io.espalier.worker.agent.NoopTasks;
import io.espalier.worker.agent.ProcessTaskExecutor;
import io.espalier.worker.agent.TaskExecutor;
import io.espalier.worker.agent.WorkerAgent;
import io.espalier.worker.call.CallExecutor;
import io.espalier.worker.logs.SegmentLogStore;
import io.espalier.worker.process.SupervisorOptions;
import io.espalier.worker.process.TaskLog;
import io.espalier.worker.process.TaskSupervisor;
import io.espalier.worker.process.os.FileFailures;
import io.espalier.worker.resources.HostFiguresReader;
import io.espalier.worker.resources.HostLoadReader;
import io.espalier.worker.resources.HostResourceReader;
import io.espalier.worker.resources.HostResources;
import io.espalier.worker.resources.MeasuringOptions;
import io.espalier.worker.thread.OwnerThread;
import io.espalier.worker.thread.PeriodicThread;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A running worker process. It opens its parts from top to bottom and closes them in reverse order.
 */
public final class WorkerProcess implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(WorkerProcess.class);
  private static final Duration HEALTH = Duration.ofSeconds(1);
  private static final Duration UPKEEP = Duration.ofMinutes(1);
  private static final Duration MEASURE = Duration.ofSeconds(5);

  private final OpenParts opened = new OpenParts();
  private final WorkerAgent agent;
  private final HostResourceReader host;
  private volatile HostResources own;
  private final Optional<WebServer> web;
  private final AtomicBoolean closed = new AtomicBoolean();
  private final CountDownLatch ended = new CountDownLatch(1);

  /**
   * The checked options of a worker process.
   *
   * @param workerCommand argv prefix of jobs without a command; empty: none
   * @param commandDirectory the directory against which relative commands are resolved
   * @param logs how much task output is kept
   * @param measuring how running tasks and the host are measured
   * @param noop whether the worker runs no real task
   * @param web where it serves its health and its metrics; empty: nowhere
   */
  public record Options(
      AgentOptions agent,
      List<String> workerCommand,
      Path commandDirectory,
      TaskLogOptions logs,
      MeasuringOptions measuring,
      boolean noop,
      Optional<WebOptions> web) {
    String shown() {
      return String.join(
          " ",
          "--scheduler="
              + String.join(",", agent.schedulers().stream().map(Object::toString).toList()),
          "--shard-id=" + agent.shard(),
          "--host-name=" + agent.host(),
          "--thrift="
              + agent.listen().map(Object::toString).orElse("none")
              + " ("
              + agent.peer().security()
              + ")",
          "--advertise=" + (agent.advertised().isEmpty() ? "as --thrift" : agent.advertised()),
          "--data-dir=" + agent.dataDirectory(),
          "--worker-command=" + String.join(" ", workerCommand),
          "--command-dir=" + commandDirectory,
          "--label=" + Labels.shown(agent.labels()),
          "--max-tasks=" + agent.maxTasks(),
          "--drain-ms=" + agent.drainWait().toMillis(),
          logs.shown(),
          measuring.shown(),
          "--executor=" + (noop ? "noop" : "process"),
          "--http=" + web.map(at -> at.host() + ":" + at.port()).orElse("none"),
          "--connect-ms=" + agent.peer().timeouts().connectMillis(),
          "--send-ms=" + agent.peer().timeouts().sendMillis(),
          "--receive-ms=" + agent.peer().timeouts().receiveMillis());
    }
  }

  private WorkerProcess(Options options) throws IOException {
    boolean complete = false;
    try {
      LOG.info("effective options: {}; timers come from the scheduler", options.shown());
      AgentOptions about = options.agent();
      DataDirectory data =
          opened.add(
              "data directory",
              DataDirectory.open(about.dataDirectory(), "worker " + about.shard()));
      LogStore logs = opened.add("logs", SegmentLogStore.open(data.logs()));
      JobLogs jobLogs =
          FileFailures.needing(
              "the settings of the logs",
              data.root(),
              () ->
                  JobLogs.open(
                      data.root().resolve("job-logs.json"),
                      logs,
                      options.logs().policy(),
                      JsonReader::parse));
      opened.add("settings of the logs", jobLogs::save);
      host = HostResourceReader.ofThisHost(options.measuring().cards());
      HostResources resources = host.read();
      own = resources;
      resources.notes().forEach(note -> LOG.warn("{}", note));
      LOG.info("this host offers {}", resources.physical());
      TaskExecutor tasks =
          options.noop() ? new NoopTasks() : supervised(options, data, logs, jobLogs);
      LOG.info("tasks are run by {}", tasks.description());
      boolean started = false;
      try {
        // Closed after the agent, so that a worker can be watched while it drains.
        AgentStats stats = new AgentStats();
        Optional<LogShipper> shipper =
            options
                .logs()
                .ship()
                .map(to -> LogShipper.start(logs, data, to, about.shard(), problem -> {}));
        // Closed after the agent, so that it sends the output of the last tasks, too.
        shipper.ifPresent(sending -> opened.add("log shipping", sending));
        web = options.web().map(at -> serve(at, stats, logs, shipper));
        agent =
            opened.add(
                "agent",
                WorkerAgent.start(
                    withRoot(about, data.root()),
                    tasks,
                    logs,
                    resources.physical(),
                    stats,
                    JsonReader::parse));
        started = true;
      } finally {
        if (!started) {
          tasks.close();
        }
      }
      opened.add("upkeep", upkeep(logs, jobLogs));
      opened.add("measuring", measuring(data.root()));
      complete = true;
    } finally {
      if (!complete) {
        close();
      }
    }
  }

  private WebServer serve(
      WebOptions at, AgentStats stats, LogStore logs, Optional<LogShipper> shipper) {
    PrometheusMeterRegistry metrics = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    opened.add("metrics of the process", new JvmMetrics(metrics));
    LogMetrics.register(logs, metrics);
    shipper.ifPresent(sending -> LogMetrics.register(sending, metrics));
    WorkerMetrics.register(stats, metrics);
    return opened.add("web server", WebServer.worker(at, stats::problem, metrics));
  }

  /**
   * Starts the periodic upkeep: looks for what the worker may use of its host, deletes old output,
   * and reports whether output can be stored at all.
   */
  private PeriodicThread upkeep(LogStore logs, JobLogs jobLogs) {
    PeriodicThread upkeep = new PeriodicThread("upkeep");
    upkeep.every(
        HEALTH, HEALTH, () -> agent.health(logs.problem().map(p -> "task logs: " + p).orElse("")));
    upkeep.every(
        UPKEEP,
        UPKEEP,
        () -> {
          own = host.read();
          agent.physical(own.physical());
        });
    upkeep.every(
        UPKEEP,
        UPKEEP,
        () -> {
          // Output is kept rather than deleted too early when its settings were not saved.
          jobLogs.save();
          logs.prune(System.currentTimeMillis());
        });
    return upkeep;
  }

  /**
   * Starts to measure the host. Upkeep may wait for the disk; then this still says how things are.
   */
  private PeriodicThread measuring(Path data) {
    HostLoadReader load = new HostLoadReader(Path.of("/"));
    HostFiguresReader figures = HostFiguresReader.ofThisHost(data);
    PeriodicThread measuring = new PeriodicThread("measuring");
    measuring.every(MEASURE, MEASURE, () -> agent.measured(load.read(own), figures.read()));
    return measuring;
  }

  private static AgentOptions withRoot(AgentOptions about, Path root) {
    return new AgentOptions(
        about.shard(),
        about.host(),
        about.listen(),
        about.advertised(),
        about.schedulers(),
        about.peer(),
        about.labels(),
        about.maxTasks(),
        root,
        about.drainWait());
  }

  private static TaskExecutor supervised(
      Options options, DataDirectory data, LogStore logs, JobLogs jobLogs) throws IOException {
    StatusParser statusText = new StatusParser(JsonReader::parse);
    SupervisorOptions how =
        SupervisorOptions.of(data.root(), options.commandDirectory())
            .withWorkerCommand(options.workerCommand())
            .withHost(options.agent().host())
            .withShard(options.agent().shard())
            .withMeasuring(options.measuring())
            .withStatusForm(end -> statusForm(statusText, end));
    return new ProcessTaskExecutor(
        TaskSupervisor.prepareLeased(how, logs),
        new CallExecutor(new TaskLog(logs, how.host(), how.statusForm())),
        jobLogs);
  }

  /**
   * Returns the status of a task for its job's events (docs/design/bistro.md#events-of-a-task). The
   * status format of the job is not known here, so the text is parsed as a status line; without
   * text, only a failed start means the same for all jobs.
   */
  static Json.Obj statusForm(StatusParser statusText, TaskResult end) {
    if (end.kind() == TaskResult.Kind.START_FAILED
        && statusText.meaning(end, StatusSource.STATUS_LINE) instanceof TaskEvent.Ended ended) {
      return ended.report().toJson();
    }
    return end.rawStatus() == null ? Json.Obj.EMPTY : statusText.read(end.rawStatus()).toJson();
  }

  /**
   * Starts everything; from now on SIGINT and SIGTERM stop it and end this program with 0.
   *
   * @throws CommandException with one clear line when something is not available
   */
  public static WorkerProcess startUntilSignal(Options options) {
    CompletableFuture<WorkerProcess> started = new CompletableFuture<>();
    AtomicBoolean stopping = new AtomicBoolean();
    OwnerThread.haltOnDeath(ExitCode.FAILED);
    SignalHandling.handle(
        number -> {
          if (stopping.compareAndSet(false, true)) {
            var unused =
                started.thenAccept(
                    worker -> {
                      LOG.info("stopping");
                      worker.close();
                      System.exit(ExitCode.OK);
                    });
          }
        });
    try {
      WorkerProcess worker = new WorkerProcess(options);
      started.complete(worker);
      return worker;
    } catch (FileSystemException e) {
      throw new CommandException(ExitCode.USAGE, "cannot start: " + FileFailures.why(e), e);
    } catch (IOException | RuntimeException e) {
      throw e instanceof CommandException known
          ? known
          : new CommandException(ExitCode.USAGE, String.valueOf(e.getMessage()), e);
    }
  }

  /** Replaces the addresses of the scheduler; the worker tries them immediately. */
  public void schedulers(List<AgentOptions.Address> schedulers) {
    agent.schedulers(schedulers);
  }

  /** Returns the shard and the instance. */
  public String name() {
    return agent.self().shard() + " (" + Long.toHexString(agent.self().instance()) + ")";
  }

  /** Returns the address at which the worker listens; empty: nowhere. */
  public String address() {
    return agent.address();
  }

  /** Returns the address of its health and its metrics; empty: it does not serve them. */
  public String webAddress() {
    return web.map(server -> server.uri().toString()).orElse("");
  }

  /** Waits until the worker is drained or being stopped. */
  public void awaitEnd() throws InterruptedException {
    while (!agent.awaitDrained(1_000)) {
      if (closed.get()) {
        // The thread that handles the signal ends the program.
        boolean unused = ended.await(5, TimeUnit.MINUTES);
        return;
      }
    }
    if (!closed.get()) {
      LOG.info("drained; before it starts again, run: espalier uncordon {}", agent.self().shard());
    }
  }

  /** Stops everything in order. Several threads may call this; later callers wait for the first. */
  @Override
  public void close() {
    if (!closed.compareAndSet(false, true)) {
      try {
        boolean unused = ended.await(5, TimeUnit.MINUTES);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      return;
    }
    opened.close();
    ended.countDown();
  }
}
