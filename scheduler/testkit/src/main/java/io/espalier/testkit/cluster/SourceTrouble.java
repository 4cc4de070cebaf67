package io.espalier.testkit.cluster;

import io.espalier.core.api.Command;
import io.espalier.core.api.TaskSelection;
import io.espalier.core.api.TaskSelector;
import io.espalier.core.status.store.LimitOverride;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;

/**
 * Makes nodes and jobs come and go and operators command tasks, at random instants, until the
 * cluster is told to be quiet. Many of these events fall into updates, reads and restarts.
 */
final class SourceTrouble {
  /** A scheduler's refresh interval, for which a node may be missing. */
  private static final int REFRESH = 2_200;

  private final SimulatedCluster cluster;
  private final SimulatedSources sources;
  private final List<SimulatedScheduler> schedulers;
  private final ClusterPlan plan;
  private final Random random;
  private final int every;

  SourceTrouble(SimulatedCluster cluster, List<SimulatedScheduler> schedulers) {
    this.cluster = cluster;
    this.sources = cluster.sources;
    this.schedulers = schedulers;
    this.plan = cluster.plan;
    this.random = cluster.random;
    this.every = 500 + random.nextInt(8_000);
  }

  void begin() {
    cluster.timeline.after(random.nextInt(every), this::next);
  }

  private void next() {
    if (cluster.isQuiet()) {
      return;
    }
    one();
    cluster.timeline.after(1 + random.nextInt(2 * every), this::next);
  }

  private void one() {
    String job = random.nextBoolean() ? "light" : "heavy";
    switch (random.nextInt(12)) {
      case 0, 1, 2, 3 -> flap();
      case 4 -> {
        happened(SimulationEvent.NODE_MOVED, "a db moves");
        sources.moves(
            random.nextInt(plan.hosts() * plan.dbsPerHost()), random.nextInt(plan.hosts()));
      }
      case 5 -> {
        happened(SimulationEvent.LEVEL_RENAMED, "the lowest level gets another name");
        sources.renamesLevel();
      }
      case 6 -> {
        happened(SimulationEvent.JOB_LEFT, "the configuration loses " + job);
        sources.removes(job);
        after(1 + random.nextInt(3 * REFRESH), () -> sources.returns(job));
      }
      case 7 -> {
        happened(SimulationEvent.JOB_REMADE, job + " is deleted and made again");
        sources.remakes(job, cluster.next());
      }
      case 8 -> {
        happened(SimulationEvent.TASKS_RERUN, "an operator runs tasks of " + job + " again");
        rerun(job);
      }
      case 9 -> {
        happened(SimulationEvent.TASKS_FORGIVEN, "an operator forgives " + job);
        cluster.invariants.commanded(job);
        command(new Command.Forgive(TaskSelection.all(job, "simulated", "")));
      }
      case 10 -> {
        boolean stops = random.nextBoolean();
        happened(SimulationEvent.JOB_PAUSED, "an operator " + (stops ? "stops " : "pauses ") + job);
        command(
            stops
                ? new Command.Stop(job, "simulated", "")
                : new Command.Pause(job, 0, "simulated", ""));
        after(random.nextInt(4_000), () -> command(new Command.Resume(job, "simulated", "")));
      }
      default -> {
        happened(SimulationEvent.LIMIT_SET, "an operator sets a limit");
        LimitOverride limit =
            new LimitOverride(
                "instance", "concurrency", "", random.nextInt(5), "simulated", "", 0, 0);
        command(new Command.SetLimit(limit, 1L + random.nextInt(8_000)));
      }
    }
  }

  /** Removes some hosts, or all, for one to three refreshes. */
  private void flap() {
    happened(SimulationEvent.NODES_LEFT, "the source of the nodes forgets hosts");
    int hosts = random.nextInt(4) == 0 ? plan.hosts() : 1 + random.nextInt(plan.hosts());
    for (int i = 0; i < hosts; i++) {
      int host = hosts == plan.hosts() ? i : random.nextInt(plan.hosts());
      sources.leaves(host);
      int refreshes = 1 + random.nextInt(3);
      after((long) refreshes * (random.nextInt(REFRESH) + 200), () -> sources.comesBack(host));
    }
  }

  private void rerun(String job) {
    Set<String> nodes = new HashSet<>();
    for (int i = random.nextInt(6); i >= 0; i--) {
      nodes.add("n" + (1 + random.nextInt(plan.hosts() * plan.dbsPerHost())));
    }
    cluster.invariants.commanded(job);
    cluster.trace(() -> "they are " + nodes);
    TaskSelection some =
        new TaskSelection(
            job, new TaskSelector(Set.of(), "", nodes, ""), false, -1, "simulated", "");
    command(new Command.Rerun(some));
  }

  private void command(Command<?> what) {
    schedulers.get(random.nextInt(schedulers.size())).command(what);
  }

  private void after(long millis, Runnable what) {
    cluster.timeline.after(
        millis,
        () -> {
          if (!cluster.isQuiet()) {
            what.run();
          }
        });
  }

  private void happened(SimulationEvent what, String words) {
    cluster.coverage.happened(what);
    cluster.trace(() -> words);
  }
}
