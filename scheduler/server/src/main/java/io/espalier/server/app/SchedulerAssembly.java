package io.espalier.server.app;

import io.espalier.core.api.SchedulerApi;
import io.espalier.core.config.Partition;
import io.espalier.core.config.Settings;
import io.espalier.core.event.Event;
import io.espalier.core.logs.LogPolicy;
import io.espalier.core.logs.LogReader;
import io.espalier.core.logs.LogStore;
import io.espalier.core.loop.LoopInput;
import io.espalier.core.loop.LoopOptions;
import io.espalier.core.loop.RestoredState;
import io.espalier.core.loop.SchedulerLoop;
import io.espalier.core.loop.state.LoopPorts;
import io.espalier.core.running.TaskRunner;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.status.StatusParser;
import io.espalier.core.status.store.StaleEpochException;
import io.espalier.core.status.store.StatusStore;
import io.espalier.core.status.store.StoreException;
import io.espalier.core.status.store.StoreTransaction;
import io.espalier.core.topology.NodeSourceContext;
import io.espalier.json.JsonReader;
import io.espalier.server.app.loop.CurrentView;
import io.espalier.server.app.loop.LoopSchedulerApi;
import io.espalier.server.app.loop.LoopTaskListener;
import io.espalier.server.app.loop.LoopThread;
import io.espalier.server.app.loop.RecentEvents;
import io.espalier.server.app.metrics.EventMetrics;
import io.espalier.server.app.metrics.JvmMetrics;
import io.espalier.server.app.metrics.LogMetrics;
import io.espalier.server.app.metrics.PoolMetrics;
import io.espalier.server.app.metrics.SchedulerMetrics;
import io.espalier.server.app.options.ProcessOptions;
import io.espalier.server.app.ownership.Leadership;
import io.espalier.server.app.ownership.StartWaits;
import io.espalier.server.app.ownership.StatusImport;
import io.espalier.server.app.ownership.StoreHistory;
import io.espalier.server.app.ownership.StoreOwnership;
import io.espalier.server.app.ownership.StoreRight;
import io.espalier.server.app.update.AsyncJobEditor;
import io.espalier.server.app.update.LateBoundListener;
import io.espalier.server.app.update.UpdatePreparer;
import io.espalier.server.config.ConfigPoller;
import io.espalier.server.config.ConfigSnapshot;
import io.espalier.server.config.JobEditor;
import io.espalier.server.nodes.NodeFetcher;
import io.espalier.server.nodes.NodeSourceCoordinator;
import io.espalier.server.nodes.NodesMemory;
import io.espalier.server.nodes.NodesPoller;
import io.espalier.server.remote.RemoteRunner;
import io.espalier.server.replay.Recording;
import io.espalier.server.store.DataDirectory;
import io.espalier.server.store.EpochFile;
import io.espalier.server.store.StatusWriter;
import io.espalier.server.store.StoreCleaner;
import io.espalier.server.store.jdbc.mysql.MySqlStatusStore;
import io.espalier.webui.WebServer;
import io.espalier.webui.http.WebSecurity;
import io.espalier.webui.security.AuditLog;
import io.espalier.webui.security.FileAuditLog;
import io.espalier.worker.logs.SegmentLogStore;
import io.espalier.worker.process.os.FileFailures;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Wires a scheduler process. It opens the parts from top to bottom and closes them in reverse
 * order. Each step of the shutdown is bounded in time, and a failed step does not prevent the next
 * one.
 */
