package io.espalier.server.nodes;

import io.espalier.core.config.NodeSourceSpec;
import io.espalier.core.config.Settings;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Result;
import io.espalier.core.topology.NodeSource;
import io.espalier.core.topology.Topology;
import io.espalier.core.topology.TopologyBuilder;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The node sources of the settings in force, kept from one refresh to the next. Each is asked at
 * its own pace; one that cannot answer, or whose answer the change guard holds, is represented by
 * its last good answer. Only a source that never had one leaves no tree.
 *
 * <p>{@link #fetch}, {@link #refresh} and {@link #close} are for one thread at a time, everything
 * else for any.
 */
public final class LiveNodes implements PolledNodes {
  private final NodeFetcher fetcher;
  private final Duration refresh;
  private final Duration retry;
  private final InstantSource clock;
  private volatile @Nullable Live live;
  private volatile Runnable news = () -> {};
  private volatile Optional<Instant> nextChange = Optional.empty();

  /** The sources of some settings. */
  private record Live(Settings settings, List<LiveSource> sources, List<Problem> warnings) {}

  /**
   * What came of making a tree.
   *
   * @param unsound whether there is none because what was delivered does not fit together
   */
  private record Tree(Result<Topology> result, boolean unsound) {}

  /**
   * @param refresh time between two questions to a source that does not say
   * @param retry time after a failed one, if it is shorter
   */
  public LiveNodes(NodeFetcher fetcher, Duration refresh, Duration retry, InstantSource clock) {
    this.fetcher = fetcher;
    this.refresh = refresh;
    this.retry = retry;
    this.clock = clock;
  }

  @Override
  public void onNews(Runnable listener) {
    news = listener;
  }

  /** Asks every source. */
  @Override
  public Result<Topology> fetch(Settings settings, Instant now) throws InterruptedException {
    return ask(settings, now, true);
  }

  /** Asks the sources whose time has come. */
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
      current.sources.forEach(LiveSource::expire);
    }
    Tree tree = assemble(current, now, true);
    // Each round refuses an answer at least.
    while (tree.unsound && refuseCulprits(current, tree.result.problems())) {
      tree = assemble(current, now, true);
    }
    if (tree.result.value() != null) {
      current.sources.forEach(LiveSource::prove);
    }
    return tree.result;
  }

  /** The sources of the settings; those that ask the same as before keep what they know. */
  private Result<Live> liveFor(Settings settings) {
    Live before = live;
    if (before != null && before.settings.nodesHash().equals(settings.nodesHash())) {
      return new Result<>(before, List.of());
    }
    Result<List<NodeSource>> created = fetcher.create(settings);
    List<NodeSource> made = created.value();
    if (made == null) {
      return new Result<>(null, created.problems());
    }
    List<LiveSource> sources = new ArrayList<>();
    for (int i = 0; i < made.size(); i++) {
      NodeSourceSpec spec = settings.nodeSources().get(i);
      LiveSource source =
          new LiveSource(spec, made.get(i), settings.levels(), refresh, retry, clock);
      if (before != null) {
        before.sources.stream().filter(source::asksLike).findFirst().ifPresent(source::continues);
      }
      sources.add(source);
    }
    Live fresh = new Live(settings, List.copyOf(sources), created.problems());
    live = fresh;
    if (before != null) {
      before.sources.forEach(old -> old.source().close());
    }
    for (LiveSource source : sources) {
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

  /**
   * Makes a tree.
   *
   * @param asking whether sources are asked, and may deliver something new
   */
  private Tree assemble(Live current, Instant now, boolean asking) throws InterruptedException {
    List<Problem> problems = new ArrayList<>(current.warnings);
    TopologyBuilder builder = fetcher.builder(current.settings);
    Instant soonest = null;
    for (LiveSource source : current.sources) {
      builder.from(source.spec().path());
      if (source.isComputed()) {
        if (!compute(source, builder, now, problems)) {
          return new Tree(new Result<>(null, problems), false);
        }
        Instant change = source.source().nextChange(now).orElse(null);
        if (change != null && (soonest == null || change.isBefore(soonest))) {
          soonest = change;
        }
        continue;
      }
      if (asking && source.isDue(builder, now)) {
        source.ask(builder, now);
      } else if (!asking && soonest != null) {
        expireIfShownOthers(source, builder);
      }
      Answer answer = source.answer(asking);
      problems.addAll(source.problems());
      if (answer == null) {
        return new Tree(new Result<>(null, problems), false);
      }
      play(answer, asking && source.isUnproven(), builder);
    }
    Result<Topology> built = builder.build(current.settings.nodeOrder());
    if (built.value() == null) {
      return new Tree(new Result<>(null, built.problems()), true);
    }
    nextChange = Optional.ofNullable(soonest);
    problems.addAll(built.problems());
    return new Tree(new Result<>(built.value(), problems), false);
  }

  /** False, with a problem, when it fails. */
  private static boolean compute(
      LiveSource source, TopologyBuilder builder, Instant now, List<Problem> problems)
      throws InterruptedException {
    // The thread that refreshes and the one that keeps time may meet here.
    synchronized (source) {
      return NodeFetcher.run(source.source(), source.spec(), builder, now, problems);
    }
  }

  private void expireIfShownOthers(LiveSource source, TopologyBuilder builder) {
    Answer answer = source.answer(false);
    if (source.problems().isEmpty() && answer != null && answer.sawOthers(builder)) {
      source.expire();
      news.run();
    }
  }

  /**
   * What hung under a node that is gone is gone with it, unless the answer is new: then it errs.
   */
  private static void play(Answer answer, boolean strict, TopologyBuilder builder) {
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

  /** Takes new answers back that made the tree unsound; false when there is none. */
  private static boolean refuseCulprits(Live current, List<Problem> problems) {
    List<LiveSource> unproven = current.sources.stream().filter(LiveSource::isUnproven).toList();
    List<LiveSource> named =
        unproven.stream().filter(source -> !of(source, problems).isEmpty()).toList();
    List<LiveSource> culprits = named.isEmpty() ? unproven : named;
    for (LiveSource culprit : culprits) {
      List<Problem> own = of(culprit, problems);
      culprit.refuse(own.isEmpty() ? problems : own);
    }
    return !culprits.isEmpty();
  }

  private static List<Problem> of(LiveSource source, List<Problem> problems) {
    return problems.stream()
        .filter(p -> p.isError() && p.path().equals(source.spec().path()))
        .toList();
  }

  /** A tree of another instant without asking any source; null when there cannot be one. */
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
    Instant soonest = null;
    for (LiveSource source : current == null ? List.<LiveSource>of() : current.sources) {
      if (source.isComputed()) {
        continue;
      }
      Instant due = source.due();
      soonest = soonest == null || due.isBefore(soonest) ? due : soonest;
      if (source.answer(false) == null) {
        // Those after it cannot be asked before it has answered, however long they are due.
        break;
      }
    }
    return Optional.ofNullable(soonest);
  }

  @Override
  public List<SourceState> sources() {
    Live current = live;
    return current == null ? List.of() : current.sources.stream().map(LiveSource::state).toList();
  }

  @Override
  public int allow(String mark) {
    Live current = live;
    int count = 0;
    if (current != null) {
      for (LiveSource source : current.sources) {
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
