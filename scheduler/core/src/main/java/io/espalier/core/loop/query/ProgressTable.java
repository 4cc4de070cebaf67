package io.espalier.core.loop.query;

import io.espalier.core.api.view.JobProgress;
import io.espalier.core.config.Config;
import io.espalier.core.config.Job;
import io.espalier.core.loop.state.NameOrderedMap;
import io.espalier.core.loop.state.Throughput;
import io.espalier.core.scheduling.SchedulingCore;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The progress of all configured jobs, updated incrementally: a job without changes costs next to
 * nothing, because views are made ten times a second and there may be ten thousand jobs.
 */
public final class ProgressTable {
  /** With more jobs than this, each view recomputes only some of the completion rates. */
  private static final int MANY = 1_000;

  private static final int TURNS = 10;

  private final SchedulingCore core;
  private final Throughput throughput;

  private @Nullable Config config;
  private long world = -1;
  private String[] names = {};
  private int[] jobs = {};
  private boolean[] mayStart = {};
  private long[] seen = {};
  private boolean[] isStale = {};
  private JobProgress[] counts = {};
  private JobProgress[] paced = {};
  private int turn;

  public ProgressTable(SchedulingCore core, Throughput throughput) {
    this.core = core;
    this.throughput = throughput;
  }

  /** The progress of all jobs, without completion rates. */
  public Map<String, JobProgress> counts() {
    refresh();
    return new NameOrderedMap<>(names, counts.clone());
  }

  /**
   * The progress of all jobs with their completion rates, as far as known.
   *
   * @param endless jobs with tasks that can never start
   * @param all whether to recompute all rates
   */
  public Map<String, JobProgress> paced(Set<String> endless, long nowMillis, boolean all) {
    refresh();
    turn = (turn + 1) % TURNS;
    for (int i = 0; i < names.length; i++) {
      if (all || isStale[i] || names.length <= MANY || i % TURNS == turn) {
        isStale[i] = false;
        boolean mayEnd = endless.isEmpty() || !endless.contains(names[i]);
        paced[i] = throughput.withPace(counts[i], mayStart[i], mayEnd, nowMillis);
      }
    }
    return new NameOrderedMap<>(names, paced.clone());
  }

  @SuppressWarnings("ReferenceEquality") // Each configuration is a new object.
  private void refresh() {
    if (config != core.config() || world != core.stateNumber()) {
      rebuild();
    }
    for (int i = 0; i < names.length; i++) {
      long revision = core.tasks().countsRevision(jobs[i]);
      boolean may = core.tasks().mayStart(jobs[i]);
      if (revision != seen[i] || may != mayStart[i]) {
        seen[i] = revision;
        mayStart[i] = may;
        counts[i] = core.tasks().progress(jobs[i]);
        isStale[i] = true;
      }
    }
  }

  private void rebuild() {
    config = core.config();
    world = core.stateNumber();
    TreeMap<String, Integer> numbers = new TreeMap<>();
    for (int job = 0; job < core.jobCount(); job++) {
      Job known = core.job(job);
      if (known != null) {
        numbers.put(known.name(), job);
      }
    }
    int size = numbers.size();
    names = numbers.keySet().toArray(new String[0]);
    jobs = numbers.values().stream().mapToInt(Integer::intValue).toArray();
    mayStart = new boolean[size];
    seen = new long[size];
    isStale = new boolean[size];
    counts = new JobProgress[size];
    paced = new JobProgress[size];
    for (int i = 0; i < size; i++) {
      mayStart[i] = core.tasks().mayStart(jobs[i]);
      seen[i] = core.tasks().countsRevision(jobs[i]);
      counts[i] = core.tasks().progress(jobs[i]);
      paced[i] = counts[i];
      isStale[i] = true;
    }
  }
}
