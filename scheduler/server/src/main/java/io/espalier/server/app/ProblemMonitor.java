package io.espalier.server.app;

import io.espalier.core.api.view.SchedulerView;
import io.espalier.core.config.Config;
import io.espalier.core.loop.LoopInput;
import io.espalier.core.status.store.StaleEpochException;
import io.espalier.core.status.store.StoreException;
import io.espalier.server.nodes.NodesPoller;
import io.espalier.server.remote.RemoteRunner;
import io.espalier.server.replay.Recording;
import io.espalier.server.store.DataDirectoryException;
import io.espalier.webui.http.WebSecurity;
import io.espalier.worker.thread.PeriodicThread;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Polls what sends no notifications of its own: problems that come and go, and old logs. It has a
 * thread, which {@link #close} ends.
 */
final class ProblemMonitor implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ProblemMonitor.class);

  private final StoreParts stored;
  private final LoopParts loop;
  private final WebSecurity security;
  private final NodesPoller nodes;

  /** The problems that the scheduler thread knows, by their source. */
  private final Map<String, String> shown = new HashMap<>();

  private boolean outwaits;
  private boolean outwaited;
  private final PeriodicThread watch = new PeriodicThread("watch");

  private ProblemMonitor(
      StoreParts stored, LoopParts loop, WebSecurity security, NodesPoller nodes) {
    this.stored = stored;
    this.loop = loop;
    this.security = security;
    this.nodes = nodes;
  }

  /**
   * Starts to poll, every second for problems and every minute for old logs; remembers the store's
   * newest event.
   */
  static ProblemMonitor start(
      StoreParts stored,
      LoopParts loop,
      WebSecurity security,
      NodesPoller nodes,
      InstantSource clock) {
    ProblemMonitor started = new ProblemMonitor(stored, loop, security, nodes);
    started.every(1, () -> loop.extendLocalLease(stored));
    started.every(1, started::showProblems);
    if (loop.remote() != null) {
      started.every(5, started::rememberNewestEvent);
    }
    started.every(60, () -> loop.logs().prune(clock.millis()));
    return started;
  }

  private void every(int seconds, PeriodicThread.Work work) {
    watch.every(
        Duration.ZERO,
        Duration.ofSeconds(seconds),
        () -> {
          try {
            work.run();
          } catch (StaleEpochException e) {
            // As when the writer finds it, which may have nothing to write.
            stored.onDeath().accept(e);
          }
        });
  }

  private void showProblems() {
    String nodesProblem = nodes.state().problem(Instant.now());
    String pathsClosed = nodes.state().lacking();
    String storeProblem = loop.writer().problem().orElse(null);
    String logProblem = loop.logs().problem().orElse(null);
    Recording recording = loop.recording();
    String recordingProblem = recording == null ? null : recording.problem().orElse(null);
    show("nodes", nodesProblem);
    show("paths", pathsClosed);
    show(SchedulerView.STORE, storeProblem);
    show("task logs", logProblem);
    show("recording", recordingProblem);
    Config config = loop.view().get().config();
    show(
        "notifications",
        config == null ? null : loop.notifications().problem(config.settings().notifications()));
    security.problems().forEach((about, text) -> show(about, text.isEmpty() ? null : text));
    show("leadership", stored.leadership().problem().orElse(null));
    // Before what follows: that may throw as long as ZooKeeper is away.
    loop.writer().failure().ifPresent(stored.onDeath());
    RemoteRunner remote = loop.remote();
    if (remote != null) {
      showWorkers(remote);
    }
  }

  private void rememberNewestEvent() {
    try {
      stored.history().rememberNewestEvent(stored.epoch());
    } catch (StoreException | DataDirectoryException e) {
      // Whatever cannot be reached is among the problems; the next period tries again.
      LOG.debug("the newest event is not remembered", e);
    }
  }

  /** Tells the scheduler thread, which an input wakes up, only what is new. */
  private void show(String source, @Nullable String problem) {
    String before = problem == null ? shown.remove(source) : shown.put(source, problem);
    if (Objects.equals(before, problem)) {
      return;
    }
    loop.thread().accept(new LoopInput.SourceError(source, problem));
  }

  private void showWorkers(RemoteRunner workers) {
    String problem = workers.problem().orElse(null);
    boolean waits = workers.waitsSafely();
    String setBack = waits ? stored.history().problem().orElse(null) : null;
    show(SchedulerView.WORKERS, problem);
    show("store set back", setBack);
    if (waits && !outwaits) {
      stored.history().outwaits(stored.epoch());
      outwaits = true;
      outwaited = false;
    }
    if (!outwaited && workers.hasOutwaited()) {
      stored.history().outwaited(stored.epoch());
      outwaited = true;
    }
  }

  @Override
  public void close() {
    watch.close();
  }
}
