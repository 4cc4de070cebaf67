package io.espalier.core.loop.query;

import io.espalier.core.api.view.Histogram;
import io.espalier.core.config.Job;
import io.espalier.core.scheduling.SchedulingCore;
import java.util.ArrayList;
import java.util.List;

/** A query for the histograms of some jobs, built one after the other. */
final class HistogramQuery extends IncrementalQuery<List<Histogram>> {
  /** The cost of building one, once its rows are up to date. */
  private static final int UNITS = 2_000;

  private final SchedulingCore core;
  private final List<String> jobs;
  private final int samples;
  private final List<Histogram> histograms = new ArrayList<>();
  private int next;

  /**
   * @param jobs job names; unknown and invalid jobs are skipped
   */
  HistogramQuery(SchedulingCore core, List<String> jobs, int samples) {
    this.core = core;
    this.jobs = List.copyOf(jobs);
    this.samples = samples;
  }

  @Override
  long step(long nowMillis, int units) {
    long used = 0;
    while (next < jobs.size() && used < units) {
      int job = core.findJob(jobs.get(next));
      Job config = core.job(job);
      if (config == null || !config.isValid()) {
        next++;
        continue;
      }
      int left = (int) Math.max(2, units - used);
      long looked = core.tasks().prepareHistogram(job, left);
      used += looked;
      if (looked < left) {
        histograms.add(core.tasks().histogram(job, samples));
        used += UNITS;
        next++;
      }
    }
    if (next == jobs.size()) {
      answer.complete(List.copyOf(histograms));
    }
    return used;
  }
}
