package io.espalier.core.scheduling;

import io.espalier.core.config.Job;
import io.espalier.core.config.WholeJob;
import io.espalier.core.topology.Topology;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Which jobs wait for whole jobs, and whether they still must (behaviour 5.6). Counts are kept with
 * every write of a status, so asking costs the number of status codes, not of tasks.
 */
final class WholeJobs {
  private final JobTable jobs;
  private final TaskTable tasks;
  private final Map<Integer, List<Condition>> conditions = new HashMap<>();

  /** By the job that is waited for: those that wait. */
  private final Map<Integer, List<Integer>> waiters = new HashMap<>();

  private final BitSet changed = new BitSet();

  /**
   * @param dependency job number, -1: not known
   * @param tagged counts of tagged nodes; null: all nodes count
   */
  private record Condition(WholeJob said, int dependency, @Nullable TagCounts tagged) {}

  /**
   * @param tasks counts from now on, so it must hold no statuses yet
   */
  WholeJobs(Topology topology, JobTable jobs, TaskTable tasks) {
    this.jobs = jobs;
    this.tasks = tasks;
    Map<WholeJob, @Nullable TagCounts> known = new HashMap<>();
    for (int j = 0; j < jobs.count(); j++) {
      Job job = jobs.job(j);
      for (WholeJob said : job == null ? List.<WholeJob>of() : job.afterJobs()) {
        int dependency = jobs.find(said.job());
        TagCounts tagged = null;
        if (dependency >= 0 && !said.tags().isEmpty()) {
          WholeJob sameNodes = new WholeJob(said.job(), 100, said.tags());
          tagged = known.get(sameNodes);
          if (tagged == null) {
            tagged = tasks.watch(dependency, tagged(topology, dependency, said.tags()));
            known.put(sameNodes, tagged);
          }
        }
        conditions
            .computeIfAbsent(j, n -> new ArrayList<>())
            .add(new Condition(said, dependency, tagged));
        if (dependency >= 0) {
          waiters.computeIfAbsent(dependency, n -> new ArrayList<>()).add(j);
        }
      }
    }
  }

  /** Nodes of the job's level with one of some tags, counted from the first of the level. */
  private BitSet tagged(Topology topology, int job, List<String> tags) {
    BitSet nodes = new BitSet();
    for (int node = tasks.first(job); node < tasks.end(job); node++) {
      for (int i = 0; i < topology.slotCount(node); i++) {
        if (topology.tags(topology.slot(node, i)).stream().anyMatch(tags::contains)) {
          nodes.set(node - tasks.first(job));
        }
      }
    }
    return nodes;
  }

  /** Notes that a task of the job was done or is not any more. */
  void touch(int job) {
    if (waiters.containsKey(job)) {
      changed.set(job);
    }
  }

  /** The jobs that may have to wait no more, or to wait again, since the last call. */
  int[] takeChanged() {
    if (changed.isEmpty()) {
      return NONE;
    }
    BitSet affected = new BitSet();
    changed.stream().forEach(job -> waiters.getOrDefault(job, List.of()).forEach(affected::set));
    changed.clear();
    return affected.stream().toArray();
  }

  private static final int[] NONE = {};

  /** Whether the job waits for no other. */
  boolean areDone(int job) {
    for (Condition condition : conditions.getOrDefault(job, List.of())) {
      if (!isMet(condition)) {
        return false;
      }
    }
    return true;
  }

  /** What the job waits for, a sentence each. */
  List<String> waitsFor(int job) {
    List<String> all = new ArrayList<>();
    for (Condition condition : conditions.getOrDefault(job, List.of())) {
      if (!isMet(condition)) {
        all.add("waits for job " + condition.said().job() + ", which " + why(condition));
      }
    }
    return all;
  }

  private boolean isMet(Condition condition) {
    int dependency = condition.dependency();
    return dependency >= 0
        && jobs.canRun(dependency)
        && done(condition) * 100.0 >= condition.said().donePercent() * considered(condition);
  }

  private String why(Condition condition) {
    int dependency = condition.dependency();
    Job job = dependency < 0 ? null : jobs.job(dependency);
    if (job == null) {
      return "is not configured";
    }
    if (!jobs.canRun(dependency)) {
      return job.enabled() && !job.isValid() ? "has errors" : "is disabled";
    }
    WholeJob said = condition.said();
    return "is done on "
        + done(condition)
        + " of "
        + considered(condition)
        + " nodes"
        + (said.tags().isEmpty() ? "" : " tagged " + String.join(" or ", said.tags()))
        + (said.donePercent() == 100 ? "" : ", and must be on " + said.donePercent() + " %");
  }

  private long done(Condition condition) {
    TagCounts tagged = condition.tagged();
    if (tagged != null) {
      return tagged.done();
    }
    long done = 0;
    for (int code = 0; code < StatusCodes.COUNT; code++) {
      if (TagCounts.isDone(code)) {
        done += tasks.count(condition.dependency(), code);
      }
    }
    return done;
  }

  private long considered(Condition condition) {
    TagCounts tagged = condition.tagged();
    if (tagged != null) {
      return tagged.considered();
    }
    long considered = 0;
    for (int code = 0; code < StatusCodes.COUNT; code++) {
      if (TagCounts.isConsidered(code)) {
        considered += tasks.count(condition.dependency(), code);
      }
    }
    return considered;
  }
}
