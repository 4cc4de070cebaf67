package io.espalier.server.probes;

import io.espalier.core.config.Levels;
import io.espalier.core.loop.health.ProbeAnswer;
import io.espalier.core.loop.health.ProbeAnswer.Sample;
import io.espalier.core.topology.NodeLookup;
import io.espalier.core.topology.NodeSource;
import io.espalier.core.topology.NodeSourceException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Asks the nodes of a probe one by one, a few at the same time, for a bounded time. A node that
 * gives no value does not keep the others from being known. For one round; sources are used by one
 * thread each.
 */
final class NodeRound {
  private static final Duration END_BOUND = Duration.ofSeconds(2);

  private final NodeTurns turns;
  private final InstantSource clock;
  private final long deadline;
  private final Duration bound;

  private final List<Sample> samples = new ArrayList<>();
  private int asked;
  private int failed;
  private String first = "";

  /**
   * @param turns those whose round has begun
   * @param bound after it no more nodes are asked
   */
  NodeRound(NodeTurns turns, InstantSource clock, Duration bound) {
    this.turns = turns;
    this.clock = clock;
    this.bound = bound;
    this.deadline = System.nanoTime() + bound.toNanos();
  }

  /** Asks with all sources at the same time, and returns when all have ended. */
  ProbeAnswer ask(String probe, List<NodeSource> sources) throws InterruptedException {
    ExecutorService threads =
        Executors.newFixedThreadPool(
            sources.size(),
            work -> {
              Thread thread = new Thread(work, "probe-" + probe + "-node");
              thread.setDaemon(true);
              return thread;
            });
    try {
      List<Future<?>> all = new ArrayList<>();
      for (NodeSource source : sources) {
        all.add(threads.submit(() -> askInTurn(source)));
      }
      for (Future<?> each : all) {
        each.get();
      }
    } catch (ExecutionException e) {
      // Failures of sources are counted; this is a mistake of the round.
      throw new IllegalStateException(e.getCause());
    } finally {
      threads.shutdownNow();
      boolean ended = threads.awaitTermination(END_BOUND.toMillis(), TimeUnit.MILLISECONDS);
      assert ended || !sources.isEmpty();
    }
    return answer(probe);
  }

  private void askInTurn(NodeSource source) {
    String node;
    while (System.nanoTime() - deadline < 0 && (node = turns.next()) != null) {
      String about = node;
      NodeLookup one =
          level -> level == 0 ? List.of(Levels.INSTANCE) : level == 1 ? List.of(about) : List.of();
      Instant now = clock.instant();
      ProbeRows rows = new ProbeRows(now.toEpochMilli());
      String why;
      try {
        source.fetch(one, now, rows);
        why = null;
      } catch (NodeSourceException e) {
        why = ProbePollers.why(e.problems());
      } catch (ProbeRows.TooManyException e) {
        why = e.getMessage();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      } catch (RuntimeException | Error e) {
        why = "its source has a defect: " + e;
      }
      ended(node, why == null ? rows.answer("") : null, why);
    }
  }

  private synchronized void ended(String node, @Nullable ProbeAnswer answer, @Nullable String why) {
    asked++;
    boolean hasValue = answer != null && !answer.samples().isEmpty();
    turns.asked(node, hasValue);
    if (answer != null && hasValue) {
      samples.addAll(answer.samples());
    } else {
      failed++;
      if (failed == 1) {
        first = node + ": " + (answer == null ? why : answer.problem());
      }
    }
  }

  private synchronized ProbeAnswer answer(String probe) {
    List<String> problems = new ArrayList<>();
    if (failed > 0) {
      problems.add(failed + " of " + asked + " nodes gave no value: " + first);
    }
    if (turns.left() > 0) {
      problems.add(
          turns.left()
              + " of "
              + (asked + turns.left())
              + " nodes were not asked within "
              + bound.toMillis() / 1000.0
              + " s");
    }
    return new ProbeAnswer(probe, samples, String.join("; ", problems));
  }
}
