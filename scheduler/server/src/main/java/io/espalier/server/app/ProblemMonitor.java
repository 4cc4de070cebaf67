package io.espalier.server.app;

import io.espalier.core.api.view.SchedulerView;
import io.espalier.core.logs.LogStore;
import io.espalier.core.loop.LoopInput;
import io.espalier.server.app.ownership.Leadership;
import io.espalier.server.app.ownership.StoreHistory;
import io.espalier.server.nodes.NodesPoller;
import io.espalier.server.remote.RemoteRunner;
import io.espalier.server.replay.Recording;
import io.espalier.server.store.StatusWriter;
import io.espalier.webui.http.WebSecurity;
import java.time.Instant;
import java.time.InstantSource;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Polls what sends no notifications of its own: problems that come and go, and old logs. It has a
 * thread, which {@link #close} ends.
 */
final class ProblemMonitor implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ProblemMonitor.class);

  private final Consumer<LoopInput> loop;
  private final NodesPoller nodes;
  private final StatusWriter writer;
  private final LogStore logs;
  private final @Nullable Recording recording;
  private final WebSecurity security;
  private final Leadership leadership;
  private final @Nullable RemoteRunner remote;
  private final StoreHistory history;
  private final Consumer<Throwable> onDeath;
  private final long epoch;
  private boolean outwaited;
  private final ScheduledExecutorService watch =
      Executors.newSingleThreadScheduledExecutor(r -> new Thread(r, "watch"));

  private ProblemMonitor(
      Consumer<LoopInput> loop,
      NodesPoller nodes,
      StatusWriter writer,
      LogStore logs,
      @Nullable Recording recording,
      WebSecurity security,
      Leadership leadership,
      @Nullable RemoteRunner remote,
      StoreHistory history,
      long epoch,
      Consumer<Throwable> onDeath) {
    this.loop = loop;
    this.nodes = nodes;
    this.writer = writer;
    this.logs = logs;
    this.recording = recording;
    this.security = security;
    this.leadership = leadership;
    this.remote = remote;
    this.history = history;
    this.epoch = epoch;
    this.onDeath = onDeath;
  }

  /**
   * Starts to poll, every second for problems and every minute for old logs.
   *
   * @param recording null: nothing is recorded
   * @param remote null: there are no remote workers
   * @param history of the store, notified once the tasks of earlier leaderships have been waited
   *     for
   * @param epoch of this leadership
   * @param onDeath called with the reason when statuses can no longer be stored
   */
  static ProblemMonitor start(
      Consumer<LoopInput> loop,
      NodesPoller nodes,
      StatusWriter writer,
      LogStore logs,
      @Nullable Recording recording,
      WebSecurity security,
      Leadership leadership,
      @Nullable RemoteRunner remote,
      StoreHistory history,
      long epoch,
      InstantSource clock,
      Consumer<Throwable> onDeath) {
    ProblemMonitor started =
        new ProblemMonitor(
            loop,
            nodes,
            writer,
            logs,
            recording,
            security,
            leadership,
            remote,
            history,
            epoch,
            onDeath);
    started.every(1, started::showProblems);
    started.every(60, () -> logs.prune(clock.millis()));
    return started;
  }

  /** Runs the work periodically. Logs a failure and tries again at the next period. */
  private void every(int seconds, Runnable work) {
    ScheduledFuture<?> forEver =
        watch.scheduleWithFixedDelay(
            () -> {
              try {
                work.run();
              } catch (RuntimeException e) {
                LOG.warn("watching failed", e);
              }
            },
            0,
            seconds,
            TimeUnit.SECONDS);
    LOG.trace("watching by {}", forEver);
  }

  private void showProblems() {
    String nodesProblem = nodes.state().problem(Instant.now());
    String pathsClosed = nodes.state().lacking();
    String storeProblem = writer.problem().orElse(null);
    String logProblem = logs.problem().orElse(null);
    String recordingProblem = recording == null ? null : recording.problem().orElse(null);
    show("nodes", nodesProblem);
    show("paths", pathsClosed);
    show(SchedulerView.STORE, storeProblem);
    show("task logs", logProblem);
    show("recording", recordingProblem);
    security.problems().forEach((about, text) -> show(about, text.isEmpty() ? null : text));
    show("leadership", leadership.problem().orElse(null));
    if (remote != null) {
      showWorkers(remote);
    }
    writer.failure().ifPresent(onDeath);
  }

  private void show(String source, @Nullable String problem) {
    loop.accept(new LoopInput.SourceError(source, problem));
  }

  private void showWorkers(RemoteRunner workers) {
    String problem = workers.problem().orElse(null);
    boolean waits = workers.waitsSafely();
    String setBack = waits ? history.problem().orElse(null) : null;
    show(SchedulerView.WORKERS, problem);
    show("store set back", setBack);
    if (!outwaited && workers.hasOutwaited()) {
      history.outwaited(epoch);
      outwaited = true;
    }
  }

  @Override
  public void close() {
    watch.shutdownNow();
  }
}
