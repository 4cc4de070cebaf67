package io.espalier.server.nodes;

import io.espalier.core.config.Levels;
import io.espalier.core.config.NodeChangeGuard;
import io.espalier.core.config.NodeSourceSpec;
import io.espalier.core.json.JsonWriter;
import io.espalier.core.pace.Jitter;
import io.espalier.core.problem.Problem;
import io.espalier.core.topology.NodeLookup;
import io.espalier.core.topology.NodeSource;
import io.espalier.core.topology.NodeSourceException;
import io.espalier.core.topology.TopologyBuilder;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The state of one node source while its settings are in force: its last good answer, a newer
 * answer that has not proven itself yet, the time of the next fetch, and the current problems.
 *
 * <p>One thread runs the fetches; any thread may read.
 */
final class PolledSource {
  /** The time for which notifications of a watching source are collected. */
  private static final Duration PAUSE = Duration.ofMillis(200);

  private static final Logger LOG = LoggerFactory.getLogger(PolledSource.class);

  private final NodeSourceSpec spec;
  private final NodeSource source;
  private final Levels levels;
  private final Duration refresh;
  private final Duration retry;
  private final InstantSource clock;
  private final Jitter jitter;

  /** Counts the change notifications of the source, so that one during a fetch is not lost. */
  private final AtomicLong changes = new AtomicLong();

  /** The last answer that was part of a tree. */
  private volatile @Nullable SourceResult good;

  /** The answer that passed the guard and has not been part of a tree yet. */
  private volatile @Nullable SourceResult candidate;

  private volatile @Nullable Held held;

  /**
   * The sketch of the last good answer; without an answer since the start, the one from before the
   * start.
   */
  private volatile @Nullable NodesSketch sketch;

  private @Nullable NodesSketch sketchOfCandidate;

  /** True when a complete answer is needed because too little of the last good answer was kept. */
  private volatile boolean settingsChanged;

  private volatile String allowed = "";
  private volatile List<Problem> problems = List.of();
  private volatile Instant due = Instant.MIN;
  private volatile Instant asked = Instant.MIN;

  /** An answer that the guard quarantined, and how often it came in a row. */
  private record Held(String mark, int times) {}

  PolledSource(
      NodeSourceSpec spec,
      NodeSource source,
      Levels levels,
      Duration refresh,
      Duration retry,
      InstantSource clock,
      Jitter jitter) {
    this.spec = spec;
    this.source = source;
    this.levels = levels;
    this.refresh = source.refreshEvery().orElse(refresh);
    this.retry = retry.compareTo(this.refresh) < 0 ? retry : this.refresh;
    this.clock = clock;
    this.jitter = jitter;
  }

  /** Takes over the state of the same source under earlier settings. */
  void continues(PolledSource earlier) {
    good = earlier.good;
    sketch = earlier.sketch;
  }

  /** Takes over the sketch of the source from before the start. */
  void remembers(NodesSketch before) {
    sketch = before;
  }

  @Nullable NodesSketch sketch() {
    return sketch;
  }

  /** Returns a text that identifies the source among others, also across a restart. */
  String question() {
    return spec.source()
        + " "
        + Long.toHexString(LongHashSet.of(0, JsonWriter.compact(spec.prefs())));
  }

  /**
   * Returns true when the other source fetches the same nodes for the same levels; the guards may
   * differ.
   */
  boolean asksLike(PolledSource other) {
    return spec.source().equals(other.spec.source())
        && spec.prefs().equals(other.spec.prefs())
        && levels.equals(other.levels);
  }

  /**
   * Returns true when this is the other source with edited settings: the same place, the same
   * levels.
   */
  boolean replaces(PolledSource other) {
    return spec.path().equals(other.spec.path())
        && levels.equals(other.levels)
        && isComputed() == other.isComputed();
  }

  NodeSource source() {
    return source;
  }

  NodeSourceSpec spec() {
    return spec;
  }

  boolean isComputed() {
    return source.isComputed();
  }

  Instant due() {
    return due;
  }

  /** Makes the source due at the next opportunity. */
  void expire() {
    due = Instant.MIN;
  }

  /** Handles a notification of the source that its nodes have changed. */
  void changed() {
    changes.incrementAndGet();
    due = asked.equals(Instant.MIN) ? Instant.MIN : asked.plus(PAUSE);
  }

  List<Problem> problems() {
    return problems;
  }

  /**
   * The nodes to build a tree from: the newest when the source was just fetched, otherwise those
   * that were in a tree.
   */
  @Nullable SourceResult answer(boolean newest) {
    SourceResult fresh = candidate;
    return newest && fresh != null ? fresh : good;
  }

  boolean isUnproven() {
    return candidate != null;
  }

  /**
   * Marks that the newest answer has become part of a tree.
   *
   * @param keeping reduces the answer to the part that stays in memory
   */
  void prove(UnaryOperator<SourceResult> keeping) {
    SourceResult fresh = candidate;
    if (fresh != null) {
      good = keeping.apply(fresh);
      candidate = null;
      if (sketchOfCandidate != null) {
        sketch = sketchOfCandidate;
        sketchOfCandidate = null;
      }
    }
  }

  /**
   * Requests a complete answer as soon as possible, because a needed part of the last one was not
   * kept.
   */
  void askAnew() {
    settingsChanged = true;
    candidate = null;
    due = Instant.MIN;
  }

  /** Rejects the newest answer because it does not lead to a sound tree. */
  void refuse(List<Problem> why) {
    candidate = null;
    fail(why);
  }

