package io.espalier.server.app;

import io.espalier.core.config.Partition;
import io.espalier.core.config.Settings;
import io.espalier.core.config.keys.NotifierKeys;
import io.espalier.core.logs.LogPolicy;
import io.espalier.core.loop.LoopInput;
import io.espalier.core.loop.watch.JobAdmission;
import io.espalier.core.notification.NotifierSpec;
import io.espalier.core.pace.Jitter;
import io.espalier.core.status.store.StaleEpochException;
import io.espalier.core.subtree.SubtreeOwners;
import io.espalier.core.topology.Division;
import io.espalier.core.topology.NodeSourceContext;
import io.espalier.json.JsonReader;
import io.espalier.server.app.options.ProcessOptions;
import io.espalier.server.app.ownership.Leadership;
import io.espalier.server.app.ownership.StartWaits;
import io.espalier.server.app.subtrees.SharedOwners;
import io.espalier.server.app.subtrees.SubtreeMover;
import io.espalier.server.app.update.ConfigPlanner;
import io.espalier.server.app.update.LateBoundListener;
import io.espalier.server.app.update.PlanTokens;
import io.espalier.server.app.update.UpdatePreparer;
import io.espalier.server.config.ConfigEditor;
import io.espalier.server.config.ConfigPoller;
import io.espalier.server.config.ConfigSnapshot;
import io.espalier.server.config.JobEditor;
import io.espalier.server.nodes.NodeFetcher;
import io.espalier.server.nodes.NodeSourceCoordinator;
import io.espalier.server.nodes.NodesMemory;
import io.espalier.server.nodes.NodesPoller;
import io.espalier.server.probes.ProbePollers;
import io.espalier.server.remote.RemoteRunner;
import io.espalier.server.store.jdbc.mysql.MySqlAddress;
import io.espalier.server.store.jdbc.mysql.MySqlSubtreeOwners;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Puts a scheduler process together: its store, its loop, its listeners, its sources. It opens them
 * in this order and closes them in reverse; each step of the shutdown is bounded in time.
 */
