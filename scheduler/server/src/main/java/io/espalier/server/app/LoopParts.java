package io.espalier.server.app;

import io.espalier.core.api.Command;
import io.espalier.core.call.CallbackSigner;
import io.espalier.core.event.Event;
import io.espalier.core.logs.LogStore;
import io.espalier.core.loop.LoopInput;
import io.espalier.core.loop.LoopOptions;
import io.espalier.core.loop.RestoredState;
import io.espalier.core.loop.SchedulerLoop;
import io.espalier.core.loop.state.LoopPorts;
import io.espalier.core.protocol.LeadershipTerm;
import io.espalier.core.running.TaskRunner;
import io.espalier.core.running.TaskRunnerType;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.status.StatusParser;
import io.espalier.core.status.store.Brake;
import io.espalier.core.status.store.StoreTransaction;
import io.espalier.json.JsonReader;
import io.espalier.server.app.loop.CurrentView;
import io.espalier.server.app.loop.LoopTaskListener;
import io.espalier.server.app.loop.LoopThread;
import io.espalier.server.app.loop.RecentEvents;
import io.espalier.server.app.metrics.EventMetrics;
import io.espalier.server.app.metrics.LogMetrics;
import io.espalier.server.app.options.ProcessOptions;
import io.espalier.server.app.options.RunnerOptions;
import io.espalier.server.app.ownership.StoreOwnership;
import io.espalier.server.notify.NotificationSender;
import io.espalier.server.remote.RemoteRunner;
import io.espalier.server.replay.Recording;
import io.espalier.server.shipping.LogShipper;
import io.espalier.server.store.StatusWriter;
import io.espalier.worker.DryRunRunner;
import io.espalier.worker.LocalRunner;
import io.espalier.worker.SimulatedRunner;
import io.espalier.worker.call.CallExecutor;
import io.espalier.worker.logs.SegmentLogStore;
import io.espalier.worker.process.SupervisorOptions;
import io.espalier.worker.process.TaskLog;
import io.micrometer.core.instrument.MeterRegistry;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The scheduler loop on its thread, with the runner, the writer and the logs that it needs. It has
 * no configuration yet.
 *
 * @param core for {@link io.espalier.server.app.update.UpdatePreparer} only: the rest of its
 *     methods belong to the thread
 * @param recording null: nothing is recorded
 */
