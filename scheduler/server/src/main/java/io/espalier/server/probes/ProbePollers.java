package io.espalier.server.probes;

import io.espalier.core.config.Levels;
import io.espalier.core.config.Settings;
import io.espalier.core.health.ProbeSpec;
import io.espalier.core.loop.health.ProbeAnswer;
import io.espalier.core.pace.Jitter;
import io.espalier.core.problem.Problem;
import io.espalier.core.topology.NodeLookup;
import io.espalier.core.topology.NodeSource;
import io.espalier.core.topology.NodeSourceException;
import io.espalier.server.nodes.NodeFetcher;
import io.espalier.worker.thread.PollingThread;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks the source of each probe for values, on a thread of its own, so that one that hangs delays
 * no other. A probe whose settings are edited is asked at once. Thread-safe.
 */
public final class ProbePollers implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ProbePollers.class);
  private static final Duration CLOSE_BOUND = Duration.ofSeconds(2);

  /** A source is asked once, for the children of the only node. */
  private static final NodeLookup UNDER_INSTANCE =
      level -> level == 0 ? List.of(Levels.INSTANCE) : List.of();

  private final NodeFetcher sources;
  private final InstantSource clock;
  private final Consumer<ProbeAnswer> receiver;
  private final Jitter jitter = new Jitter(ThreadLocalRandom.current().nextLong());
  private final Map<String, Polled> polled = new LinkedHashMap<>();
  private boolean closed;

  /**
   * @param receiver takes the answers, on any thread; must not block
   */
  public ProbePollers(NodeFetcher sources, InstantSource clock, Consumer<ProbeAnswer> receiver) {
    this.sources = sources;
    this.clock = clock;
    this.receiver = receiver;
  }

  /** Follows other settings. */
  public synchronized void settings(Settings settings) {
    if (closed) {
      return;
    }
    Map<String, Polled> before = new LinkedHashMap<>(polled);
    polled.clear();
    for (ProbeSpec spec : settings.rules().probes()) {
      if (spec.isPushed()) {
        continue;
      }
      Polled known = before.get(spec.name());
      if (known != null && known.spec.equals(spec)) {
        before.remove(spec.name());
        polled.put(spec.name(), known);
      } else {
        polled.put(spec.name(), new Polled(spec));
      }
    }
    before.values().forEach(Polled::close);
    polled.values().forEach(Polled::start);
  }

  @Override
  public synchronized void close() {
    closed = true;
    polled.values().forEach(Polled::close);
    polled.clear();
  }

  /** One probe, as long as its settings are the same. */
  private final class Polled {
    final ProbeSpec spec;
    final PollingThread thread;
    private boolean started;

    /** Only for the thread, and after its end. */
    private @Nullable NodeSource source;

    Polled(ProbeSpec spec) {
      this.spec = spec;
      thread =
          new PollingThread(
              "probe-" + spec.name(),
              "asking probe " + spec.name(),
              clock,
              spec.every(),
              this::poll);
    }

    void start() {
      if (!started) {
        started = true;
        thread.due(Instant.MIN);
        thread.start();
      }
    }

    private void poll(Instant now) throws InterruptedException {
      receiver.accept(ask(now));
      thread.dueIn(jitter.shorten(spec.every(), Jitter.OF_PERIODS));
    }

    private ProbeAnswer ask(Instant now) throws InterruptedException {
      ProbeRows rows = new ProbeRows(now.toEpochMilli());
      try {
        NodeSource from = source;
        if (from == null) {
          List<Problem> problems = new ArrayList<>();
          from = sources.create(spec, problems);
          if (from == null) {
            return failed(problems);
          }
          source = from;
        }
        from.fetch(UNDER_INSTANCE, now, rows);
        return rows.answer(spec.name());
      } catch (NodeSourceException e) {
        return failed(e.problems());
      } catch (ProbeRows.TooManyException e) {
        return new ProbeAnswer(spec.name(), List.of(), String.valueOf(e.getMessage()));
      } catch (RuntimeException e) {
        // Sources are plug-ins, and their bugs must not end the polling.
        LOG.error("the source of probe {} has a defect", spec.name(), e);
        return new ProbeAnswer(spec.name(), List.of(), "its source has a defect: " + e);
      }
    }

    private ProbeAnswer failed(List<Problem> problems) {
      String all = problems.stream().map(Problem::message).collect(Collectors.joining("; "));
      return new ProbeAnswer(
          spec.name(), List.of(), all.isEmpty() ? "its source gives no reason" : all);
    }

    void close() {
      if (started) {
        thread.close(CLOSE_BOUND, true);
      }
      if (source != null) {
        source.close();
      }
    }
  }
}
