package io.espalier.core.api.plan;

import io.espalier.core.problem.Problem;
import java.util.List;

/**
 * What a configuration would do to tasks and nodes if it came into force now.
 *
 * @param nodesBefore nodes below the root now
 * @param nodesAdded nodes that it brings
 * @param nodesRemoved nodes that it takes away
 * @param jobs jobs whose tasks, statuses or running tasks it touches, by name
 * @param running tasks that run now
 * @param orphans running tasks that become orphans, at most {@link #NAMED} of them
 * @param orphanCount number of all of them
 * @param orphanKills running tasks that are killed as orphans because of it
 * @param overLimits nodes that go over their limit, at most {@link #NAMED} of them
 * @param overLimitCount number of all of them
 * @param overLimitKills most tasks that are killed because they hold slots over a limit
 * @param never jobs that can never run because no node has enough, and could or did not exist
 *     before; one problem for each of their resources, and one for all that are not named
 */
public record UpdateImpact(
    long nodesBefore,
    long nodesAdded,
    long nodesRemoved,
    List<OfJob> jobs,
    long running,
    List<Orphan> orphans,
    long orphanCount,
    long orphanKills,
    List<OverLimit> overLimits,
    long overLimitCount,
    long overLimitKills,
    List<Problem> never) {
  /** The maximum number of running tasks and of nodes that are named. */
  public static final int NAMED = 100;

  public UpdateImpact {
    jobs = List.copyOf(jobs);
    orphans = List.copyOf(orphans);
    overLimits = List.copyOf(overLimits);
    never = List.copyOf(never);
  }

  /** Returns how many running tasks are killed at most. */
  public long kills() {
    return orphanKills + overLimitKills;
  }

  /** Returns how many tasks there will be that there are not now. */
  public long added() {
    return jobs.stream().mapToLong(OfJob::added).sum();
  }

  /** Returns how many of the tasks of now there will not be. */
  public long removed() {
    return jobs.stream().mapToLong(OfJob::removed).sum();
  }

  /**
   * What happens to a job. Tasks are those whose node has a path that is enabled and passes the
   * filters; a job that is disabled or has errors has none, and while the scheduler is disabled no
   * job has any.
   *
   * @param level of its tasks; of a job that is removed, the one that it has now
   * @param before number of tasks now
   * @param after number of tasks then
   * @param added tasks that it does not have now
   * @param removed tasks that it does not have then
   * @param statusesLeft stored statuses of tasks whose job, level or node is gone then
   * @param orphans running tasks that become orphans
   */
  public record OfJob(
      String job,
      String level,
      long before,
      long after,
      long added,
      long removed,
      long statusesLeft,
      long orphans) {
    /** Returns whether anything happens to it. */
    public boolean isTouched() {
      return added > 0 || removed > 0 || statusesLeft > 0 || orphans > 0;
    }
  }

  /**
   * A running task that becomes an orphan.
   *
   * @param killAfterMillis time from then until it is killed; -1: never
   */
  public record Orphan(String job, String node, long killAfterMillis) {}

  /**
   * A node that goes over its limit.
   *
   * @param killAfterMillis time until tasks are killed that hold slots over it; -1: never
   */
  public record OverLimit(
      String level, String node, String resource, long used, long limit, long killAfterMillis) {}
}
