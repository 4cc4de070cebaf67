package io.espalier.core.api.view;

import io.espalier.core.config.Config;
import io.espalier.core.health.ProbeView;
import io.espalier.core.outcome.JobStateRecord;
import io.espalier.core.problem.Problem;
import io.espalier.core.rollout.Rollout;
import io.espalier.core.status.store.Pause;
import io.espalier.core.status.store.Quarantine;
import io.espalier.core.topology.Topology;
import io.soabase.recordbuilder.core.RecordBuilder;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * An immutable view of the scheduler, published after its latest round and read without locks.
 *
 * @param config configuration in force; null before the first valid one
 * @param configProblems why the newest configuration is not in force, and all warnings
 * @param topology nodes in force; null before the first
 * @param nodesAtMillis when these nodes were fetched
 * @param progress progress of configured jobs, by name
 * @param running all live invocations, including those of deleted jobs
 * @param errors messages of the current errors, by source
 * @param pauses pauses of paused jobs, by name
 * @param brakes the brakes, in the order in which they were set
 * @param windows windows and freezes, of the settings first, then of queues and jobs
 * @param probes probes, in the order of the configuration
 * @param quarantines quarantines, and suggestions of some, by node and job
 * @param rollouts roll-outs of jobs, by name
 * @param jobStates states of configured jobs, by name; already immutable, because copying it for
 *     ten thousand jobs ten times a second would be slow
 * @param findings findings of the watchdog's latest pass
 * @param publishedAtMillis when this view was made
 */
@RecordBuilder
public record SchedulerView(
    @Nullable Config config,
    List<Problem> configProblems,
    @Nullable Topology topology,
    long nodesAtMillis,
    Map<String, JobProgress> progress,
    List<RunningTaskView> running,
    Map<String, String> errors,
    Map<String, Pause> pauses,
    List<BrakeView> brakes,
    List<WindowView> windows,
    List<ProbeView> probes,
    Map<String, Rollout> rollouts,
    List<Quarantine> quarantines,
    Map<String, JobStateRecord> jobStates,
    WatchdogFindings findings,
    long publishedAtMillis)
    implements SchedulerViewBuilder.With {
  /** The source of the error that the status store does not work, so that nothing can start. */
  public static final String STORE = "status store";

  /** The source of the error that the status store lags behind. */
  public static final String BEHIND = "durability";

  /** The source of the error that the scheduler is disabled in its settings. */
  public static final String SETTINGS = "settings";

  /**
   * The source of the error that the newest configuration is not in force, or that there is none.
   */
  public static final String CONFIGURATION = "configuration";

  /** The source of the error that workers get no tasks, as during a safe wait. */
  public static final String WORKERS = "workers";

  public static final SchedulerView EMPTY =
      new SchedulerView(
          null,
          List.of(),
          null,
          0,
          Map.of(),
          List.of(),
          Map.of(),
          Map.of(),
          List.of(),
          List.of(),
          List.of(),
          Map.of(),
          List.of(),
          Map.of(),
          WatchdogFindings.NONE,
          0);

  public SchedulerView {
    configProblems = List.copyOf(configProblems);
    running = List.copyOf(running);
    pauses = Map.copyOf(pauses);
    brakes = List.copyOf(brakes);
    windows = List.copyOf(windows);
    probes = List.copyOf(probes);
    rollouts = Map.copyOf(rollouts);
    quarantines = List.copyOf(quarantines);
  }

  /** The reasons of paused jobs by name; empty where none was given. */
  public Map<String, String> paused() {
    Map<String, String> reasons = new TreeMap<>();
    pauses.forEach((job, pause) -> reasons.put(job, pause.reason()));
    return reasons;
  }

  /**
   * Says why no configuration is in force. It takes effect together with its nodes, so a scheduler
   * that starts has none until the first answer of its node sources.
   */
  public String whyNoConfig() {
    return errors.getOrDefault(
        CONFIGURATION,
        "no configuration is in force yet: the scheduler is starting and waits for its nodes");
  }
}
