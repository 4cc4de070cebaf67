package io.espalier.server.nodes;

import io.espalier.core.config.Levels;
import io.espalier.core.config.NodeChangeGuard;
import io.espalier.core.config.NodeSourceSpec;
import io.espalier.core.json.JsonWriter;
import io.espalier.core.problem.Problem;
import io.espalier.core.topology.NodeLookup;
import io.espalier.core.topology.NodeSource;
import io.espalier.core.topology.NodeSourceException;
import io.espalier.core.topology.TopologyBuilder;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One node source while its settings are in force: its last good answer, the newest one while that
 * has yet to prove itself, when it is to be asked next, and what is wrong.
 *
 * <p>Asked by one thread; looked at by any.
 */
final class PolledSource {
  /** News of a source that watches are collected for so long. */
  private static final Duration PAUSE = Duration.ofMillis(200);

  private static final Logger LOG = LoggerFactory.getLogger(PolledSource.class);

  private final NodeSourceSpec spec;
  private final NodeSource source;
  private final Levels levels;
  private final Duration refresh;
  private final Duration retry;
  private final InstantSource clock;

  /** Counts what the source said of changes, so that one during a fetch is not lost. */
  private final AtomicLong changes = new AtomicLong();

  /** Was part of a tree. */
  private volatile @Nullable SourceResult good;

  /** Passed the guard, and has not been part of a tree yet. */
  private volatile @Nullable SourceResult candidate;

  private volatile @Nullable Held held;

  /** Of the last good answer; from before the start while there was none since. */
  private volatile @Nullable NodesSketch sketch;

  private @Nullable NodesSketch sketchOfCandidate;

  /** Whether what is kept of the last good answer is too little. */
  private volatile boolean anew;

  private volatile String allowed = "";
  private volatile List<Problem> problems = List.of();
  private volatile Instant due = Instant.MIN;
  private volatile Instant asked = Instant.MIN;

  /** An answer that the guard objects to, and how often it came in a row. */
  private record Held(String mark, int times) {}

  PolledSource(
      NodeSourceSpec spec,
      NodeSource source,
      Levels levels,
      Duration refresh,
      Duration retry,
      InstantSource clock) {
    this.spec = spec;
    this.source = source;
    this.levels = levels;
    this.refresh = source.refreshEvery().orElse(refresh);
    this.retry = retry.compareTo(this.refresh) < 0 ? retry : this.refresh;
    this.clock = clock;
  }

  /** Takes over what is known of the same source under earlier settings. */
  void continues(PolledSource earlier) {
    good = earlier.good;
    sketch = earlier.sketch;
  }

  /** Takes over what was known of it before the start. */
  void remembers(NodesSketch before) {
    sketch = before;
  }

  @Nullable NodesSketch sketch() {
    return sketch;
  }

  /** Tells it from other sources, also over a restart. */
  String question() {
    return spec.source()
        + " "
        + Long.toHexString(LongHashSet.of(0, JsonWriter.compact(spec.prefs())));
  }

  /** Whether the other asks the same for the same levels; guards may differ. */
  boolean asksLike(PolledSource other) {
    return spec.source().equals(other.spec.source())
        && spec.prefs().equals(other.spec.prefs())
        && levels.equals(other.levels);
  }

  /** Whether this is the other one with edited settings: the same place, the same levels. */
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

  /** Has it asked at the next opportunity. */
  void expire() {
    due = Instant.MIN;
  }

  /** The source knows that its nodes have changed. */
  void changed() {
    changes.incrementAndGet();
    due = asked.equals(Instant.MIN) ? Instant.MIN : asked.plus(PAUSE);
  }

  List<Problem> problems() {
    return problems;
  }

  /** The nodes to make a tree of: the newest, when asked for, else those that were in one. */
  @Nullable SourceResult answer(boolean newest) {
    SourceResult fresh = candidate;
    return newest && fresh != null ? fresh : good;
  }

  boolean isUnproven() {
    return candidate != null;
  }

  /**
   * The newest answer has become part of a tree.
   *
   * @param keeping what is to be kept of it
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

  /** Something is needed of its answer that was not kept: it is asked as soon as may be. */
  void askAnew() {
    anew = true;
    candidate = null;
    due = Instant.MIN;
  }

  /** The newest answer makes no sound tree. */
  void refuse(List<Problem> why) {
    candidate = null;
    fail(why);
  }

  private void fail(List<Problem> why) {
    problems = List.copyOf(why);
    due = clock.instant().plus(retry);
  }

  boolean isDue(TopologyBuilder soFar, Instant now) {
    if (!due.isAfter(now)) {
      return true;
    }
    SourceResult newest = answer(true);
    return problems.isEmpty() && newest != null && newest.sawOthers(soFar);
  }

  /**
   * Asks the source; what comes of it is an answer, a held answer, or problems.
   *
   * @param shown what it gets to see of the nodes so far
   */
  void ask(NodeLookup shown, TopologyBuilder soFar, Instant now) throws InterruptedException {
    long changesBefore = changes.get();
    asked = now;
    SourceResult.Inputs inputs = new SourceResult.Inputs(shown);
    NodeBuffer tape = new NodeBuffer();
    try {
      source.fetch(inputs, now, tape);
      take(inputs.answer(tape, now), soFar);
    } catch (NodeSourceException e) {
      fail(
          e.problems().isEmpty()
              ? List.of(Problem.error(spec.path(), "the source gives no reason for its failure"))
              : e.problems());
    } catch (RuntimeException e) {
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
      accept(anew ? fresh : old.again(fresh));
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
    // An earlier answer that could not prove itself is not newer than what is held.
    candidate = null;
    String consequence =
        old == null
            ? "which is the first one since this scheduler started, and no nodes are in force"
                + " before a good one: beside that of "
                + since
                + " it "
            : "the nodes of " + since + " stay in force: it ";
    fail(List.of(objection(objections, mark, consequence)));
  }

  private void acceptNew(SourceResult fresh, TopologyBuilder soFar) {
    sketchOfCandidate = NodesSketch.of(spec.path(), question(), levels, fresh, soFar);
    accept(fresh);
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
    anew = false;
    held = null;
    allowed = "";
    problems = List.of();
    due = clock.instant().plus(refresh);
  }

  /**
   * Lets a held answer pass when it comes again.
   *
   * @param mark of the answer; empty: whichever is held
   * @return whether there is such an answer
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
