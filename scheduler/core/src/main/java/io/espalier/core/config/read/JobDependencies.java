package io.espalier.core.config.read;

import io.espalier.core.config.Config;
import io.espalier.core.config.Job;
import io.espalier.core.config.Levels;
import io.espalier.core.config.WholeJobDependency;
import io.espalier.core.config.keys.JobKeys;
import io.espalier.core.json.Json;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Problem.Severity;
import io.espalier.core.problem.ProblemPath;
import io.espalier.core.problem.Problems;
import io.espalier.core.problem.Suggestions;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Checks the dependencies between all jobs, node by node or as a whole: cycles are errors; a job
 * that would wait forever, but affects no other job, gets a warning
 * (docs/design/bistro.md#dependencies).
 */
final class JobDependencies {
  private static final String NODE_BY_NODE = JobKeys.JOB.dependsOn.name();
  private static final String AFTER_JOBS = JobKeys.JOB.afterJobs.name();

  /** The maximum number of unknown names that are reported individually for each job. */
  private static final int MOST_UNKNOWN = 20;

  /**
   * The maximum number of unknown names for which a similar one is suggested: each costs a search
   * through the names of all jobs.
   */
  private static final int MOST_HINTS = 100;

  /** The maximum number of jobs that are named at each end of a long cycle. */
  private static final int MOST_NAMED = 5;

  private final Map<String, Job> jobs;
  private final Levels levels;

  /** By job: the configured jobs that it waits for. */
  private final Map<String, List<String>> dependencies = new LinkedHashMap<>();

  private final Map<String, List<String>> cycles = new HashMap<>();

  /** By unknown name: what is suggested instead. */
  private final Map<String, @Nullable String> hints = new HashMap<>();

  private JobDependencies(Map<String, Job> jobs, Levels levels) {
    this.jobs = jobs;
    this.levels = levels;
    jobs.values().forEach(job -> dependencies.put(job.name(), known(job)));
  }

  private List<String> known(Job job) {
    return Stream.concat(
            job.dependsOn().stream(), job.afterJobs().stream().map(WholeJobDependency::job))
        .filter(jobs::containsKey)
        .toList();
  }

  /** The same jobs with the problems of their dependencies added. */
  static SortedMap<String, Job> check(SortedMap<String, Job> jobs, Levels levels) {
    JobDependencies check = new JobDependencies(jobs, levels);
    Set<String> suspects = check.mayLieOnCycles();
    SortedMap<String, Job> checked = new TreeMap<>();
    jobs.forEach((name, job) -> checked.put(name, check.check(job, suspects)));
    return checked;
  }

  private Job check(Job job, Set<String> suspects) {
    Problems problems = new Problems();
    problems.addAll(job.problems());
    addUnknown(problems, job, NODE_BY_NODE, job.dependsOn());
    for (String dependency : job.dependsOn()) {
      Job other = jobs.get(dependency);
      if (other == null) {
        continue;
      }
      if (other.level() != job.level()) {
        add(
            problems,
            Severity.WARNING,
            job,
            NODE_BY_NODE,
            dependency,
            "that job has its tasks on the level \""
                + levels.name(other.level())
                + "\", this one on \""
                + levels.name(job.level())
                + "\": only nodes of the same name are waited for, so most tasks never start",
            null);
      }
    }
    addUnknown(
        problems, job, AFTER_JOBS, job.afterJobs().stream().map(WholeJobDependency::job).toList());
    List<String> cycle = suspects.contains(job.name()) ? cycleOf(job.name(), suspects) : null;
    if (cycle != null) {
      String next = cycle.get((cycle.indexOf(job.name()) + 1) % cycle.size());
      add(
          problems,
          Severity.ERROR,
          job,
          job.dependsOn().contains(next) ? NODE_BY_NODE : AFTER_JOBS,
          next,
          "jobs wait for each other: " + named(cycle, job.name()),
          "remove one of these dependencies");
    }
    return problems.count() == job.problems().size() ? job : job.withProblems(problems.sorted());
  }

  private void addUnknown(Problems problems, Job job, String key, List<String> dependencies) {
    // Names that no job can have come first: the others are only counted if there are many.
    List<String> unknown =
        dependencies.stream()
            .filter(name -> !jobs.containsKey(name) || !JobParser.isName(name))
            .sorted(Comparator.comparing(JobParser::isName))
            .toList();
    for (String dependency : unknown.subList(0, Math.min(MOST_UNKNOWN, unknown.size()))) {
      boolean mayCome = JobParser.isName(dependency);
      add(
          problems,
          mayCome ? Severity.WARNING : Severity.ERROR,
          job,
          key,
          dependency,
          mayCome ? "there is no job of this name: tasks wait until there is" : JobParser.NAME_RULE,
          hint(dependency));
    }
    if (unknown.size() > MOST_UNKNOWN) {
      String next = unknown.get(MOST_UNKNOWN);
      String message =
          "there are no jobs of %d more names: tasks wait until there are"
              .formatted(unknown.size() - MOST_UNKNOWN);
      add(problems, Severity.WARNING, job, key, next, message, null);
    }
  }

  private @Nullable String hint(String unknown) {
    if (hints.size() < MOST_HINTS && !hints.containsKey(unknown)) {
      hints.put(
          unknown,
          Suggestions.hint(unknown, jobs.keySet().stream().filter(JobParser::isName).toList()));
    }
    return hints.get(unknown);
  }

  /** Adds a problem of a dependency, at its position in the configuration. */
  static void add(
      Problems problems,
      Severity severity,
      Job job,
      String key,
      String dependency,
      String message,
      @Nullable String hint) {
    ProblemPath path = ProblemPath.ROOT.key(Config.JOB_KEY + job.name()).key(key);
    if (job.original().get(key) instanceof Json.Arr list) {
      for (int i = 0; i < list.items().size(); i++) {
        Json item = list.items().get(i);
        if (nameIn(item).equals(dependency)) {
          Json named = item instanceof Json.Obj object ? object.get("job") : null;
          problems.add(
              named == null
                  ? Problems.at(severity, path.index(i), item.at(), item, message, hint)
                  : Problems.at(
                      severity, path.index(i).key("job"), named.at(), named, message, hint));
          return;
        }
      }
    }
    problems.add(new Problem(severity, path.toString(), job.original().at(), message, null, hint));
  }

  private static String nameIn(Json item) {
    Json name = item instanceof Json.Obj object ? object.get("job") : item;
    return name instanceof Json.Str s ? s.value() : String.valueOf(name);
  }

  /**
   * The jobs that remain after repeatedly removing those that wait for no other job, or for which
   * no other job waits.
   */
  private Set<String> mayLieOnCycles() {
    Map<String, List<String>> waiters = new HashMap<>();
    dependencies.forEach(
        (job, before) ->
            before.forEach(d -> waiters.computeIfAbsent(d, n -> new ArrayList<>()).add(job)));
    Set<String> left = new HashSet<>(jobs.keySet());
    Deque<String> doubtful = new ArrayDeque<>(left);
    while (!doubtful.isEmpty()) {
      String name = doubtful.poll();
      Collection<String> after = waiters.getOrDefault(name, List.of());
      Collection<String> before = dependencies.getOrDefault(name, List.of());
      if (left.contains(name) && (lacks(left, before) || lacks(left, after))) {
        left.remove(name);
        doubtful.addAll(before);
        doubtful.addAll(after);
      }
    }
    return left;
  }

  private static boolean lacks(Set<String> left, Collection<String> neighbours) {
    return neighbours.stream().noneMatch(left::contains);
  }

  /** The jobs of a cycle from one of them back to itself, without the middle of a long one. */
  private static String named(List<String> cycle, String start) {
    int at = cycle.indexOf(start);
    List<String> names = new ArrayList<>();
    for (int i = 0; i <= cycle.size(); i++) {
      if (i == MOST_NAMED && cycle.size() > 2 * MOST_NAMED) {
        i = cycle.size() - MOST_NAMED;
        names.add((i - MOST_NAMED) + " more");
      }
      names.add(cycle.get((at + i) % cycle.size()));
    }
    return String.join(" -> ", names);
  }

  /** A cycle that the job lies on, found once for all jobs on it; null when there is none. */
  private @Nullable List<String> cycleOf(String job, Set<String> suspects) {
    if (!cycles.containsKey(job)) {
      List<String> found = shortestCycleOf(job, suspects);
      if (found != null) {
        found.forEach(member -> cycles.putIfAbsent(member, found));
      }
    }
    return cycles.get(job);
  }

  /** The shortest path from a job back to itself, without its end; null when there is none. */
  private @Nullable List<String> shortestCycleOf(String start, Set<String> suspects) {
    Map<String, String> cameFrom = new HashMap<>();
    Set<String> seen = new HashSet<>();
    Deque<String> queue = new ArrayDeque<>(List.of(start));
    while (!queue.isEmpty()) {
      String at = queue.poll();
      for (String next : dependencies.getOrDefault(at, List.of())) {
        if (next.equals(start)) {
          return wayBack(start, at, cameFrom);
        }
        if (suspects.contains(next) && seen.add(next)) {
          cameFrom.put(next, at);
          queue.add(next);
        }
      }
    }
    return null;
  }

  private static List<String> wayBack(String start, String last, Map<String, String> cameFrom) {
    Deque<String> way = new ArrayDeque<>();
    for (String at = last; at != null && !at.equals(start); at = cameFrom.get(at)) {
      way.addFirst(at);
    }
    way.addFirst(start);
    return List.copyOf(way);
  }
}
