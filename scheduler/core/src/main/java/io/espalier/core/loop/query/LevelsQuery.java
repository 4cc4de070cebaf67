package io.espalier.core.loop.query;

import io.espalier.core.api.view.Histogram;
import io.espalier.core.api.view.JobLevels;
import io.espalier.core.api.view.JobProgress;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.TaskStatus.Main;
import io.espalier.core.topology.Topology;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A query for the progress of a job per level: a histogram by states instead of status bits, built
 * in slices.
 */
final class LevelsQuery extends IncrementalQuery<JobLevels> {
  private final SchedulingCore core;
  private final String job;
  private final int samples;

  LevelsQuery(SchedulingCore core, String job, int samples) {
    this.core = core;
    this.job = job;
    this.samples = samples;
  }

  @Override
  long step(long nowMillis, int units) {
    int number = core.findJob(job);
    if (core.job(number) == null) {
      refuseUnknown(job);
      return 1;
    }
    long used = core.tasks().prepareHistogram(number, Math.max(2, units));
    if (used < units) {
      answer.complete(levels(core.tasks().histogram(number, samples), nowMillis));
    }
    return used;
  }

  private JobLevels levels(Histogram histogram, long nowMillis) {
    Topology topology = core.topology();
    List<JobLevels.Level> levels = new ArrayList<>();
    // The last level is that of the tasks.
    String lowest = histogram.levels().keySet().stream().reduce((a, b) -> b).orElse("");
    JobProgress progress = core.tasks().progress(core.findJob(job));
    String untold = progress.ready() == 0 ? "blocked" : "ready";
    histogram
        .levels()
        .forEach(
            (level, buckets) -> {
              Map<String, Long> states = new LinkedHashMap<>();
              Map<String, List<String>> names = new LinkedHashMap<>();
              JobLevels.STATES.forEach(state -> states.put(state, 0L));
              buckets.forEach(
                  (bits, bucket) -> {
                    boolean isTask = level.equals(lowest);
                    for (String state :
                        isTask ? List.of(ofTask(bits, untold)) : ofSubtree(bits, untold)) {
                      states.merge(state, bucket.count(), Long::sum);
                      List<String> some = names.computeIfAbsent(state, s -> new ArrayList<>());
                      bucket.samples().stream()
                          .limit(Math.max(0, samples - some.size()))
                          .forEach(some::add);
                    }
                  });
              int number = topology.levels().find(level);
              int nodes = topology.levelEnd(number) - topology.levelStart(number);
              names.values().removeIf(List::isEmpty);
              if (level.equals(lowest)) {
                states.put("ready", progress.ready());
                states.put("blocked", progress.blocked());
              }
              levels.add(new JobLevels.Level(level, nodes, states, names));
            });
    return new JobLevels(job, nowMillis, levels);
  }

  private static String ofTask(int bits, String untold) {
    if ((bits & Main.RUNNING.bit()) != 0) {
      return "running";
    }
    if ((bits & TaskStatus.AVOIDED) != 0) {
      return "avoided";
    }
    if ((bits & TaskStatus.DISABLED) != 0) {
      return "disabled";
    }
    if ((bits & Main.DONE.bit()) != 0) {
      return "done";
    }
    if ((bits & Main.FAILED.bit()) != 0) {
      return "failed";
    }
    if ((bits & Main.CANCELLED.bit()) != 0) {
      return "cancelled";
    }
    return (bits & TaskStatus.USES_BACKOFF) != 0 ? "waiting" : untold;
  }

  /**
   * The states that the status bits of a subtree can express. Where some tasks wait, the bits
   * cannot express that others waited and are ready for a retry.
   *
   * @param untold state of the tasks for which the bits do not show whether they are ready: where
   *     some of the job's tasks wait for others on their node and some do not, all count as ready
   */
  private static List<String> ofSubtree(int bits, String untold) {
    List<String> states = new ArrayList<>();
    add(states, bits, Main.DONE.bit(), "done");
    add(states, bits, Main.FAILED.bit(), "failed");
    add(states, bits, Main.CANCELLED.bit(), "cancelled");
    add(states, bits, Main.RUNNING.bit(), "running");
    add(states, bits, TaskStatus.USES_BACKOFF, "waiting");
    boolean waits = (bits & TaskStatus.USES_BACKOFF) != 0;
    int tried = waits ? 0 : Main.INCOMPLETE.bit() | Main.ERROR.bit();
    add(states, bits, Main.UNSTARTED.bit() | tried, untold);
    add(states, bits, TaskStatus.AVOIDED, "avoided");
    add(states, bits, TaskStatus.DISABLED, "disabled");
    return states;
  }

  private static void add(List<String> states, int bits, int some, String state) {
    if ((bits & some) != 0) {
      states.add(state);
    }
  }
}
