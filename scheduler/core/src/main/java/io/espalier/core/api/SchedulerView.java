package io.espalier.core.api;

import io.espalier.core.config.Config;
import io.espalier.core.outcome.JobStanding;
import io.espalier.core.problem.Problem;
import io.espalier.core.status.Pause;
import io.espalier.core.topology.Topology;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What the scheduler published after its latest round: immutable, read without locks.
 *
 * @param config the one in force; null before the first good one
 * @param configProblems why the newest configuration is not in force, and all warnings
 * @param topology the nodes in force; null before the first
 * @param nodesAtMillis when these nodes were fetched
 * @param progress by job, of configured jobs
 * @param running all live invocations, also of deleted jobs
 * @param errors source of the error to its message; only current ones
 * @param pauses by job, of paused jobs
 * @param standings by job, of configured jobs: how they stand; immutable already, as copying it for
 *     ten thousand jobs ten times a second would take long
 * @param findings of the supervisor's latest pass
 * @param publishedAtMillis when this view was made
 */
public record SchedulerView(
    @Nullable Config config,
    List<Problem> configProblems,
    @Nullable Topology topology,
    long nodesAtMillis,
    Map<String, JobProgress> progress,
    List<RunningTask> running,
    Map<String, String> errors,
    Map<String, Pause> pauses,
    Map<String, JobStanding> standings,
    SupervisorFindings findings,
    long publishedAtMillis) {
  public static final SchedulerView EMPTY =
      new SchedulerView(null, List.of(), null, 0, Map.of(), List.of(), Map.of(), 0);

  public SchedulerView {
    configProblems = List.copyOf(configProblems);
    running = List.copyOf(running);
    pauses = Map.copyOf(pauses);
  }

  /** Paused jobs to the reason given, empty if none was. */
  public Map<String, String> paused() {
    Map<String, String> reasons = new TreeMap<>();
    pauses.forEach((job, pause) -> reasons.put(job, pause.reason()));
    return reasons;
  }

  /** A view in which no job is paused, and that does not say how they stand. */
  public SchedulerView(
      @Nullable Config config,
      List<Problem> configProblems,
      @Nullable Topology topology,
      long nodesAtMillis,
      Map<String, JobProgress> progress,
      List<RunningTask> running,
      Map<String, String> errors,
      long publishedAtMillis) {
    this(
        config,
        configProblems,
        topology,
        nodesAtMillis,
        progress,
        running,
        errors,
        Map.of(),
        Map.of(),
        SupervisorFindings.NONE,
        publishedAtMillis);
  }

  /** The same with other findings. */
  public SchedulerView withFindings(SupervisorFindings newest) {
    return new SchedulerView(
        config,
        configProblems,
        topology,
        nodesAtMillis,
        progress,
        running,
        errors,
        pauses,
        standings,
        newest,
        publishedAtMillis);
  }

  /** The same with other pauses. */
  public SchedulerView withPauses(Map<String, Pause> newest) {
    return new SchedulerView(
        config,
        configProblems,
        topology,
        nodesAtMillis,
        progress,
        running,
        errors,
        newest,
        standings,
        findings,
        publishedAtMillis);
  }

  /** The same with jobs that stand otherwise. */
  public SchedulerView withStandings(Map<String, JobStanding> newest) {
    return new SchedulerView(
        config,
        configProblems,
        topology,
        nodesAtMillis,
        progress,
        running,
        errors,
        pauses,
        newest,
        findings,
        publishedAtMillis);
  }
}
