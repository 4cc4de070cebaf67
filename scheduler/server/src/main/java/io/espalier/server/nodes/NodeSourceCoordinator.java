package io.espalier.server.nodes;

import io.espalier.core.config.NodeSourceSpec;
import io.espalier.core.config.Settings;
import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import io.espalier.core.pace.Jitter;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Result;
import io.espalier.core.topology.Division;
import io.espalier.core.topology.NodeLookup;
import io.espalier.core.topology.NodeSink;
import io.espalier.core.topology.NodeSource;
import io.espalier.core.topology.Topology;
import io.espalier.core.topology.TopologyBuilder;
import io.espalier.json.JsonReader;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiPredicate;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Manages the node sources of the settings in force across refreshes. It fetches each source at its
 * own pace. A source that cannot answer, or whose answer the change guard quarantined, contributes
 * its last good answer. Only a source that never had a good answer prevents a tree.
 *
 * <p>{@link #fetch}, {@link #refresh} and {@link #close} must be called by one thread at a time;
 * all other methods are thread-safe.
 */
public final class NodeSourceCoordinator implements NodeFetch {
  private static final Logger LOG = LoggerFactory.getLogger(NodeSourceCoordinator.class);

  private final NodeFetcher fetcher;
  private final Duration refresh;
  private final Duration retry;
  private final Jitter jitter;
  private final InstantSource clock;
  private final NodesMemory memory;

  /** The text that was saved, or loaded at the start; null: not loaded yet. */
  private @Nullable String remembered;

  private volatile @Nullable Live live;

  /** True when the newest settings have an error, so that no source of {@link #live} is fetched. */
  private volatile boolean broken;

  /** The division of the newest sketches; null: there are none of this process. */
  private @Nullable Division sketchedFor;

  private volatile Runnable news = () -> {};
  private volatile Optional<Instant> nextChange = Optional.empty();

  /**
   * The sources of certain settings.
   *
   * @param whole whether all nodes are kept: there are no other schedulers, or a source or a kind
   *     of redundancy groups needs all of them
   */
  private record Live(
      Settings settings, List<PolledSource> sources, List<Problem> warnings, AtomicBoolean whole) {}

  /**
   * The outcome of building a tree.
   *
   * @param unsound whether there is no tree because the delivered nodes do not fit together
   * @param kept reduces an answer in the tree to the part that stays in memory
   * @param lacking the sources whose answers are needed in full again; there is no tree then
   */
  private record Tree(
      Result<Topology> result,
      boolean unsound,
      UnaryOperator<SourceResult> kept,
      List<PolledSource> lacking) {
    static Tree of(Result<Topology> result, boolean unsound) {
      return new Tree(result, unsound, answer -> answer, List.of());
    }

    static Tree none(List<Problem> problems) {
      return of(new Result<>(null, problems), false);
    }

    static Tree lacking(List<PolledSource> sources, List<Problem> problems) {
      return new Tree(new Result<>(null, problems), false, answer -> answer, sources);
    }
  }

  /**
   * @param refresh time between two fetches of a source that does not define its own
   * @param retry time after a failed fetch, if it is shorter
   */
  public NodeSourceCoordinator(
      NodeFetcher fetcher, Duration refresh, Duration retry, InstantSource clock) {
    this(fetcher, refresh, retry, clock, NodesMemory.NONE, Jitter.NONE);
  }

  /**
   * @param refresh time between two fetches of a source that does not define its own
   * @param retry time after a failed fetch, if it is shorter
   * @param memory the sketches by which the change guard judges the first answers
   * @param jitter keeps several schedulers from asking their sources at one instant
   */
  public NodeSourceCoordinator(
      NodeFetcher fetcher,
      Duration refresh,
      Duration retry,
      InstantSource clock,
      NodesMemory memory,
      Jitter jitter) {
    this.memory = memory;
    this.jitter = jitter;
    this.fetcher = fetcher;
    this.refresh = refresh;
    this.retry = retry;
    this.clock = clock;
  }

  @Override
  public void onNews(Runnable listener) {
    news = listener;
  }

  /** Fetches every source. */
  @Override
  public Result<Topology> fetch(Settings settings, Instant now) throws InterruptedException {
    return ask(settings, now, true);
  }

  /** Fetches the sources that are due. */
  @Override
  public Result<Topology> refresh(Settings settings, Instant now) throws InterruptedException {
    return ask(settings, now, false);
  }

  private Result<Topology> ask(Settings settings, Instant now, boolean all)
      throws InterruptedException {
    Result<Live> found = liveFor(settings);
    Live current = found.value();
    if (current == null) {
      return new Result<>(null, found.problems());
    }
    if (all) {
      current.sources.forEach(PolledSource::expire);
    }
    Set<PolledSource> askedAnew = new HashSet<>();
    Tree tree = assemble(current, now, true);
    // Each round rejects at least one answer, or requests a complete answer from at least one more
    // source.
    while (tree.unsound
        ? refuseCulprits(current, tree.result.problems())
        : askAnew(tree.lacking, askedAnew)) {
      tree = assemble(current, now, true);
    }
    if (tree.result.value() != null) {
      for (PolledSource source : current.sources) {
        source.prove(tree.kept);
      }
      remember(current);
    }
    return tree.result;
  }

  private static boolean askAnew(List<PolledSource> sources, Set<PolledSource> before) {
    List<PolledSource> others = sources.stream().filter(before::add).toList();
    others.forEach(PolledSource::askAnew);
    return !others.isEmpty();
  }

  private void remember(Live current) {
    List<Json> sketches = new ArrayList<>();
    for (PolledSource source : current.sources) {
      NodesSketch sketch = source.isComputed() ? null : source.sketch();
      if (sketch != null) {
        sketches.add(sketch.toJson());
      }
    }
    String text = JsonWriter.compact(new Json.Arr(sketches));
    if (!text.equals(remembered)) {
      try {
        memory.save(text);
        remembered = text;
      } catch (RuntimeException e) {
        LOG.warn("What the nodes are is not remembered for the next start: {}", e.toString());
      }
    }
  }

  /** Parses the sketches of sources from before the start. */
  private static List<NodesSketch> sketches(String text) {
    List<NodesSketch> sketches = new ArrayList<>();
    if (!text.isEmpty() && JsonReader.parse(text).value() instanceof Json.Arr all) {
      for (Json each : all.items()) {
        if (each instanceof Json.Obj sketch) {
          sketches.add(NodesSketch.of(sketch));
        }
      }
    }
    return sketches;
  }

  /**
   * Gives each source the earlier state: that of a source with the same query, else that of the
   * source with edited settings whose place it took.
   */
  private static void inherit(
      List<PolledSource> sources, @Nullable Live before, String remembered) {
    if (before == null) {
      List<NodesSketch> sketches = sketches(remembered);
      for (PolledSource source : sources) {
        pick(
                sketches,
                sources,
                sketch -> source.question().equals(sketch.question()),
                (other, sketch) -> other.question().equals(sketch.question()),
                sketch -> sketch.path().equals(source.spec().path()))
            .ifPresent(source::remembers);
      }
      return;
    }
    for (PolledSource source : sources) {
      pick(
              before.sources,
              sources,
              source::asksLike,
              PolledSource::asksLike,
              old -> source.replaces(old))
          .ifPresent(source::continues);
    }
  }

  private static <T> Optional<T> pick(
      List<T> known,
      List<PolledSource> sources,
      Predicate<T> isSame,
      BiPredicate<PolledSource, T> belongs,
      Predicate<T> isInPlace) {
    Optional<T> same = known.stream().filter(isSame).findFirst();
    return same.isPresent()
        ? same
        : known.stream()
            .filter(isInPlace)
            .filter(old -> sources.stream().noneMatch(other -> belongs.test(other, old)))
            .findFirst();
  }

  /**
   * Returns the sources of the settings. Sources with the same query as before keep their state.
   */
  private Result<Live> liveFor(Settings settings) {
    Live before = live;
    if (before != null && before.settings.nodesHash().equals(settings.nodesHash())) {
      broken = false;
      return new Result<>(before, List.of());
    }
    if (remembered == null) {
      // Without the sketches, a broken answer could not be recognized: they are read again later.
      remembered = memory.load();
    }
    Result<List<NodeSource>> created = fetcher.create(settings);
    List<NodeSource> made = created.value();
    broken = made == null;
    if (made == null) {
      return new Result<>(null, created.problems());
    }
    List<PolledSource> sources = new ArrayList<>();
    for (int i = 0; i < made.size(); i++) {
      NodeSourceSpec spec = settings.nodeSources().get(i);
      sources.add(
          new PolledSource(spec, made.get(i), settings.levels(), refresh, retry, clock, jitter));
    }
    inherit(sources, before, remembered == null ? "" : remembered);
    boolean whole = fetcher.division().isWhole() || needsLowestLevel(settings);
    Live fresh =
        new Live(settings, List.copyOf(sources), created.problems(), new AtomicBoolean(whole));
    live = fresh;
    if (before != null) {
      before.sources.forEach(old -> old.source().close());
    }
    for (PolledSource source : sources) {
      source
          .source()
          .watch(
              () -> {
                source.changed();
                news.run();
              });
    }
    return new Result<>(fresh, created.problems());
  }

  /** Returns whether the groups of the lowest level can only be told with all nodes of it. */
  private static boolean needsLowestLevel(Settings settings) {
    int bottom = settings.levels().bottom();
    return settings.lowestSharedLevel() == bottom
        && settings.rules().groups().stream().anyMatch(group -> group.level() == bottom);
  }

  /**
   * Builds a tree.
   *
   * @param asking whether sources are fetched, and may deliver something new
   */
  private Tree assemble(Live current, Instant now, boolean asking) throws InterruptedException {
    List<Problem> problems = new ArrayList<>(current.warnings);
    Division division = fetcher.division();
    TopologyBuilder builder = fetcher.builder(current.settings, division);
    PartitionAssembler sieve =
        current.whole.get() ? null : new PartitionAssembler(builder, current.settings.levels());
    NodeLookup shown = sieve == null ? builder : sieve.shown();
    List<PolledSource> lacking = new ArrayList<>();
    Instant soonest = null;
    for (PolledSource source : current.sources) {
      builder.from(source.spec().path());
      if (source.isComputed()) {
        NodeBuffer computed = new NodeBuffer();
        NodeSink sink = sieve == null ? builder : computed;
        if (!compute(source, shown, sink, now, problems)) {
          return Tree.none(problems);
        }
        if (sieve != null) {
          sieve.add(source, computed, true, null);
        }
        Instant change = source.source().nextChange(now).orElse(null);
        if (change != null && (soonest == null || change.isBefore(soonest))) {
          soonest = change;
        }
      } else {
        if (asking && source.isDue(builder, now)) {
          source.ask(shown, builder, now);
        } else if (!asking && soonest != null) {
          expireIfShownOthers(source, builder);
        }
        SourceResult answer = source.answer(asking);
        problems.addAll(source.problems());
        if (answer == null) {
          return Tree.none(problems);
        }
        boolean strict = asking && source.isUnproven();
        if (sieve != null) {
          sieve.add(source, answer.tape(), strict, answer.left());
        } else if (answer.left() != null) {
          lacking.add(source);
        } else {
          play(answer, strict, builder);
        }
      }
      if (sieve != null && sieve.isBottomShown()) {
        // The source saw only a part of the nodes. From now on all are kept.
        current.whole.set(true);
        source.askAnew();
        return assemble(current, now, asking);
      }
    }
    TopologyBuilder complete = builder;
    if (sieve != null) {
      lacking.addAll(sieve.lacking());
      complete = fetcher.builder(current.settings, division);
    }
    if (!lacking.isEmpty()) {
      return withoutAll(lacking, problems, asking);
    }
    if (sieve != null) {
      sieve.pour(complete);
    }
    Result<Topology> built = complete.build(current.settings.nodeOrder());
    if (built.value() == null) {
      return Tree.of(new Result<>(null, built.problems()), true);
    }
    nextChange = Optional.ofNullable(soonest);
    problems.addAll(built.problems());
    if (asking) {
      divided(current, builder);
    }
    Result<Topology> result = new Result<>(built.value(), problems);
    return sieve == null ? Tree.of(result, false) : new Tree(result, false, sieve::kept, List.of());
  }

  /**
   * Sketches the answers again when subtrees have come or gone: after a restart, an answer without
   * those that were handed over is no suspicious one.
   */
  private void divided(Live current, TopologyBuilder nodes) {
    if (!nodes.division().equals(sketchedFor)) {
      if (sketchedFor != null) {
        current.sources.forEach(source -> source.sketchAnew(nodes));
      }
      sketchedFor = nodes.division();
    }
  }

  /** Returns no tree, because these sources must first give a complete answer. */
  private Tree withoutAll(List<PolledSource> lacking, List<Problem> problems, boolean asking) {
    for (PolledSource source : lacking) {
      problems.add(
          Problem.error(
              source.spec().path(),
              "nodes that belonged to another shard belong to this one now, and the source \""
                  + source.spec().source()
                  + "\" has not said again which they are"));
    }
    if (!asking) {
      lacking.forEach(PolledSource::askAnew);
      news.run();
    }
    return Tree.lacking(lacking, problems);
  }

  /** Runs a computed source. Returns false and adds a problem when it fails. */
  private static boolean compute(
      PolledSource source, NodeLookup shown, NodeSink sink, Instant now, List<Problem> problems)
      throws InterruptedException {
    // The refreshing thread and the timer thread may meet here.
    synchronized (source) {
      return NodeFetcher.run(source.source(), source.spec(), shown, sink, now, problems);
    }
  }

  private void expireIfShownOthers(PolledSource source, TopologyBuilder builder) {
    SourceResult answer = source.answer(false);
    if (source.problems().isEmpty() && answer != null && source.sawOthers(answer, builder)) {
      source.expire();
      news.run();
    }
  }

  /**
   * Adds the nodes of an answer to the builder. A node below a missing parent is dropped, unless
   * the answer is new; then it is an error.
   */
  private static void play(SourceResult answer, boolean strict, TopologyBuilder builder) {
    answer
        .tape()
        .forEach(
            node -> {
              String parent = node.parent();
              if (strict || parent == null || builder.contains(node.parentLevel(), parent)) {
                builder.add(node);
              }
            });
  }

  /** Rejects the new answers that made the tree unsound; false when there are none. */
  private static boolean refuseCulprits(Live current, List<Problem> problems) {
    List<PolledSource> unproven =
        current.sources.stream().filter(PolledSource::isUnproven).toList();
    List<PolledSource> named =
        unproven.stream().filter(source -> !of(source, problems).isEmpty()).toList();
    List<PolledSource> culprits = named.isEmpty() ? unproven : named;
    for (PolledSource culprit : culprits) {
      List<Problem> own = of(culprit, problems);
      culprit.refuse(own.isEmpty() ? problems : own);
    }
    return !culprits.isEmpty();
  }

  private static List<Problem> of(PolledSource source, List<Problem> problems) {
    return problems.stream()
        .filter(p -> p.isError() && p.path().equals(source.spec().path()))
        .toList();
  }

  /** Builds the tree of another instant without a fetch; null when that is not possible. */
  @Override
  public @Nullable Result<Topology> advance(Settings settings, Instant now)
      throws InterruptedException {
    Live current = live;
    if (current == null || !current.settings.nodesHash().equals(settings.nodesHash())) {
      return null;
    }
    boolean complete =
        current.sources.stream().allMatch(s -> s.isComputed() || s.answer(false) != null);
    return complete ? assemble(current, now, false).result : null;
  }

  @Override
  public Optional<Instant> nextChange() {
    return nextChange;
  }

  @Override
  public Optional<Instant> nextFetch() {
    Live current = live;
    if (broken) {
      return Optional.empty();
    }
    Instant soonest = null;
    for (PolledSource source : current == null ? List.<PolledSource>of() : current.sources) {
      if (source.isComputed()) {
        continue;
      }
      Instant due = source.due();
      soonest = soonest == null || due.isBefore(soonest) ? due : soonest;
      if (source.answer(false) == null) {
        // Later sources cannot be fetched before this one has answered, even if they are due.
        break;
      }
    }
    return Optional.ofNullable(soonest);
  }

  @Override
  public List<SourceState> sources() {
    Live current = live;
    return current == null ? List.of() : current.sources.stream().map(PolledSource::state).toList();
  }

  @Override
  public int allow(String mark) {
    Live current = live;
    int count = 0;
    if (current != null) {
      for (PolledSource source : current.sources) {
        count += source.allow(mark) ? 1 : 0;
      }
    }
    if (count > 0) {
      news.run();
    }
    return count;
  }

  @Override
  public void close() {
    Live current = live;
    if (current != null) {
      current.sources.forEach(source -> source.source().close());
    }
  }
}
