package io.espalier.core.scheduling.task;

import io.espalier.core.config.Job;
import io.espalier.core.config.WholeJobDependency;
import io.espalier.core.scheduling.job.JobTable;
import io.espalier.core.scheduling.job.StatusCodes;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.topology.Topology;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Tracks which jobs wait for whole jobs, and whether they still must
 * (docs/design/bistro.md#dependencies). Counts are updated with every status, so a query costs the
 * number of status codes, not the number of tasks.
 */
public final class WholeJobDependencies {
  private static final int NAMED = 3;

  private final Topology topology;
  private final JobTable jobs;
  private final TaskTable tasks;
  private final Map<Integer, List<Condition>> conditions = new HashMap<>();

  /** By dependency: the jobs that wait for it. */
  private final Map<Integer, List<Integer>> waiters = new HashMap<>();

  private final BitSet changed = new BitSet();

  /**
   * @param dependency the job number, -1: unknown
   * @param tagged the counts of the tagged nodes; null: all nodes count
   */
  private record Condition(WholeJobDependency said, int dependency, @Nullable DoneCounts tagged) {}

  /**
   * @param tasks the table to count from now on; it must not have any statuses yet
   */
  public WholeJobDependencies(Topology topology, JobTable jobs, TaskTable tasks) {
    this.topology = topology;
    this.jobs = jobs;
    this.tasks = tasks;
    Map<WholeJobDependency, @Nullable DoneCounts> known = new HashMap<>();
    for (int j = 0; j < jobs.count(); j++) {
      Job job = jobs.job(j);
      for (WholeJobDependency said :
          job == null ? List.<WholeJobDependency>of() : job.afterJobs()) {
        int dependency = jobs.find(said.job());
        DoneCounts tagged = null;
        if (dependency >= 0 && !said.tags().isEmpty()) {
          WholeJobDependency sameNodes = new WholeJobDependency(said.job(), 100, said.tags());
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

  /**
   * Returns the nodes of the job's level with at least one of the tags, counted from the first node
   * of the level.
   */
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

  /** Records that a task of the job was done, or is no longer done. */
  void touch(int job) {
    if (!waiters.isEmpty() && waiters.containsKey(job)) {
      changed.set(job);
    }
  }

  /** Takes the jobs that may have started or stopped waiting since the last call. */
  public int[] takeChanged() {
    if (changed.isEmpty()) {
      return NONE;
    }
    BitSet affected = new BitSet();
    changed.stream().forEach(job -> waiters.getOrDefault(job, List.of()).forEach(affected::set));
    changed.clear();
    return affected.stream().toArray();
  }

  private static final int[] NONE = {};

  /** Returns whether all whole-job dependencies of the job are met. */
  public boolean areDone(int job) {
    for (Condition condition : conditions.getOrDefault(job, List.of())) {
      if (!isMet(condition)) {
        return false;
      }
    }
    return true;
  }

  /** Describes each unmet dependency of the job in a sentence. */
  public List<String> waitsFor(int job) {
    List<String> all = new ArrayList<>();
    for (Condition condition : conditions.getOrDefault(job, List.of())) {
      if (!isMet(condition)) {
        all.add("waits for job " + condition.said().job() + ", which " + why(condition));
      }
    }
    return all;
  }

  /** The jobs that a job waits for as a whole; -1: one that is not configured. */
  public IntStream dependencies(int job) {
    return conditions.getOrDefault(job, List.of()).stream().mapToInt(Condition::dependency);
  }

  /**
   * Describes the dependencies of a job that cannot be met unless somebody acts, as {@link
   * #waitsFor} does.
   *
   * @param getsOn whether tasks of a job that are not running may still run
   * @return empty when every dependency may still be met
   */
  public List<String> waitsInVainFor(int job, IntPredicate getsOn) {
    List<String> all = new ArrayList<>();
    for (Condition condition : conditions.getOrDefault(job, List.of())) {
      if (!isMet(condition) && !canBeMet(condition, getsOn)) {
        all.add("it waits for job " + condition.said().job() + ", which " + why(condition));
      }
    }
    return all;
  }

  private boolean canBeMet(Condition condition, IntPredicate getsOn) {
    int dependency = condition.dependency();
    if (dependency < 0 || !jobs.canRun(dependency)) {
      return false;
    }
    long left = getsOn.test(dependency) ? left(condition) : 0;
    return (done(condition) + left) * 100.0
        >= condition.said().donePercent() * considered(condition);
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
    WholeJobDependency said = condition.said();
    return "is done on "
        + done(condition)
        + " of "
        + considered(condition)
        + " nodes"
        + (said.tags().isEmpty() ? "" : " tagged " + String.join(" or ", said.tags()))
        + (said.donePercent() == 100 ? "" : ", and must be on " + said.donePercent() + " %")
        + never(condition);
  }

  /** Names nodes whose tasks cannot be done without intervention. */
  private String never(Condition condition) {
    if (done(condition) + left(condition) == considered(condition)) {
      return "";
    }
    int job = condition.dependency();
    DoneCounts tagged = condition.tagged();
    List<String> disabled = new ArrayList<>();
    List<String> failed = new ArrayList<>();
    List<String> cancelled = new ArrayList<>();
    for (int node = tasks.first(job); node < tasks.end(job); node++) {
      int code = tasks.code(job, node);
      boolean counts = tagged == null || tagged.has(node - tasks.first(job));
      if (counts && DoneCounts.isConsidered(code) && !StatusCodes.isDone(code)) {
        if (StatusCodes.effect(code) == StatusCodes.DISABLED) {
          if (!StatusCodes.isRunning(code)) {
            disabled.add(topology.name(node));
          }
        } else if (StatusCodes.main(code) == TaskStatus.Main.FAILED) {
          failed.add(topology.name(node));
        } else if (StatusCodes.main(code) == TaskStatus.Main.CANCELLED) {
          cancelled.add(topology.name(node));
        }
        if (disabled.size() > NAMED || failed.size() > NAMED || cancelled.size() > NAMED) {
          break;
        }
      }
    }
    return (disabled.isEmpty()
            ? ""
            : "; " + named(disabled) + (disabled.size() == 1 ? " is" : " are") + " disabled")
        + (failed.isEmpty() ? "" : "; it has failed on " + named(failed))
        + (cancelled.isEmpty() ? "" : "; it is cancelled on " + named(cancelled));
  }

  private static String named(List<String> nodes) {
    String first = String.join(", ", nodes.subList(0, Math.min(NAMED, nodes.size())));
    return nodes.size() > NAMED ? first + " and others" : first;
  }

  private long done(Condition condition) {
    DoneCounts tagged = condition.tagged();
    if (tagged != null) {
      return tagged.done();
    }
    long done = 0;
    for (int code = 0; code < StatusCodes.COUNT; code++) {
      if (DoneCounts.isDone(code)) {
        done += tasks.count(condition.dependency(), code);
      }
    }
    return done;
  }

  /** Returns how many of the considered tasks are not done and may still run. */
  private long left(Condition condition) {
    DoneCounts tagged = condition.tagged();
    if (tagged != null) {
      return tagged.left();
    }
    long left = 0;
    for (int code = 0; code < StatusCodes.COUNT; code++) {
      if (DoneCounts.isLeft(code)) {
        left += tasks.count(condition.dependency(), code);
      }
    }
    return left;
  }

  private long considered(Condition condition) {
    DoneCounts tagged = condition.tagged();
    if (tagged != null) {
      return tagged.considered();
    }
    long considered = 0;
    for (int code = 0; code < StatusCodes.COUNT; code++) {
      if (DoneCounts.isConsidered(code)) {
        considered += tasks.count(condition.dependency(), code);
      }
    }
    return considered;
  }
}
