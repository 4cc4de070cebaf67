package io.espalier.core.scheduling.state;

import io.espalier.core.config.Config;
import io.espalier.core.config.Levels;
import io.espalier.core.config.Settings;
import io.espalier.core.scheduling.capacity.ConfiguredLimits;
import io.espalier.core.scheduling.capacity.LimitTable;
import io.espalier.core.scheduling.gate.GateTable;
import io.espalier.core.scheduling.job.JobTable;
import io.espalier.core.scheduling.spi.SplitMix64;
import io.espalier.core.scheduling.spi.WorkerSelector;
import io.espalier.core.scheduling.task.NodeEligibility;
import io.espalier.core.scheduling.task.RunningTasks;
import io.espalier.core.scheduling.util.RateLimiterClock;
import io.espalier.core.scheduling.worker.WorkerTable;
import io.espalier.core.topology.PackedTopology;
import io.espalier.core.topology.Topology;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Creates the state in force before the first configuration: no jobs, and only the instance node.
 */
public final class EmptyState {
  private EmptyState() {}

  public static SchedulingState create(
      SplitMix64 random,
      RunningTasks runs,
      WorkerTable pool,
      Map<String, WorkerSelector> selectors) {
    Levels levels = Levels.of(List.of());
    Settings settings = Settings.usual(false);
    Config config = new Config(settings, new TreeMap<>(), List.of());
    Topology topology = PackedTopology.instanceOnly(levels, Levels.INSTANCE);
    JobTable jobs = new JobTable(config, new TreeMap<>());
    SchedulingState state =
        new SchedulingState(
            config,
            topology,
            ConfiguredLimits.of(config, topology),
            jobs,
            NodeEligibility.of(topology, jobs),
            random,
            runs,
            pool,
            selectors,
            new RateLimiterClock(),
            new GateTable(),
            new LimitTable());
    state.index.build(0);
    return state;
  }
}