final class SchedulerAssembly implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(SchedulerAssembly.class);

  private final OpenParts opened = new OpenParts();
  private final LogPolicy logPolicy;
  final LoopParts loop;
  final WebParts web;
  final UpdatePreparer changes;
  final NodesPoller nodes;

  /** Null: there are no other schedulers. */
  private final @Nullable SubtreeMover mover;

  private final ProbePollers probes;
  final ConfigPoller configs;
  private Map<String, NotifierSpec> notified = Map.of();

  /**
   * @param configPoller has been polled once and has a good configuration
   * @param follow forwards the poller's snapshots
   * @param elected the leadership by which this scheduler may answer workers and start tasks
   * @param waits the waits of the start, which a stop request can end
   * @throws IOException with a clear message when an external resource is not available
   */
  SchedulerAssembly(
      ProcessOptions options,
      Plugins plugins,
      ConfigPoller configPoller,
      LateBoundListener follow,
      Leadership elected,
      StartWaits waits,
      Consumer<Throwable> onDeath)
      throws IOException, InterruptedException {
    boolean complete = false;
    try {
      InstantSource clock = InstantSource.system();
      PrometheusMeterRegistry metrics = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
      LOG.info("effective options: {}", options.shown());
      StoreParts stored = StoreParts.open(opened, options, elected, waits, onDeath);
      logPolicy = options.logs().policy();
      LoopParts started = LoopParts.open(opened, options, plugins, stored, metrics, clock);
      loop = started;
      JobEditor editor =
          new JobEditor(
              configPoller.source(),
              plugins.configParser().inShard(options.source().shard()),
              clock,
              config -> JobAdmission.refusal(config, started.view().get()));
      mover = mover(opened, options, stored, started, clock);
      NodeFetcher fetcher = fetcher(options, plugins, stored, mover);
      ConfigPlanner planner =
          new ConfigPlanner(
              new ConfigEditor(editor),
              loop.core(),
              loop.thread(),
              fetcher,
              new PlanTokens(stored.taken().storeId(), stored.store().callbackKey(stored.epoch())),
              clock);
      // Listens before anything can start: a port in use must not interrupt tasks that were
      // started.
      web = WebParts.open(opened, options, stored, loop, editor, planner, metrics, clock);
      changes =
          opened.add(
              "changes",
              new UpdatePreparer(
                  loop.core(),
                  loop.thread(),
                  stored.store(),
                  problem -> loop.thread().accept(new LoopInput.SourceError("changes", problem))));
      nodes = opened.add("nodes", nodes(options, fetcher, stored, clock));
      probes =
          opened.add(
              "probes",
              new ProbePollers(
                  fetcher, clock, answer -> loop.thread().accept(new LoopInput.Probed(answer))));
      configs = opened.add("configuration", configPoller);
      follow.goTo(this::configured);
      configured(configPoller.current());
      configs.start();
      nodes.start();
      if (mover != null) {
        mover.start(nodes::rebuild, changes::isSettled);
      }
      opened.add("watch", ProblemMonitor.start(stored, loop, web.security(), nodes, clock));
      complete = true;
    } finally {
      if (!complete) {
        close();
      }
    }
  }

  private static @Nullable SubtreeMover mover(
      OpenParts opened,
      ProcessOptions options,
      StoreParts stored,
      LoopParts loop,
      InstantSource clock)
      throws IOException {
    Partition shard = options.source().shard();
    Optional<MySqlAddress> shared = options.store().subtreeOwners();
    if (!options.frozen()) {
      SharedOwners.check(stored.data().subtreeOwnersFile(), shared.map(MySqlAddress::toString));
    }
    if (shard.isWhole()) {
      return null;
    }
    SubtreeOwners owners =
        shared.isEmpty()
            ? null
            : MySqlSubtreeOwners.open(
                shared.get(),
                shard,
                options.source().configUri(),
                stored.epoch(),
                JsonReader::parse);
    return opened.add(
        "subtrees",
        new SubtreeMover(
            shard, owners, stored.store(), stored.epoch(), loop.thread(), loop.core(), clock));
  }

  private static NodeFetcher fetcher(
      ProcessOptions options, Plugins plugins, StoreParts stored, @Nullable SubtreeMover mover) {
    return new NodeFetcher(
        plugins.nodeSources(),
        options.source().instanceNodeName(),
        new NodeSourceContext(options.source().configDirectory(), stored.data().root().toString()),
        mover == null ? () -> Division.WHOLE : mover::division);
  }

  private NodesPoller nodes(
      ProcessOptions options, NodeFetcher fetcher, StoreParts stored, InstantSource clock) {
    return new NodesPoller(
        new NodeSourceCoordinator(
            fetcher,
            options.source().nodesUpdate(),
            options.source().nodesRetry(),
            clock,
            memory(stored),
            new Jitter(ThreadLocalRandom.current().nextLong())),
        options.source().nodesUpdate(),
        options.source().nodesRetry(),
        clock,
        found -> {
          probes.nodes(found.topology());
          if (mover == null) {
            changes.nodes(found);
          } else {
            mover.nodes(found, changes::nodes);
          }
        });
  }

  /** Stores the memory of nodes next to the statuses, so that it survives a fail-over. */
  private static NodesMemory memory(StoreParts stored) {
    return new NodesMemory() {
      @Override
      public String load() {
        return stored.store().nodesSketch();
      }

      @Override
      public void save(String text) {
        try {
          stored.store().keepNodesSketch(stored.epoch(), text);
        } catch (StaleEpochException e) {
          stored.onDeath().accept(e);
        }
      }
    };
  }

  /** Handles a new result of the configuration poller, good or bad. */
  private void configured(ConfigSnapshot snapshot) {
    loop.thread().accept(new LoopInput.ConfigProblems(snapshot.problems()));
    loop.thread()
        .accept(
            new LoopInput.SourceError(
                "configuration",
                snapshot.stale()
                    ? "the newest configuration is not in force: see problems"
                    : null));
    if (snapshot.config() != null && !snapshot.stale()) {
      Settings settings = snapshot.config().settings();
      RemoteRunner remote = loop.remote();
      if (remote != null) {
        remote.exitSafeWaitBefore(settings.exitInitialWaitBefore());
        remote.healthCheckOptions(settings.defaults().subprocess());
      }
      loop.logs().apply(logPolicy.withJobs(snapshot.config().jobs().values()));
      showNotifications(settings.notifications());
      nodes.settings(settings);
      probes.settings(settings);
      changes.config(snapshot.config());
      if (mover != null) {
        mover.configured(settings);
      }
    }
  }

  private void showNotifications(Map<String, NotifierSpec> notifiers) {
    if (!notifiers.equals(notified)) {
      notified = notifiers;
      new TreeMap<>(notifiers)
          .forEach((name, spec) -> LOG.info("notifier {}: {}", name, NotifierKeys.shown(spec)));
    }
  }

  @Override
  public void close() {
    opened.close();
  }
}
