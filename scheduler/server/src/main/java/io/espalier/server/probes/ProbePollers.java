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
import io.espalier.core.topology.ProbeUse;
import io.espalier.core.topology.Topology;
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

  /** How many nodes a probe asks at the same time, where it asks each. */
  private static final int NODES_AT_ONCE = 8;

  /** A source is asked once, for the children of the only node. */
  private static final NodeLookup UNDER_INSTANCE =
      level -> level == 0 ? List.of(Levels.INSTANCE) : List.of();

  private final NodeFetcher fetcher;
  private final InstantSource clock;
  private final Consumer<ProbeAnswer> receiver;
  private final Jitter jitter = new Jitter(ThreadLocalRandom.current().nextLong());
  private final Map<String, Polled> polled = new LinkedHashMap<>();
  private volatile @Nullable Topology nodes;
  private boolean closed;

  /**
   * @param receiver takes the answers, on any thread; must not block
   */
  public ProbePollers(NodeFetcher fetcher, InstantSource clock, Consumer<ProbeAnswer> receiver) {
    this.fetcher = fetcher;
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

  /** Takes the nodes that probes ask about, where each node is asked. */
  public synchronized void nodes(Topology newest) {
    nodes = newest;
    polled.values().forEach(Polled::nodesHaveCome);
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

    /** There was nobody to ask yet. */
    private volatile boolean waitsForNodes;

    /** Only for the thread, and after its end; one, or several that ask nodes. */
    private final List<NodeSource> sources = new ArrayList<>();

    private final NodeTurns turns = new NodeTurns();

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

    void nodesHaveCome() {
      if (waitsForNodes) {
        waitsForNodes = false;
        thread.due(Instant.MIN);
      }
    }

    private ProbeAnswer ask(Instant now) throws InterruptedException {
      try {
        List<Problem> problems = new ArrayList<>();
        NodeSource from = source(0, problems);
        if (from == null) {
          return failed(why(problems));
        }
        if (from.probeUse() == ProbeUse.PER_NODE) {
          return askNodes(problems);
        }
        ProbeRows rows = new ProbeRows(now.toEpochMilli());
        from.fetch(UNDER_INSTANCE, now, rows);
        return rows.answer(spec.name());
      } catch (NodeSourceException e) {
        return failed(why(e.problems()));
      } catch (ProbeRows.TooManyException e) {
        return failed(String.valueOf(e.getMessage()));
      } catch (RuntimeException | Error e) {
        // Sources are plug-ins, and their bugs must not end the polling.
        LOG.error("the source of probe {} has a defect", spec.name(), e);
        return failed("its source has a defect: " + e);
      }
    }

    private ProbeAnswer askNodes(List<Problem> problems) throws InterruptedException {
      List<String> names = names();
      if (names.isEmpty()) {
        return failed("");
      }
      turns.begin(names);
      int count = Math.min(NODES_AT_ONCE, names.size());
      for (int i = 0; i < count; i++) {
        if (source(i, problems) == null) {
          return failed(why(problems));
        }
      }
      NodeRound round = new NodeRound(turns, clock, spec.every());
      return round.ask(spec.name(), sources.subList(0, count));
    }

    private List<String> names() {
      waitsForNodes = true;
      Topology there = nodes;
      List<String> names = new ArrayList<>();
      if (there != null && spec.level() < there.levels().count()) {
        for (int node = there.levelStart(spec.level());
            node < there.levelEnd(spec.level());
            node++) {
          names.add(there.name(node));
        }
      }
      waitsForNodes = names.isEmpty();
      return names;
    }

    /** Returns a source, which is made when there are not so many; null: it cannot be made. */
    private @Nullable NodeSource source(int index, List<Problem> problems) {
      if (index == sources.size()) {
        NodeSource made = fetcher.create(spec, problems);
        if (made == null) {
          return null;
        }
        sources.add(made);
      }
      return sources.get(index);
    }

    private ProbeAnswer failed(String why) {
      return new ProbeAnswer(spec.name(), List.of(), why);
    }

    void close() {
      if (started) {
        thread.close(CLOSE_BOUND, true);
      }
      sources.forEach(NodeSource::close);
    }
  }

  /** Returns problems as one text. */
  static String why(List<Problem> problems) {
    String all = problems.stream().map(Problem::message).collect(Collectors.joining("; "));
    return all.isEmpty() ? "its source gives no reason" : all;
  }
}
