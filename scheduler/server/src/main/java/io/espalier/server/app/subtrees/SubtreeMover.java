package io.espalier.server.app.subtrees;

import io.espalier.core.config.Config;
import io.espalier.core.config.Job;
import io.espalier.core.config.Partition;
import io.espalier.core.config.Settings;
import io.espalier.core.event.EventKind;
import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import io.espalier.core.loop.LoopInput;
import io.espalier.core.running.Invocation;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.store.StatusRow;
import io.espalier.core.status.store.StatusStore;
import io.espalier.core.status.store.StoreException;
import io.espalier.core.subtree.SubtreeHandover;
import io.espalier.core.subtree.SubtreeHandover.Seen;
import io.espalier.core.subtree.SubtreeHandover.Steps;
import io.espalier.core.subtree.SubtreeOwners;
import io.espalier.core.subtree.SubtreeOwners.JobStatuses;
import io.espalier.core.subtree.SubtreeRow;
import io.espalier.core.subtree.SubtreeTags;
import io.espalier.core.topology.Division;
import io.espalier.core.topology.Topology;
import io.espalier.server.app.loop.LoopThread;
import io.espalier.server.nodes.NodeSnapshot;
import io.espalier.worker.thread.PollingThread;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Carries out what {@link SubtreeHandover} decides: once a second it reads who has which subtree,
 * and does the next step of each hand-over of this scheduler. Without owners that all schedulers
 * share it only closes subtrees whose tags give them to others.
 *
 * <p>{@link #division} and {@link #nodes} are for any thread.
 */
public final class SubtreeMover implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(SubtreeMover.class);
  private static final Duration PERIOD = Duration.ofSeconds(1);
  private static final Duration CLOSE_BOUND = Duration.ofSeconds(10);
  private static final int ROWS = 1_000;
  private static final int SAMPLES = 5;
  private static final long DURABLE_SECONDS = 60;
  private static final String PROBLEM = "subtrees";

  private final Partition shard;
  private final @Nullable SubtreeOwners owners;
  private final StatusStore store;
  private final long epoch;
  private final LoopThread loop;
  private final SchedulingCore core;
  private final PollingThread thread;

  /** Guards the fields below, and the order of what is decided and what trees are let pass. */
  private final Object lock = new Object();

  private final SubtreeHandover handover;
  private final SubtreeNodes moving = new SubtreeNodes();
  private long snapshots;

  /** Builds the tree again. */
  private Runnable rebuild = () -> {};

  private BooleanSupplier isSettled = () -> false;

  private volatile boolean hasTags;

  // Confined to the thread.

  private Set<String> closed = Set.of();
  private Set<String> closing = Set.of();
  private Set<String> tops = Set.of();
  private @Nullable Topology tagged;
  private Map<String, Integer> byTag = Map.of();
  private SubtreeTags tags = new SubtreeTags(Map.of(), Set.of());

  /** What is in force. */
  private record InForce(Config config, Topology nodes, Set<String> busy) {}

  /**
   * @param owners null: nothing is shared, so nothing moves
   * @param core read by the scheduler thread only
   */
  public SubtreeMover(
      Partition shard,
      @Nullable SubtreeOwners owners,
      StatusStore store,
      long epoch,
      LoopThread loop,
      SchedulingCore core,
      InstantSource clock) {
    this.shard = shard;
    this.owners = owners;
    this.store = store;
    this.epoch = epoch;
    this.loop = loop;
    this.core = core;
    this.handover = new SubtreeHandover(shard);
    this.thread = new PollingThread("subtrees", "moving subtrees", clock, PERIOD, this::look);
    if (owners != null) {
      handover.read(owners.rows());
    }
  }

  /** Returns the division by which trees are to be built now. */
  public Division division() {
    synchronized (lock) {
      return handover.division();
    }
  }

  /**
   * Takes a new tree, and passes it on unless it was begun before this scheduler left out a subtree
   * that it has.
   */
  public void nodes(NodeSnapshot found, Consumer<NodeSnapshot> next) {
    synchronized (lock) {
      Topology nodes = found.topology();
      Division division = handover.division();
      for (int slot = nodes.childStart(0); slot < nodes.childEnd(0); slot++) {
        if (!division.owns(nodes.name(nodes.node(slot)))) {
          rebuild.run();
          return;
        }
      }
      snapshots++;
      moving.add(nodes);
      next.accept(found);
    }
  }

  /**
   * Starts to move subtrees.
   *
   * @param newRebuild builds the tree again, on another thread
   * @param newIsSettled whether the newest tree that was passed on is in force
   */
  public void start(Runnable newRebuild, BooleanSupplier newIsSettled) {
    synchronized (lock) {
      rebuild = newRebuild;
      isSettled = newIsSettled;
    }
    thread.start();
  }

  /** Takes note of a new configuration, which is to come into force. */
  public void configured(Settings settings) {
    hasTags = !settings.rules().shardTags().isEmpty();
    thread.due(Instant.MIN);
  }

  private void look(Instant now) throws InterruptedException {
    try {
      String problem = step();
      loop.accept(new LoopInput.SourceError(PROBLEM, problem));
    } catch (StoreException | CompletionException | TimeoutException e) {
      LOG.debug("no subtree moves for now", e);
      loop.accept(
          new LoopInput.SourceError(PROBLEM, "subtrees do not move for now: " + e.getMessage()));
    } finally {
      if (owners != null || hasTags || !closing.isEmpty()) {
        thread.dueIn(PERIOD);
      }
    }
  }

  /** Does what can be done now; returns what is wrong. */
  private @Nullable String step() throws InterruptedException, TimeoutException {
    if (owners != null) {
      List<SubtreeRow> rows = owners.rows();
      synchronized (lock) {
        Division before = handover.division();
        handover.read(rows);
        rebuildAfter(before);
      }
    }
    long known;
    boolean isMoving;
    synchronized (lock) {
      known = snapshots;
      isMoving = !moving.isEmpty();
    }
    // In this order: what is in force is then the newest tree, unless another came meanwhile.
    boolean settled = isSettled.getAsBoolean();
    InForce seen =
        loop.call(
            looked ->
                new InForce(
                    core.config(), core.topology(), isMoving ? looked.busyNodes() : Set.of()));
    List<String> problems = new ArrayList<>();
    readTags(seen);
    Steps steps;
    synchronized (lock) {
      boolean isNewest = settled && snapshots == known;
      Division before = handover.division();
      Set<String> out = handover.out();
      steps =
          handover.step(
              new Seen(
                  tops, tags.wanted(), owners == null ? Set.of() : closed, busy(seen), isNewest));
      Set<String> watched = new HashSet<>(steps.close().keySet());
      watched.addAll(out);
      watched.addAll(handover.out());
      moving.retain(watched);
      moving.add(seen.nodes());
      if (isNewest) {
        closed = Set.copyOf(steps.close().keySet());
      } else {
        closed = closed.stream().filter(steps.close()::containsKey).collect(Collectors.toSet());
      }
      rebuildAfter(before);
    }
    if (!steps.close().isEmpty() || !closing.isEmpty()) {
      loop.accept(new LoopInput.CloseSubtrees(reasons(steps.close())));
    }
    closing = Set.copyOf(steps.close().keySet());
    if (owners != null) {
      move(owners, steps, seen.config());
      describe(owners, problems);
    } else if (!steps.close().isEmpty()) {
      problems.add(unshared(steps.close()));
    }
    if (tags.problem() != null) {
      problems.add(tags.problem());
    }
    return problems.isEmpty() ? null : String.join("; ", problems);
  }

  /**
   * Returns the moving subtrees with a live task. A task on a node that is in no tree may belong to
   * any of them.
   */
  private Set<String> busy(InForce seen) {
    Topology nodes = seen.nodes();
    for (String name : seen.busy()) {
      boolean isFound = false;
      for (int level = 0; level < nodes.levels().worker(); level++) {
        isFound |= nodes.find(level, name) >= 0;
      }
      if (!isFound) {
        return moving.tops();
      }
    }
    return moving.with(seen.busy());
  }

  private void rebuildAfter(Division before) {
    if (!before.equals(handover.division())) {
      rebuild.run();
    }
  }

  @SuppressWarnings("ReferenceEquality") // The same tree need not be read again.
  private void readTags(InForce seen) {
    Map<String, Integer> newest = seen.config().settings().rules().shardTags();
    if (tagged == seen.nodes() && newest.equals(byTag)) {
      return;
    }
    tagged = seen.nodes();
    byTag = newest;
    tops = tops(seen.nodes());
    tags = SubtreeTags.of(seen.nodes(), newest, shard.count());
  }

  private static Set<String> tops(Topology nodes) {
    Set<String> tops = new HashSet<>();
    for (int slot = nodes.childStart(0); slot < nodes.childEnd(0); slot++) {
      tops.add(nodes.name(nodes.node(slot)));
    }
    return tops;
  }

  private Map<String, String> reasons(Map<String, Integer> close) {
    Map<String, String> reasons = new HashMap<>();
    close.forEach(
        (name, to) ->
            reasons.put(
                name,
                "the subtree belongs to the scheduler with shard "
                    + new Partition(to, shard.count())
                    + " by the tags of "
                    + name
                    + (owners == null
                        ? ", and nobody hands it over without --subtree-owners"
                        : ", and is handed over when no task runs there")));
    return reasons;
  }

  private String unshared(Map<String, Integer> close) {
    return "nothing starts below "
        + close.keySet().stream().limit(SAMPLES).collect(Collectors.joining(", "))
        + (close.size() > SAMPLES ? ", …" : "")
        + ": by their tags (shard_tags) they belong to other schedulers, and without"
        + " --subtree-owners nobody hands them over";
  }

  private void describe(SubtreeOwners shared, List<String> problems) {
    List<Integer> others =
        shared.compareTags(
            JsonWriter.compact(
                new Json.Obj(
                    new TreeMap<>(
                        byTag.entrySet().stream()
                            .collect(
                                Collectors.toMap(
                                    Map.Entry::getKey, each -> Json.of(each.getValue())))))));
    if (!others.isEmpty()) {
      problems.add(
          "shard_tags differ from those of "
              + others.stream()
                  .limit(SAMPLES)
                  .map(other -> "shard " + new Partition(other, shard.count()))
                  .collect(Collectors.joining(", "))
              + ", so that subtrees may go back and forth");
    }
  }

  private void move(SubtreeOwners shared, Steps steps, Config config)
      throws InterruptedException, TimeoutException {
    for (Map.Entry<String, Integer> each : steps.release().entrySet()) {
      release(shared, each.getKey(), each.getValue(), config);
    }
    for (String name : steps.take()) {
      take(shared, name);
    }
  }

  // ---- letting go

  private void release(SubtreeOwners shared, String name, int to, Config config)
      throws InterruptedException, TimeoutException {
    CompletableFuture<@Nullable Void> durable = new CompletableFuture<>();
    loop.accept(new LoopInput.AwaitDurable(durable));
    await(durable);
    long[] tasks = {0};
    Map<String, Long> createTimes = store.incarnations();
    shared.release(
        name,
        to,
        sink -> {
          for (String job : store.jobs()) {
            Job configured = config.job(job);
            List<String> names;
            synchronized (lock) {
              names = moving.names(name, configured == null ? -1 : configured.level());
            }
            for (int at = 0; at < names.size(); at += ROWS) {
              List<StatusRow> rows =
                  store.load(job, names.subList(at, Math.min(names.size(), at + ROWS)));
              rows.forEach(row -> requireAtRest(name, row));
              tasks[0] += rows.size();
              if (!rows.isEmpty()) {
                sink.accept(
                    new JobStatuses(
                        job,
                        createTimes.getOrDefault(job, 0L),
                        rows.stream().map(row -> plain(row, row.invocation())).toList()));
              }
            }
          }
        });
    LOG.info("released {} with {} statuses to shard {}", name, tasks[0], to);
    announce(EventKind.SUBTREE_RELEASED, name, to, tasks[0]);
  }

  private static void requireAtRest(String name, StatusRow row) {
    if (row.status().main() == TaskStatus.Main.RUNNING) {
      throw new StoreException(
          name
              + " is not released, because "
              + row.job()
              + " is running on "
              + row.node()
              + " by the status store; restart this scheduler",
          true,
          null);
    }
  }

  /** Returns a row without what belongs to the scheduler that wrote it. */
  private static StatusRow plain(StatusRow row, Invocation last) {
    return new StatusRow(row.job(), row.node(), row.status(), last);
  }

  // ---- taking

  private void take(SubtreeOwners shared, String name)
      throws InterruptedException, TimeoutException {
    Map<String, Long> known = store.incarnations();
    long tasks = 0;
    List<JobStatuses> parts = new ArrayList<>();
    shared.statuses(name, parts::add);
    for (JobStatuses part : parts) {
      long mine = known.getOrDefault(part.job(), 0L);
      if (mine != 0 && part.createTime() > mine) {
        throw new StoreException(
            name
                + " is not taken before this scheduler has the configuration with the newer job "
                + part.job(),
            true,
            null);
      }
    }
    for (JobStatuses part : parts) {
      long mine = known.getOrDefault(part.job(), 0L);
      if (mine == 0 || part.createTime() == 0 || part.createTime() == mine) {
        put(part, mine == 0 && part.createTime() != 0);
        tasks += part.rows().size();
      }
    }
    shared.take(name);
    LOG.info("took {} with {} statuses", name, tasks);
    announce(EventKind.SUBTREE_TAKEN, name, shard.index(), tasks);
  }

  private void put(JobStatuses part, boolean isFirst)
      throws InterruptedException, TimeoutException {
    for (int at = 0; at < part.rows().size(); at += ROWS) {
      List<StatusRow> rows =
          part.rows().subList(at, Math.min(part.rows().size(), at + ROWS)).stream()
              .map(row -> plain(row, new Invocation(epoch, 0, row.invocation().startMillis())))
              .toList();
      CompletableFuture<@Nullable Void> durable = new CompletableFuture<>();
      loop.accept(
          new LoopInput.PutStatuses(
              rows, isFirst ? Map.of(part.job(), part.createTime()) : Map.of(), durable));
      await(durable);
    }
  }

  private static void await(CompletableFuture<@Nullable Void> durable)
      throws InterruptedException, TimeoutException {
    try {
      durable.get(DURABLE_SECONDS, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      throw new CompletionException(e.getCause());
    }
  }

  private void announce(EventKind kind, String name, int shardIndex, long tasks) {
    loop.accept(
        new LoopInput.Announce(
            kind,
            Json.object()
                .put("node", name)
                .put("shard", new Partition(shardIndex, shard.count()).toString())
                .put("tasks", tasks)
                .build()));
  }

  @Override
  public void close() {
    thread.close(CLOSE_BOUND, true);
    if (owners != null) {
      owners.close();
    }
  }
}