record LoopParts(
    LoopThread thread,
    SchedulerLoop loop,
    SchedulingCore core,
    CurrentView view,
    RecentEvents events,
    StatusWriter writer,
    LogStore logs,
    TaskRunner runner,
    CallbackSigner callbacks,
    NotificationSender notifications,
    @Nullable Recording recording) {
  private static final Logger LOG = LoggerFactory.getLogger(LoopParts.class);
  private static final Command.SetBrake BRAKE_ON_ALL =
      new Command.SetBrake(Brake.of(Brake.Key.all(), 0).reason("started with --paused").build(), 0);
  private static final int EVENTS_KEPT = 20_000;
  private static final Duration FLUSH_AT_MOST = Duration.ofSeconds(20);
  private static final Duration GUARD_AT_MOST = Duration.ofSeconds(30);
  private static final Duration LAST_ENDS_AT_MOST = Duration.ofSeconds(10);

  /**
   * Restores the state from the store and starts the loop.
   *
   * @throws IOException with a clear message when something is not available
   */
  static LoopParts open(
      OpenParts opened,
      ProcessOptions options,
      Plugins plugins,
      StoreParts stored,
      MeterRegistry metrics,
      InstantSource clock)
      throws IOException {
    long epoch = stored.epoch();
    RecentEvents events = RecentEvents.continuing(stored.store(), EVENTS_KEPT);
    StatusWriter writer = new StatusWriter(stored.store(), epoch, StatusWriter.Limits.DEFAULT);
    writer.start();
    opened.add("status writer", () -> writer.close(FLUSH_AT_MOST));
    StatusParser statusText = new StatusParser(JsonReader::parse);
    LogStore logs = opened.add("logs", SegmentLogStore.open(stored.data().logs()));
    logs.apply(options.logs().policy());
    SchedulingCore core = new SchedulingCore(options.seed(), plugins.workerSelectors());
    Recording recording =
        options.record().isEmpty()
            ? null
            : opened.add(
                "recording", recording(options.record().get(), epoch, options.seed(), plugins));
    if (recording != null) {
      core.recordTo(recording);
    }
    NotificationSender notifications =
        opened.add("notifications", new NotificationSender(stored.taken().storeId(), clock));
    LoopThread thread = opened.add("scheduler", new LoopThread(clock, stored.onDeath()));
    // Closed after the runner, so that it sends the output of the last tasks, too.
    options
        .logs()
        .ship()
        .map(
            to ->
                LogShipper.start(
                    logs,
                    stored.data(),
                    to,
                    options.source().instanceNodeName(),
                    problem -> thread.accept(new LoopInput.SourceError("log shipping", problem))))
        .ifPresent(shipper -> LogMetrics.register(opened.add("log shipping", shipper), metrics));
    TaskRunner runner = runner(options, stored, logs, statusText, plugins);
    CurrentView view = new CurrentView();
    // Registered right away: when reading the store fails below, the next attempt must find the
    // port free.
    opened.add("runner", () -> stop(runner, thread, view));
    CallbackSigner callbacks = new CallbackSigner(stored.store().callbackKey(epoch));
    EventMetrics happened = new EventMetrics(metrics, () -> view.get().progress().keySet());
    SchedulerLoop loop =
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
                LoopParts::warn,
                action -> thread.accept(new LoopInput.Deferred(action)),
                notifications),
            new LoopOptions(
                epoch,
                options.source().instanceNodeName(),
                options.source().hostName(),
                options.runner().maxAttempts(),
                events.newest() + 1,
                callbacks));
    RestoredState restored = RestoredState.of(stored.store(), runner.outlivesScheduler());
    runner.open(new LoopTaskListener(thread));
    loop.restore(restored);
    if (options.paused()) {
      // The first step takes it before anything can start.
      thread.accept(new LoopInput.Execute<>(BRAKE_ON_ALL, new CompletableFuture<>()));
    }
    if (options.frozen()) {
      thread.accept(new LoopInput.Stop());
    }
    thread.start(loop);
    return new LoopParts(
        thread,
        loop,
        core,
        view,
        events,
        writer,
        logs,
        runner,
        callbacks,
        notifications,
        recording);
  }

  /** Returns the runner if it runs tasks on workers. */
  @Nullable RemoteRunner remote() {
    return runner instanceof RemoteRunner workers ? workers : null;
  }

  /**
   * Opens the recording. A second term of the same process gets its own file, so that it does not
   * overwrite the recording of the first.
   */
  private static Recording recording(Path wanted, long epoch, long seed, Plugins plugins)
      throws IOException {
    Path file = Files.exists(wanted) ? Path.of(wanted + "." + epoch) : wanted;
    try {
      Recording recording = Recording.create(file, seed, plugins.workerSelectors().keySet());
      LOG.info("recording every event and placement to {}", file);
      return recording;
    } catch (IOException e) {
      throw new IOException("cannot record to " + file + ": " + e, e);
    }
  }

  private static TaskRunner runner(
      ProcessOptions options,
      StoreParts stored,
      LogStore logs,
      StatusParser statusText,
      Plugins plugins)
      throws IOException {
    String shard = options.source().instanceNodeName();
    String host = options.source().hostName();
    RunnerOptions how = options.runner();
    return switch (how.kind()) {
      case DRY_RUN -> new DryRunRunner(shard);
      case PLUG_IN -> plugIn(options, stored, plugins);
      case SIMULATED ->
          new SimulatedRunner(
              shard, how.simulation().meanMillis(), how.simulation().failureRate(), options.seed());
      case REMOTE ->
          listen(
              shard,
              how.remote().orElseThrow(),
              stored,
              new CallExecutor(
                  new TaskLog(logs, host, end -> WorkerProcess.statusForm(statusText, end))));
      case LOCAL ->
          local(
              shard,
              SupervisorOptions.of(
                      stored.data().root(), Path.of(options.source().configDirectory()))
                  .withWorkerCommand(how.workerCommand())
                  .withHost(host)
                  .withMeasuring(how.measuring())
                  .withStatusForm(end -> WorkerProcess.statusForm(statusText, end)),
              logs,
              stored.leadership().ownership().orElse(null));
    };
  }

  /**
   * Prepares a local runner. If another scheduler can own the store while this process is stopped,
   * the tasks have a lease.
   */
  private static LocalRunner local(
      String shard, SupervisorOptions how, LogStore logs, @Nullable StoreOwnership ownership)
      throws IOException {
    if (ownership == null) {
      return LocalRunner.prepare(shard, how, logs);
    }
    LocalRunner runner = LocalRunner.prepareLeased(shard, how, logs);
    ownership.extend(runner::lease, ProcessOptions.LOCAL_KILL_MILLIS);
    try {
      runner.leaseInForce().get(GUARD_AT_MOST.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException | TimeoutException e) {
      runner.close();
      throw new IOException("the guard of the local tasks does not start: " + e.getMessage(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      runner.close();
      throw new IOException("interrupted while the guard of the local tasks started", e);
    }
    return runner;
  }

  /** Extends the lease of local tasks that have one. To be called about once a second. */
  void extendLocalLease(StoreParts stored) {
    if (runner instanceof LocalRunner local) {
      stored
          .leadership()
          .ownership()
          .ifPresent(proven -> proven.extend(local::lease, ProcessOptions.LOCAL_KILL_MILLIS));
    }
  }

  private static TaskRunner plugIn(ProcessOptions options, StoreParts stored, Plugins plugins)
      throws IOException {
    String name = options.runner().name();
    TaskRunnerType type = plugins.runners().get(name);
    if (type == null) {
      throw new IOException("there is no runner called " + name);
    }
    TaskRunner runner;
    try {
      runner =
          type.create(
              new TaskRunnerType.Context(
                  options.source().instanceNodeName(),
                  options.source().configDirectory(),
                  stored.data().root().toString(),
                  options.runner().workerCommand(),
                  options.seed()));
    } catch (RuntimeException e) {
      throw new IOException("the runner " + name + " cannot be created: " + e.getMessage(), e);
    }
    if (runner.outlivesScheduler()) {
      runner.close();
      throw new IOException(
          "the runner "
              + name
              + " says that its tasks outlive the scheduler: only --runner remote may");
    }
    return runner;
  }

  private static RemoteRunner listen(
      String shard, RunnerOptions.Remote how, StoreParts stored, CallExecutor calls)
      throws IOException {
    return RemoteRunner.listen(
        shard,
        new LeadershipTerm(
            stored.epoch(),
            stored.taken().storeId(),
            () -> stored.leadership().remainingMillis() > 0),
        how.timers().outwaiting(stored.taken().earlierLeaseMillis()),
        stored.history().past(stored.taken()),
        new InetSocketAddress(how.thrift().host(), how.thrift().port()),
        how.peer(),
        JsonReader::parse,
        newer -> stored.history().heard(newer, stored.epoch(), stored.onDeath()),
        calls);
  }

  /**
   * Ends all tasks. Their completions reach the store, because everything they need is still open.
   * Before the scheduler was started there are no tasks.
   */
  private static void stop(TaskRunner runner, LoopThread thread, CurrentView view)
      throws Exception {
    if (!thread.isStarted()) {
      runner.close();
      return;
    }
    thread.accept(new LoopInput.Stop());
    // Nothing is handed to the runner once this is answered.
    thread.call(SchedulerLoop::liveCount);
    runner.close();
    if (runner.outlivesScheduler()) {
      return;
    }
    // Completions arrive through the inbox, and so do tasks that were about to be dispatched.
    long deadline = System.nanoTime() + LAST_ENDS_AT_MOST.toNanos();
    while (thread.call(SchedulerLoop::awaitedCount) > 0 && System.nanoTime() < deadline) {
      TimeUnit.MILLISECONDS.sleep(5);
    }
    view.end(thread.call(SchedulerLoop::progress));
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
}
