package io.espalier.core.api;

import io.espalier.core.config.Config;
import io.espalier.core.outcome.JobStateRecord;
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
    List<RunningTaskView> running,
    Map<String, String> errors,
    Map<String, Pause> pauses,
    Map<String, JobStateRecord> standings,
    WatchdogFindings findings,
    long publishedAtMillis) {
  /** Source of the error that the status store does not work: nothing can start then. */
  public static final String STORE = "status store";

  /** Source of the error that the scheduler is disabled in its settings. */
  public static final String SETTINGS = "settings";

  /** Source of the error that the newest configuration is not in force, or none at all. */
  public static final String CONFIGURATION = "configuration";

  /** Source of what keeps workers from getting tasks, such as a safe wait. */
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
          Map.of(),
          WatchdogFindings.NONE,
          0);

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

  /** A builder of a view that is the same as this one but for what it is told. */
  public Builder toBuilder() {
    return new Builder(this);
  }

  /** Makes a view from another one; not thread-safe. */
  public static final class Builder {
    private @Nullable Config config;
    private List<Problem> configProblems;
    private @Nullable Topology topology;
    private long nodesAtMillis;
    private Map<String, JobProgress> progress;
    private List<RunningTaskView> running;
    private Map<String, String> errors;
    private Map<String, Pause> pauses;
    private Map<String, JobStateRecord> standings;
    private WatchdogFindings findings;
    private long publishedAtMillis;

    private Builder(SchedulerView from) {
      config = from.config;
      configProblems = from.configProblems;
      topology = from.topology;
      nodesAtMillis = from.nodesAtMillis;
      progress = from.progress;
      running = from.running;
      errors = from.errors;
      pauses = from.pauses;
      standings = from.standings;
      findings = from.findings;
      publishedAtMillis = from.publishedAtMillis;
    }

    /** The configuration in force. */
    public Builder config(@Nullable Config newest) {
      config = newest;
      return this;
    }

    /** Why the newest configuration is not in force, and all warnings. */
    public Builder configProblems(List<Problem> newest) {
      configProblems = newest;
      return this;
    }

    /** The nodes in force, and when they were fetched. */
    public Builder topology(@Nullable Topology newest, long fetchedAtMillis) {
      topology = newest;
      nodesAtMillis = fetchedAtMillis;
      return this;
    }

    /** By job. */
    public Builder progress(Map<String, JobProgress> newest) {
      progress = newest;
      return this;
    }

    /** All live invocations. */
    public Builder running(List<RunningTaskView> newest) {
      running = newest;
      return this;
    }

    /** The current errors by source. */
    public Builder errors(Map<String, String> newest) {
      errors = newest;
      return this;
    }

    /** By job, of paused jobs. */
    public Builder pauses(Map<String, Pause> newest) {
      pauses = newest;
      return this;
    }

    /** By job, how they stand. */
    public Builder standings(Map<String, JobStateRecord> newest) {
      standings = newest;
      return this;
    }

    /** Of the supervisor's latest pass. */
    public Builder findings(WatchdogFindings newest) {
      findings = newest;
      return this;
    }

    /** When the view is made. */
    public Builder publishedAtMillis(long newest) {
      publishedAtMillis = newest;
      return this;
    }

    /** The view. */
    public SchedulerView build() {
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
          findings,
          publishedAtMillis);
    }
  }
}
