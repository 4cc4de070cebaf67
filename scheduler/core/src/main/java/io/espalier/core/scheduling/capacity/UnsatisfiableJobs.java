package io.espalier.core.scheduling.capacity;

import io.espalier.core.config.Config;
import io.espalier.core.config.Job;
import io.espalier.core.config.NodeLimitRule;
import io.espalier.core.config.Resource;
import io.espalier.core.config.Settings;
import io.espalier.core.json.Json;
import io.espalier.core.json.Position;
import io.espalier.core.problem.Problem;
import io.espalier.core.scheduling.job.JobTable;
import io.espalier.core.status.store.LimitOverride;
import io.espalier.core.topology.Topology;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.ToIntFunction;

/**
 * The jobs that need more of a resource than any node is configured to have. They are determined
 * outside the scheduler thread when the nodes are known. Overrides may give a node enough; they are
 * taken into account at each query. Immutable.
 *
 * <p>Worker resources are ignored, because workers come and go. A limit of 0 that applies to all
 * nodes alike is a deliberate stop and is not reported.
 */
public final class UnsatisfiableJobs {
  /** The maximum number of jobs that are named; the others are counted. */
  private static final int NAMED = 100;

  private static final int EXAMPLES = 3;

  private final List<Case> cases;
  private final int more;

  private record Case(
      Job job, Resource resource, int need, int largest, String level, String where) {
    String words() {
      return "it needs "
          + need
          + " of "
          + resource.name()
          + ", and no node of level "
          + level
          + " has more than "
          + largest;
    }
  }

  private UnsatisfiableJobs(List<Case> cases, int more) {
    this.cases = List.copyOf(cases);
    this.more = more;
  }

  public static UnsatisfiableJobs of(
      JobTable jobs, ConfiguredLimits limits, Settings settings, Topology topology) {
    List<Resource> possible = new ArrayList<>();
    Set<String> ofNodes = new HashSet<>();
    for (NodeLimitRule rule : settings.rules().nodeLimits()) {
      ofNodes.addAll(rule.limits().keySet());
    }
    for (Resource resource : settings.resources().all()) {
      int largest = limits.largest(resource.index());
      boolean isStop = largest == 0 && !ofNodes.contains(resource.name());
      if (resource.level() < topology.levels().worker() && largest >= 0 && !isStop) {
        possible.add(resource);
      }
    }
    List<Case> cases = new ArrayList<>();
    int more = 0;
    for (int j = 0; j < jobs.count(); j++) {
      Job job = jobs.job(j);
      for (Resource resource : job == null ? List.<Resource>of() : possible) {
        int need = jobs.needs[j][resource.index()];
        int largest = limits.largest(resource.index());
        if (job == null || need <= largest || jobs.levels[j] < resource.level()) {
          continue;
        }
        if (cases.size() < NAMED) {
          cases.add(
              new Case(
                  job,
                  resource,
                  need,
                  largest,
                  topology.levels().name(resource.level()),
                  examples(topology, resource.level())));
        } else {
          more++;
        }
      }
    }
    return new UnsatisfiableJobs(cases, more);
  }

  private static String examples(Topology topology, int level) {
    List<String> names = new ArrayList<>();
    int first = topology.levelStart(level);
    int nodes = topology.levelEnd(level) - first;
    for (int i = 0; i < Math.min(EXAMPLES, nodes); i++) {
      String name = topology.name(first + i);
      names.add(name.length() > 60 ? name.substring(0, 60) + "…" : name);
    }
    return String.join(", ", names)
        + (nodes > EXAMPLES ? " and " + (nodes - EXAMPLES) + " more" : "");
  }

  /** Returns the problems, except where an override gives a node enough. */
  public List<Problem> problems(LimitTable table) {
    if (cases.isEmpty()) {
      return List.of();
    }
    Map<String, Integer> given = new HashMap<>();
    for (LimitOverride override : table.overrides()) {
      given.merge(override.resource(), override.limit(), Math::max);
    }
    List<Problem> problems = new ArrayList<>();
    for (Case each : cases) {
      if (each.need > given.getOrDefault(each.resource.name(), 0)) {
        problems.add(problem(each));
      }
    }
    if (more > 0 && !problems.isEmpty()) {
      problems.add(
          Problem.warning(
              "", more + " more jobs or resources are like these: more is needed than there is"));
    }
    return problems;
  }

  /**
   * Returns an addition to the reason why a job's tasks wait; empty: none.
   *
   * @param largestLimit the largest limit of any node now
   */
  public String words(ToIntFunction<Resource> largestLimit, String job, Resource besides) {
    for (Case each : cases) {
      if (each.job.name().equals(job)
          && each.resource.index() != besides.index()
          && each.need > largestLimit.applyAsInt(each.resource)) {
        return "; besides, they can never start: " + each.words();
      }
    }
    return "";
  }

  private static Problem problem(Case each) {
    String name = each.resource.name();
    String path = Config.JOB_KEY + each.job.name() + ".resources." + name;
    Json needs = each.job.original().get("resources");
    Json need = needs instanceof Json.Obj object ? object.get(name) : null;
    return new Problem(
        Problem.Severity.WARNING,
        path,
        need == null ? Position.NONE : need.at(),
        "the job can never run: " + each.words() + " (" + each.where + ")",
        Integer.toString(each.need),
        "lower what it needs, or raise the limit of some node");
  }
}