final class SchedulerAssembly implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(SchedulerAssembly.class);
  private static final int EVENTS_KEPT = 20_000;
  private static final long AUDIT_FILE_BYTES = 16L << 20;
  private static final int AUDIT_FILES = 8;
  private static final Duration FLUSH_AT_MOST = Duration.ofSeconds(20);

  private static final Duration LAST_ENDS_AT_MOST = Duration.ofSeconds(10);

  /** The open parts, newest first. */
  private final Deque<Step> opened = new ArrayDeque<>();

  private final PrometheusMeterRegistry metrics =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
  private final CurrentView view = new CurrentView();

  private final LogStore logs;
  private final LogPolicy logPolicy;
  private final @Nullable Recording recording;
  final LoopThread thread;
  final SchedulerLoop loop;
  final UpdatePreparer changes;
  final NodesPoller nodes;
  final ConfigPoller configs;
  final SchedulerApi api;
  final @Nullable WebServer web;
  final @Nullable RemoteRunner remote;

  private record Step(String name, AutoCloseable part) {}

  /**
   * @param configPoller has been polled once and has a good configuration
   * @param follow forwards the poller's snapshots
   * @param elected the leadership by which this scheduler may answer workers and start tasks
   * @param waits the waits of the start, which a stop request can end
   * @throws IOException with a clear message when an external resource is not available
   */
  SchedulerAssembly(
      ProcessOptions options,
      Plugins plugins,
      ConfigPoller configPoller,
      LateBoundListener follow,
      Leadership elected,
      StartWaits waits,
      Consumer<Throwable> onDeath)
      throws IOException, InterruptedException {
    boolean complete = false;
    try {
      InstantSource clock = InstantSource.system();
      LOG.info("effective options: {}", options.shown());
      DataDirectory data =
          opened("data directory", DataDirectory.open(options.dataDir(), options.source()));
      if (options.fresh()) {
        data.forget();
      }
      StatusImport.requireNothingBeside(options, data);
      // The store's tables must not be touched until it is certain that no other process owns them.
      Optional<StoreOwnership> ownership =
          owned(options, data, elected, elected.ownership(), waits);
      StatusStore store = opened("status store", ComponentFactory.store(options, data));
      ownership = owned(options, data, elected, ownership, waits);
      StoreRight leadership = new StoreRight(elected, ownership.orElse(null));
      Consumer<Throwable> died =
          cause -> {
            if (cause instanceof StaleEpochException) {
              // This comes first: closing takes a while, and workers must receive nothing from us
              // meanwhile.
              leadership.end();
            }
            onDeath.accept(cause);
          };
      if (store instanceof MySqlStatusStore schema) {
        StoreOwnership mine = ownership.orElseThrow();
        schema.ownedBy(mine.process());
        if (elected.ownership().isEmpty()) {
          mine.prove(died, () -> unproven(options, store, died));
        }
      }
      StatusImport.bind(options, data, store);
      EpochFile mark = new EpochFile(data.epochFile());
      StoreHistory history = StoreHistory.look(options, store, mark, data);
      StatusStore.Taken taken =
          history.taken(
              StatusImport.take(
                  options,
                  data,
                  store,
                  new StatusStore.TakeOver(mark.highest() + 1, options.leaseMillis())));
      if (options.remote().isEmpty()) {
        history.outwaitWorkers(taken, waits);
      }
      long epoch = taken.epoch();
      if (options.fresh() && store instanceof MySqlStatusStore schema) {
        // Not before the wait, which depends on the rows, and which a restart must find again.
        schema.forgetEverything(epoch);
      }
      RecentEvents events = RecentEvents.continuing(store, EVENTS_KEPT);
      StatusWriter writer = new StatusWriter(store, epoch, StatusWriter.Limits.DEFAULT);
      writer.start();
      opened("status writer", () -> writer.close(FLUSH_AT_MOST));
      StatusParser statusText = new StatusParser(JsonReader::parse);
      logPolicy = options.logs().policy();
      logs = opened("logs", SegmentLogStore.open(data.logs()));
      logs.apply(logPolicy);
      SchedulingCore core = new SchedulingCore(options.seed(), plugins.workerSelectors());
      recording =
          options.record().isEmpty()
              ? null
              : opened(
                  "recording",
                  ComponentFactory.recording(options.record().get(), epoch, options, plugins));
      if (recording != null) {
        core.recordTo(recording);
      }
      thread = opened("scheduler", new LoopThread(clock, died));
      // Registered right away: when reading the store fails below, the next attempt must find the
      // port free.
      TaskRunner runner =
          ComponentFactory.runner(
              options,
              data,
              logs,
              statusText,
              taken,
              history.past(taken),
              leadership,
              newer -> history.heard(newer, epoch, died));
      opened("runner", () -> stop(runner));
      remote = runner instanceof RemoteRunner workers ? workers : null;
      EventMetrics happened = new EventMetrics(metrics);
      loop =
          new SchedulerLoop(
              core,
              plugins.policies(),
              statusText,
              new LoopPorts(
                  runner,
                  new Commits(writer),
                  news -> {
                    publish(events, news);
                    happened.happened(news);
                  },
                  view::publish,
                  SchedulerAssembly::warn,
                  action -> thread.accept(new LoopInput.Deferred(action))),
              new LoopOptions(
                  epoch, options.instanceNodeName(), options.maxAttempts(), events.newest() + 1));
      RestoredState restored = RestoredState.of(store, runner.outlivesScheduler());
      runner.open(new LoopTaskListener(thread));
      loop.restore(restored);
      if (options.frozen()) {
        thread.accept(new LoopInput.Stop());
      }
      thread.start(loop);
      // Listens before anything can start: a port in use must not interrupt tasks that were
      // started.
      ExecutorService queries = Executors.newFixedThreadPool(2, r -> new Thread(r, "log-queries"));
      opened("log queries", new ExecutorCloser(queries));
      events.readOlderFrom(store, queries);
      opened(
          "store cleaner",
          StoreCleaner.start(
              store,
              epoch,
              () -> options.events().retention(clock.millis()),
              StoreCleaner.Pace.DEFAULT,
              died));
      JobEditor editor =
          new JobEditor(
              configPoller.source(), plugins.configParser().inShard(options.shard()), clock);
      api =
          new LoopSchedulerApi(
              thread,
              loop.stats(),
              view,
              events,
              remote == null
                  ? LogReader.of(
                      query -> CompletableFuture.supplyAsync(() -> logs.query(query), queries))
                  : opened("worker logs", remote.logs(logs)),
              store,
              queries,
              new AsyncJobEditor(editor, queries),
              leadership.control(epoch));
      WebSecurity security = options.access().open(audit(data));
      if (options.http().isPresent()) {
        meter(options.shard(), writer, leadership, epoch, queries);
      }
      leadership.beforeListening();
      web =
          options.http().isEmpty()
              ? null
              : opened(
                  "http",
                  ComponentFactory.web(options, leadership, runner, api, metrics, security));
      changes =
          opened(
              "changes",
              new UpdatePreparer(
                  core,
                  thread,
                  store,
                  problem -> thread.accept(new LoopInput.SourceError("changes", problem))));
      NodeFetcher fetcher =
          new NodeFetcher(
              plugins.nodeSources(),
              options.instanceNodeName(),
              new NodeSourceContext(options.configDirectory(), data.root().toString()),
              options.shard());
      nodes =
          opened(
              "nodes",
              new NodesPoller(
                  new NodeSourceCoordinator(
                      fetcher,
                      options.nodesUpdate(),
                      options.nodesRetry(),
                      clock,
                      memory(store, epoch)),
                  options.nodesUpdate(),
                  options.nodesRetry(),
                  clock,
                  changes::nodes));
      configs = opened("configuration", configPoller);
      follow.goTo(this::configured);
      configured(configPoller.current());
      configs.start();
      nodes.start();
      opened(
          "watch",
          ProblemMonitor.start(
              thread,
              nodes,
              writer,
              logs,
              recording,
              security,
              leadership,
              remote,
              history,
              epoch,
              clock,
              died));
      complete = true;
    } finally {
      if (!complete) {
        close();
      }
    }
  }

  /** Stores the memory of nodes next to the statuses, so that it survives a fail-over. */
  private static NodesMemory memory(StatusStore store, long epoch) {
    return new NodesMemory() {
      @Override
      public String load() {
        return store.nodesSketch();
      }

      @Override
      public void save(String text) {
        store.keepNodesSketch(epoch, text);
      }
    };
  }

  /**
   * Acquires the ownership of the store unless we have it already. A store without tables cannot be
   * acquired yet.
   */
  private Optional<StoreOwnership> owned(
      ProcessOptions options,
      DataDirectory data,
      Leadership elected,
      Optional<StoreOwnership> already,
      StartWaits waits)
      throws InterruptedException {
    if (already.isPresent() || options.mysql().isEmpty()) {
      return already;
    }
    Optional<StoreOwnership> taken =
        StoreOwnership.take(
            options.mysql().get(),
            ComponentFactory.applicant(options, data, elected.group()),
            waits);
    taken.ifPresent(mine -> opened("store ownership", mine));
    return taken;
  }

  /**
   * Handles a lost proof of ownership. Remote tasks end when their leases expire; local tasks have
   * no leases and must end before another scheduler may start them.
   */
  private static void unproven(
      ProcessOptions options, StatusStore store, Consumer<Throwable> died) {
    if (options.runner() == ProcessOptions.Runner.LOCAL) {
      died.accept(
          new StoreException(
              store.description()
                  + " has not said for "
                  + options.owning().proof().toSeconds()
                  + " s that it belongs to this scheduler: the local tasks are ended, because"
                  + " another may start them",
              false,
              null));
    }
  }

  /** Handles a new result of the configuration poller, good or bad. */
  private void configured(ConfigSnapshot snapshot) {
    thread.accept(new LoopInput.ConfigProblems(snapshot.problems()));
    thread.accept(
        new LoopInput.SourceError(
            "configuration",
            snapshot.stale() ? "the newest configuration is not in force: see problems" : null));
    if (snapshot.config() != null && !snapshot.stale()) {
      if (remote != null) {
        Settings settings = snapshot.config().settings();
        remote.exitSafeWaitBefore(settings.exitInitialWaitBefore());
        remote.healthCheckOptions(settings.defaults().subprocess());
      }
      logs.apply(logPolicy.withJobs(snapshot.config().jobs().values()));
      nodes.settings(snapshot.config().settings());
      changes.config(snapshot.config());
    }
  }

  private record ExecutorCloser(ExecutorService executor) implements AutoCloseable {
    @Override
    public void close() {
      executor.shutdownNow();
    }
  }

  /**
   * Ends all tasks. Their completions reach the store, because everything they need is still open.
   * Before the scheduler was started there are no tasks.
   */
  private void stop(TaskRunner runner) throws Exception {
    if (!thread.isStarted()) {
      runner.close();
      return;
    }
    thread.accept(new LoopInput.Stop());
    // Nothing is handed to the runner once this is answered.
    thread.call(loop::liveCount);
    runner.close();
    if (runner.outlivesScheduler()) {
      return;
    }
    // Completions arrive through the inbox, and so do tasks that were about to be dispatched.
    long deadline = System.nanoTime() + LAST_ENDS_AT_MOST.toNanos();
    while (thread.call(loop::liveCount) > 0 && System.nanoTime() < deadline) {
      TimeUnit.MILLISECONDS.sleep(5);
    }
  }

  /** Adapts the writer to the interface of the loop. */
  private record Commits(StatusWriter writer) implements LoopPorts.Commits {
    @Override
    public CompletionStage<Void> submit(StoreTransaction batch) {
      return writer.submit(batch);
    }

    @Override
    public boolean isSaturated() {
      return writer.isSaturated();
    }
  }

  /** Opens the audit log of this data directory; it does not depend on who leads. */
  private AuditLog audit(DataDirectory data) throws IOException {
    return opened(
        "audit log",
        FileFailures.needing(
            "the audit log",
            data.root(),
            () -> FileAuditLog.open(data.root(), AUDIT_FILE_BYTES, AUDIT_FILES)));
  }

  private void meter(
      Partition shard,
      StatusWriter writer,
      Leadership leadership,
      long epoch,
      ExecutorService queries) {
    SchedulerMetrics meters = new SchedulerMetrics(metrics);
    meters.shard(shard);
    meters.loop(thread, loop.stats());
    meters.store(writer);
    meters.leadership(leadership.control(epoch), leadership.group().orElse(""));
    if (queries instanceof ThreadPoolExecutor pool) {
      meters.gauge(
          "espalier.queries.queue",
          "Questions that wait for the store or the logs",
          pool,
          p -> p.getQueue().size());
    }
    LogMetrics.register(logs, metrics);
    if (remote != null) {
      PoolMetrics.register(remote, metrics);
    }
    opened("process metrics", new JvmMetrics(metrics));
  }

  private static void publish(RecentEvents events, List<Event> news) {
    if (LOG.isDebugEnabled()) {
      for (Event event : news) {
        LOG.atDebug().addKeyValue("event", event.kind()).log(event.data().toString());
      }
    }
    events.publish(news);
  }

  private static void warn(String message, String job, String node) {
    LOG.atWarn().addKeyValue("job", job).addKeyValue("node", node).log(message);
  }

  private <T extends AutoCloseable> T opened(String name, T part) {
    opened.push(new Step(name, part));
    return part;
  }

  @Override
  public void close() {
    while (!opened.isEmpty()) {
      Step step = opened.pop();
      try {
        step.part().close();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      } catch (Exception e) {
        LOG.warn("closing {} failed", step.name(), e);
      }
    }
  }
}
