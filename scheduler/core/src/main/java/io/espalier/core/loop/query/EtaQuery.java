package io.espalier.core.loop.query;

import io.espalier.core.api.Query;
import io.espalier.core.api.view.JobEta;
import io.espalier.core.forecast.EtaEstimate;
import io.espalier.core.forecast.EtaScan;
import io.espalier.core.forecast.JobPace;
import io.espalier.core.forecast.LiveWork;
import io.espalier.core.loop.state.LiveTasks;
import io.espalier.core.loop.state.PaceScan;
import io.espalier.core.loop.state.Throughput;
import io.espalier.core.scheduling.SchedulingCore;
import java.util.Map;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/** A query about the end of a job: passes over what runs and over the tasks of its competitors. */
final class EtaQuery extends IncrementalQuery<JobEta> {
  private final SchedulingCore core;
  private final LiveTasks live;
  private final Throughput throughput;
  private final Query.Eta query;
  private final Queue<EtaQuery> line;
  private Map<String, JobPace> known = Map.of();
  private @Nullable PaceScan durations;
  private @Nullable EtaScan scan;
  private @Nullable EtaEstimate estimate;

  /**
   * @param line the open queries of this kind: only the first one has its arrays, which are large
   */
  EtaQuery(
      SchedulingCore core,
      LiveTasks live,
      Throughput throughput,
      Query.Eta query,
      Queue<EtaQuery> line) {
    this.core = core;
    this.live = live;
    this.throughput = throughput;
    this.query = query;
    this.line = line;
  }

  @Override
  long step(long nowMillis, int units) {
    if (line.peek() != this) {
      return 0;
    }
    int job = core.findJob(query.job());
    if (core.job(job) == null) {
      refuseUnknown(query.job());
      end();
      return 1;
    }
    if (new LiveWork(core).left(job) == 0) {
      answer.complete(JobEta.ended(query.job(), nowMillis));
      end();
      return 1;
    }
    EtaScan current = scan;
    if (current != null && current.isStale()) {
      current = null;
      scan = null;
      estimate = null;
      durations = null;
    }
    PaceScan measured = durations;
    if (measured == null) {
      measured = new PaceScan(throughput, live);
      durations = measured;
    }
    if (!measured.isDone()) {
      return measured.step(nowMillis, units);
    }
    if (current == null) {
      known = measured.paces();
    }
    boolean isKnown = query.assumedMillis() > 0 || known.containsKey(query.job());
    JobPace assumed = JobPace.constant(Math.max(1, query.assumedMillis()));
    JobPace pace = known.getOrDefault(query.job(), assumed);
    if (current == null) {
      // Of jobs that have never ended a task it is assumed that theirs take as long.
      current = new EtaScan(new LiveWork(core), job, known, pace);
      scan = current;
    }
    if (!current.isDone()) {
      return current.step(units);
    }
    EtaEstimate last = estimate;
    if (last == null) {
      last = new EtaEstimate(new LiveWork(core), job, pace, isKnown, current, nowMillis);
      estimate = last;
    }
    int used = last.step(units);
    if (last.isDone()) {
      answer.complete(last.answer());
      end();
    }
    return used;
  }

  /** Lets go of the arrays, because the answer may be kept for long, and of the turn. */
  private void end() {
    durations = null;
    scan = null;
    estimate = null;
    known = Map.of();
    line.remove();
  }
}
