package io.espalier.core.scheduling;

import io.espalier.core.api.plan.UpdateImpact;
import io.espalier.core.api.plan.UpdateImpact.OfJob;
import io.espalier.core.api.plan.UpdateImpact.Orphan;
import io.espalier.core.api.plan.UpdateImpact.OverLimit;
import io.espalier.core.config.Config;
import io.espalier.core.config.Job;
import io.espalier.core.config.Levels;
import io.espalier.core.config.Resource;
import io.espalier.core.config.Settings;
import io.espalier.core.problem.Problem;
import io.espalier.core.scheduling.job.StatusCodes;
import io.espalier.core.scheduling.state.SchedulingState;
import io.espalier.core.scheduling.task.OrphanCheck;
import io.espalier.core.scheduling.update.TaskDifference;
import io.espalier.core.scheduling.worker.WorkerCapacity;
import io.espalier.core.topology.Topology;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A scan for what a configuration that is not in force would do to what runs and to what is stored:
 * running tasks that become orphans, nodes that go over their limit, statuses that nothing belongs
 * to any more. It makes one pass over the running tasks, one over the nodes of levels with other
 * limits, and one over the tasks that lose their job or node, all in slices. Tasks that start or
 * end between two slices may be missing or superfluous.
 *
 * <p>{@link SchedulingCore#impact} creates it; use it on the thread of the core.
 */
public final class ImpactScan {
  /** The cost of looking at a running task: its names are looked up in the new tree. */
  private static final int PER_RUN = 20;

  private final SchedulingCore core;
  private final SchedulingState state;
  private final Config before;
  private final TaskDifference difference;
  private final Config after;
  private final Topology nodes;
  private final long[] runs;
  private final Set<Long> wereOrphans = new HashSet<>();
  private final Map<String, Integer> orphansOfJob = new HashMap<>();
  private final Map<String, Long> statusesOfJob = new TreeMap<>();
  private final List<Orphan> orphans = new ArrayList<>();
  private final List<OverLimit> overLimits = new ArrayList<>();
  private long orphanCount;
  private long orphanKills;
  private long overLimitCount;
  private long overLimitKills;

  /** The progress of the three passes: the next running task, resource and job, and its node. */
  private int run;

  private int resource;
  private int job;
  private int at;

  ImpactScan(SchedulingCore core, TaskDifference difference) {
    this.core = core;
    this.difference = difference;
    state = core.state();
    before = core.config();
    after = difference.after();
    nodes = difference.newTopology();
    runs = core.running().all();
    Arrays.stream(core.running().orphans()).forEach(wereOrphans::add);
  }

  /**
   * Returns whether tasks may be killed because a change leaves them too few slots on a worker,
   * which is not counted.
   */
  public static boolean mayKillOnWorkers(Settings before, Settings after) {
    Map<String, Duration> kills = after.rules().killOverLimit();
    boolean kill = false;
    boolean other = !WorkerCapacity.isSame(before, after);
    for (Resource resource : after.resources().ofLevel(after.levels().worker())) {
      Duration delay = kills.get(resource.name());
      kill |= delay != null;
      other |= delay != null && !delay.equals(before.rules().killOverLimit().get(resource.name()));
    }
    return kill && other;
  }

  /** Returns whether other jobs or nodes are in force than those that were compared. */
  public boolean isStale() {
    return core.state() != state || !difference.isAgainst(core.config(), core.topology());
  }

  /**
   * Runs a slice of the scan.
   *
   * @param units about how many nodes to look at
   * @return true when the pass is complete
   */
  public boolean step(int units) {
    int left = units;
    while (left > 0 && run < runs.length) {
      long number = runs[run++];
      if (core.running().isRunning(number)) {
        look(number);
      }
      left -= PER_RUN;
    }
    List<Resource> resources = before.settings().resources().all();
    while (left > 0 && run == runs.length && resource < resources.size()) {
      left -= limits(resources.get(resource), left);
    }
    while (left > 0 && resource == resources.size() && job < state.jobs.count()) {
      left -= statuses(left);
    }
    return run == runs.length && resource == resources.size() && job == state.jobs.count();
  }

  private void look(long number) {
    String name = core.running().jobName(number);
    String node = core.running().nodeName(number);
    Job next = after.job(name);
    int there = next == null ? -1 : nodes.find(next.level(), node);
    if (!OrphanCheck.isOrphan(nodes, next, there, node)) {
      return;
    }
    Optional<Duration> delay = after.settings().enabled() ? delay(after, next) : Optional.empty();
    boolean was = wereOrphans.contains(number);
    boolean wasToDie =
        was && before.settings().enabled() && delay(before, before.job(name)).isPresent();
    if (delay.isPresent() && !wasToDie) {
      orphanKills++;
    }
    if (!was) {
      orphanCount++;
      orphansOfJob.merge(name, 1, Integer::sum);
      if (orphans.size() < UpdateImpact.NAMED) {
        orphans.add(new Orphan(name, node, delay.map(Duration::toMillis).orElse(-1L)));
      }
    }
  }

  private static Optional<Duration> delay(Config config, @Nullable Job job) {
    return job == null ? config.settings().defaults().killOrphansAfter() : job.killOrphansAfter();
  }

  /**
   * Compares the use of a resource with its new limits.
   *
   * @return how many nodes were looked at
   */
  private int limits(Resource old, int units) {
    Resource next = after.settings().resources().find(old.name());
    Levels levels = state.topology.levels();
    String level = levels.name(old.level());
    boolean isCompared =
        next != null
            && old.level() < levels.worker()
            && next.level() < nodes.levels().worker()
            && nodes.levels().name(next.level()).equals(level);
    if (next == null || !isCompared) {
      resource++;
      at = 0;
      return 1;
    }
    int first = state.topology.levelStart(old.level());
    int end = state.topology.levelEnd(old.level());
    int stop = first + at + Math.min(end - first - at, units);
    for (int node = first + at; node < stop; node++) {
      int used = state.ledger.used(node, old.level(), old.index());
      int there = used == 0 ? -1 : difference.newNode(node);
      if (there >= 0) {
        compare(level, node, old, used, difference.limits().of(there, next.index()));
      }
    }
    int done = stop - first - at;
    at += done;
    if (stop == end) {
      resource++;
      at = 0;
    }
    return 1 + done;
  }

  private void compare(String level, int node, Resource old, int used, int configured) {
    String name = state.topology.name(node);
    int limit = state.limitTable.limit(level, old.name(), name, configured);
    if (used <= limit) {
      return;
    }
    Duration kill = after.settings().rules().killOverLimit().get(old.name());
    boolean wasOver = used > state.ledger.base(node, old.index());
    boolean wasToDie = wasOver && state.bounds.killAfterMillis(old) >= 0;
    if (kill != null) {
      int excess = used - limit;
      overLimitKills +=
          wasToDie ? Math.max(0, state.ledger.base(node, old.index()) - limit) : excess;
    }
    if (!wasOver) {
      overLimitCount++;
      if (overLimits.size() < UpdateImpact.NAMED) {
        long after = kill == null ? -1 : kill.toMillis();
        overLimits.add(new OverLimit(level, name, old.name(), used, limit, after));
      }
    }
  }

  /**
   * Counts the statuses of a job that no task will have.
   *
   * @return how many tasks were looked at
   */
  private int statuses(int units) {
    int level = state.jobs.levels[job];
    Job was = state.jobs.job(job);
    Job is = was == null ? null : after.job(was.name());
    boolean isLost =
        is == null
            || level < 0
            || !nodes.levels().name(is.level()).equals(state.topology.levels().name(level));
    if (was == null || level < 0 || (!isLost && !difference.hasOtherNodes())) {
      job++;
      at = 0;
      return 1;
    }
    int first = state.topology.levelStart(level);
    int end = state.topology.levelEnd(level);
    int stop = first + at + Math.min(end - first - at, units);
    long left = 0;
    for (int node = first + at; node < stop; node++) {
      int code = StatusCodes.withEffect(state.tasks.code(job, node), StatusCodes.OPEN);
      if (code != StatusCodes.UNSTARTED && (isLost || difference.newNode(node) < 0)) {
        left++;
      }
    }
    statusesOfJob.merge(was.name(), left, Long::sum);
    int done = stop - first - at;
    at += done;
    if (stop == end) {
      job++;
      at = 0;
    }
    return 1 + done;
  }

  /** Returns the result of the complete pass. */
  public UpdateImpact impact() {
    Map<String, OfJob> touched = new TreeMap<>();
    for (TaskDifference.OfJob each : difference.jobs()) {
      String name = each.job();
      touched.put(
          name,
          new OfJob(
              name,
              each.level(),
              each.before(),
              each.after(),
              each.added(),
              each.removed(),
              statusesOfJob.getOrDefault(name, 0L),
              orphansOfJob.getOrDefault(name, 0)));
    }
    touched.values().removeIf(each -> !each.isTouched());
    List<Problem> never = new ArrayList<>(difference.neverFits().problems(state.limitTable));
    Set<String> known = new HashSet<>();
    state.neverFits().problems(state.limitTable).forEach(problem -> known.add(key(problem)));
    never.removeIf(problem -> known.contains(key(problem)));
    return new UpdateImpact(
        state.topology.size() - 1L,
        difference.nodesAdded(),
        difference.nodesRemoved(),
        List.copyOf(touched.values()),
        runs.length,
        orphans,
        orphanCount,
        orphanKills,
        overLimits,
        overLimitCount,
        overLimitKills,
        never);
  }

  private static String key(Problem problem) {
    return problem.path() + " " + problem.message();
  }
}