  private void fail(List<Problem> why) {
    problems = List.copyOf(why);
    due = clock.instant().plus(jitter.shorten(retry, Jitter.OF_RETRIES));
  }

  boolean isDue(TopologyBuilder soFar, Instant now) {
    if (!due.isAfter(now)) {
      return true;
    }
    SourceResult newest = answer(true);
    return problems.isEmpty() && newest != null && sawOthers(newest, soFar);
  }

  /** Returns true when the source would see other nodes now than for this answer. */
  boolean sawOthers(SourceResult answer, TopologyBuilder soFar) {
    return answer.sawOthers(PushDownRules.visible(source, soFar, soFar));
  }

  /**
   * Fetches from the source. The outcome is an answer, a quarantined answer, or problems.
   *
   * @param shown the nodes so far that the source can see
   */
  void ask(NodeLookup shown, TopologyBuilder soFar, Instant now) throws InterruptedException {
    long changesBefore = changes.get();
    asked = now;
    SourceResult.Inputs inputs =
        new SourceResult.Inputs(PushDownRules.visible(source, shown, soFar));
    NodeBuffer tape = new NodeBuffer();
    try {
      source.fetch(inputs, now, PushDownRules.taking(source, tape));
      PushDownRules.check(source, spec.path(), tape);
      take(inputs.answer(tape, now), soFar);
    } catch (NodeSourceException e) {
      fail(
          e.problems().isEmpty()
              ? List.of(Problem.error(spec.path(), "the source gives no reason for its failure"))
              : e.problems());
    } catch (RuntimeException | Error e) {
      fail(List.of(NodeFetcher.defect(spec, e)));
    }
    if (changes.get() != changesBefore && problems.isEmpty()) {
      due = clock.instant().plus(PAUSE);
    }
  }

  private void take(SourceResult fresh, TopologyBuilder soFar) {
    SourceResult old = good;
    sketchOfCandidate = null;
    if (old != null && old.sameNodes(fresh)) {
      accept(settingsChanged ? fresh : old.again(fresh));
      return;
    }
    NodesSketch before = sketch;
    NodeChangeGuard guard = spec.guard();
    String mark = fresh.tape().mark();
    boolean free =
        !guard.enabled()
            || guard.allow().equals(NodeChangeGuard.ANY)
            || guard.allow().equals(mark)
            || allowed.equals(mark);
    List<String> objections = List.of();
    Instant since = Instant.EPOCH;
    if (!free && old != null) {
      objections = ChangeGuardCheck.objections(guard, levels, old, fresh, soFar);
      since = old.at();
    } else if (!free && before != null) {
      objections = before.objections(guard, levels, fresh, soFar);
      since = before.at();
    }
    if (objections.isEmpty()) {
      acceptNew(fresh, soFar);
      return;
    }
    Held last = held;
    int times = last != null && last.mark.equals(mark) ? last.times + 1 : 1;
    boolean confirmed = guard.confirmations() > 0 && times >= guard.confirmations();
    if (confirmed && fresh.tape().count() > 0) {
      LOG.info("The changed nodes of {} are confirmed by {} answers", spec.path(), times);
      acceptNew(fresh, soFar);
      return;
    }
    held = new Held(mark, times);
    allowed = "";
    // An earlier answer that did not prove itself is not newer than the quarantined one.
    candidate = null;
    Instant seconds = since.truncatedTo(ChronoUnit.SECONDS);
    String consequence =
        old == null
            ? "which is the first one since this scheduler started, and no nodes are in force"
                + " before a good one: beside that of "
                + seconds
                + " it "
            : "the nodes of " + seconds + " stay in force: it ";
    fail(List.of(objection(objections, mark, consequence)));
  }

  private void acceptNew(SourceResult fresh, TopologyBuilder soFar) {
    sketchOfCandidate = NodesSketch.of(spec.path(), question(), levels, fresh, soFar);
    accept(fresh);
  }

  /** Sketches the last good answer again, because other nodes of it belong to this scheduler. */
  void sketchAnew(TopologyBuilder nodes) {
    SourceResult answer = good;
    if (answer != null && sketch != null) {
      sketch = NodesSketch.of(spec.path(), question(), levels, answer, nodes);
    }
  }

  private Problem objection(List<String> objections, String mark, String consequence) {
    return Problem.error(
            spec.path(),
            "the change guard holds the newest answer of the source \""
                + spec.source()
                + "\", "
                + consequence
                + String.join(", and ", objections))
        .withHint("if the answer is right: \"allow_change\": \"" + mark + "\" beside \"source\"");
  }

  private void accept(SourceResult fresh) {
    candidate = fresh;
    settingsChanged = false;
    held = null;
    allowed = "";
    problems = List.of();
    due = clock.instant().plus(jitter.shorten(refresh, Jitter.OF_PERIODS));
  }

  /**
   * Lets a quarantined answer pass when it comes again.
   *
   * @param mark of the answer; empty: any quarantined answer
   * @return true when there is such an answer
   */
  boolean allow(String mark) {
    Held now = held;
    if (now == null || !(mark.isEmpty() || mark.equals(now.mark))) {
      return false;
    }
    allowed = now.mark;
    due = Instant.MIN;
    return true;
  }

  SourceState state() {
    SourceResult inForce = good;
    Held now = held;
    return new SourceState(
        spec.path(),
        spec.source(),
        isComputed(),
        inForce == null ? null : inForce.at(),
        inForce == null ? 0 : inForce.tape().count(),
        now == null ? null : now.mark,
        problems);
  }
}
