package io.espalier.testkit.api;

import io.espalier.core.api.Query;
import io.espalier.core.api.RefusedException;
import io.espalier.core.api.view.Explanation;
import io.espalier.core.api.view.Explanation.Reserved;
import io.espalier.core.api.view.FailureGroups;
import io.espalier.core.api.view.JobLevels;
import io.espalier.core.api.view.NodeDetail;
import io.espalier.core.api.view.ResourceHolder;
import io.espalier.core.api.view.RunningTaskView;
import io.espalier.core.api.view.SchedulerView;
import io.espalier.core.api.view.TaskCounts;
import io.espalier.core.api.view.TaskView;
import io.espalier.core.api.view.TreeView;
import io.espalier.core.api.view.WaitingReasons;
import io.espalier.core.config.Config;
import io.espalier.core.config.Job;
import io.espalier.core.config.Resource;
import io.espalier.core.topology.Topology;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BiFunction;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Answers a {@link FakeScheduler}'s queries about the tree and about jobs by a full scan. */
final class FakeQueries {
  private final SchedulerView view;
  private final Config config;
  private final Topology topology;
  private final BiFunction<Job, String, TaskView> tasks;

  FakeQueries(SchedulerView view, BiFunction<Job, String, TaskView> tasks) {
    this.view = view;
    this.tasks = tasks;
    Config inForce = view.config();
    Topology nodes = view.topology();
    if (inForce == null || nodes == null) {
      throw new RefusedException(RefusedException.Reason.UNAVAILABLE, "nothing is in force");
    }
    config = inForce;
    topology = nodes;
  }

  /** Returns whether only slots can prevent the tasks of a job from starting. */
  static boolean mayStart(SchedulerView view, Job job) {
    return job.canRun() && !view.pauses().containsKey(job.name());
  }

  private String state(TaskView task) {
    Job job = config.job(task.job());
    String untried = job != null && mayStart(view, job) ? "ready" : "blocked";
    return switch (task.status()) {
      case "done", "failed", "running", "avoided", "disabled" -> task.status();
      default -> task.status().endsWith("_backoff") ? "waiting" : untried;
    };
  }

  private List<TaskView> tasksBelow(int node, Predicate<Job> jobs) {
    List<TaskView> found = new ArrayList<>();
    for (Job job : config.jobs().values()) {
      if (jobs.test(job) && job.level() == topology.level(node)) {
        found.add(tasks.apply(job, topology.name(node)));
      }
    }
    for (int slot = topology.childStart(node); slot < topology.childEnd(node); slot++) {
      found.addAll(tasksBelow(topology.node(slot), jobs));
    }
    return found;
  }

  private TaskCounts counts(List<TaskView> some) {
    Map<String, Long> by = new TreeMap<>();
    some.forEach(task -> by.merge(state(task), 1L, Long::sum));
    return new TaskCounts(
        by.getOrDefault("done", 0L),
        by.getOrDefault("failed", 0L),
        by.getOrDefault("cancelled", 0L),
        by.getOrDefault("running", 0L),
        by.getOrDefault("waiting", 0L),
        by.getOrDefault("ready", 0L),
        by.getOrDefault("blocked", 0L));
  }

  private long leaves(int node) {
    long leaves = topology.level(node) == topology.levels().bottom() ? 1 : 0;
    for (int slot = topology.childStart(node); slot < topology.childEnd(node); slot++) {
      leaves += leaves(topology.node(slot));
    }
    return leaves;
  }

  private List<TreeView.Slots> slots(int node) {
    List<TreeView.Slots> slots = new ArrayList<>();
    for (Resource resource : config.settings().resources().ofLevel(topology.level(node))) {
      int used = 0;
      for (RunningTaskView task : running(node)) {
        used += need(task, resource);
      }
      int limit = resource.limit();
      slots.add(new TreeView.Slots(resource.name(), used, limit, limit, limit, ""));
    }
    return slots;
  }

  private int need(RunningTaskView task, Resource resource) {
    Job job = config.job(task.job());
    return job == null ? 0 : job.needs().get(resource.index());
  }

  private List<RunningTaskView> running(int node) {
    return tasksBelow(node, job -> true).stream()
        .flatMap(task -> Stream.ofNullable(task.running()))
        .toList();
  }

  TreeView tree(Query.Tree query) {
    int root = find(query.level(), query.root());
    List<int[]> places = new ArrayList<>();
    places.add(new int[] {topology.slot(root, 0), -1, 0});
    boolean truncated = false;
    for (int i = 0; i < places.size(); i++) {
      int node = topology.node(places.get(i)[0]);
      for (int s = topology.childStart(node);
          s < topology.childEnd(node) && places.get(i)[2] < query.depth();
          s++) {
        if (places.size() == query.limit()) {
          truncated = true;
        } else {
          places.add(new int[] {s, i, places.get(i)[2] + 1});
        }
      }
    }
    List<TreeView.Node> nodes = new ArrayList<>();
    for (int[] place : places) {
      int node = topology.node(place[0]);
      nodes.add(
          new TreeView.Node(
              place[0],
              place[1],
              leaves(node),
              slots(node),
              counts(
                  tasksBelow(node, job -> query.job().isEmpty() || query.job().equals(job.name()))),
              closed(node),
              reserved(node)));
    }
    return new TreeView(view.publishedAtMillis(), topology, nodes, truncated);
  }

  private int find(String level, String name) {
    if (name.isEmpty()) {
      return 0;
    }
    for (int node = 0; node < topology.size(); node++) {
      boolean there = level.isEmpty() || level.equals(levelOf(node));
      if (there && topology.name(node).equals(name)) {
        return node;
      }
    }
    throw new RefusedException(
        RefusedException.Reason.UNKNOWN, "there is no node \"" + name + "\"");
  }

  private String levelOf(int node) {
    return topology.levels().name(topology.level(node));
  }

  NodeDetail node(String level, String name) {
    int node = find(level, name);
    List<ResourceHolder> holders = new ArrayList<>();
    for (Resource resource : config.settings().resources().ofLevel(topology.level(node))) {
      for (RunningTaskView task : running(node)) {
        int slots = need(task, resource);
        if (slots > 0) {
          double left = task.secondsLeft();
          holders.add(
              new ResourceHolder(
                  task.job(),
                  task.node(),
                  resource.name(),
                  slots,
                  task.invocation().startMillis(),
                  left < 0 ? 0 : view.publishedAtMillis() + Math.round(left * 1000)));
        }
      }
    }
    Map<String, TaskCounts> jobs = new LinkedHashMap<>();
    for (Job job : config.jobs().values()) {
      TaskCounts some = counts(tasksBelow(node, other -> other.name().equals(job.name())));
      if (some.total() > 0) {
        jobs.put(job.name(), some);
      }
    }
    return new NodeDetail(
        view.publishedAtMillis(),
        topology,
        node,
        leaves(node),
        slots(node),
        holders,
        holders.size(),
        jobs,
        closed(node),
        reserved(node));
  }

  /** The second host is quarantined. */
  private List<Explanation.Reason> closed(int node) {
    return topology.name(node).equals("h2")
        ? List.of(
            Explanation.Reason.of(
                    Explanation.Kind.QUARANTINE, "h2", "the node is quarantined (bad disk)")
                .until(view.publishedAtMillis() + 600_000))
        : List.of();
  }

  /** Returns a reservation of the second host for the only task that waits there. */
  private @Nullable Reserved reserved(int node) {
    return topology.name(node).equals("h2")
        ? new Reserved("backup", "d22", view.publishedAtMillis() - 90_000, 2)
        : null;
  }

  private List<TaskView> all(Job job) {
    return tasksBelow(0, other -> other.name().equals(job.name()));
  }

  WaitingReasons waiting(Job job) {
    List<WaitingReasons.Group> groups = new ArrayList<>();
    long total = 0;
    for (String state : List.of("waiting", "ready")) {
      List<String> names =
          all(job).stream().filter(t -> state(t).equals(state)).map(TaskView::node).toList();
      total += names.size();
      if (!names.isEmpty()) {
        boolean waits = state.equals("waiting");
        groups.add(
            new WaitingReasons.Group(
                waits ? "backoff" : WaitingReasons.STARTABLE,
                null,
                null,
                names.size(),
                waits ? "back off after their last attempt" : "nothing is in the way",
                false,
                waits ? view.publishedAtMillis() + 5000 : 0,
                names.subList(0, Math.min(5, names.size()))));
      }
    }
    return new WaitingReasons(job.name(), view.publishedAtMillis(), total, total, false, groups);
  }

  /** Returns the failures of a job, all with one cause. */
  FailureGroups failures(Job job) {
    List<TaskView> some =
        all(job).stream()
            .filter(t -> t.status().equals("failed") || t.status().startsWith("error"))
            .toList();
    long failed = some.stream().filter(t -> t.status().equals("failed")).count();
    List<FailureGroups.Group> groups =
        some.isEmpty()
            ? List.of()
            : List.of(
                new FailureGroups.Group(
                    "0123456789abcdef",
                    "no such table",
                    some.size(),
                    failed,
                    some.size() - failed,
                    some.stream().map(TaskView::node).limit(5).toList(),
                    some.stream().mapToLong(TaskView::sinceMillis).max().orElse(0)));
    return new FailureGroups(
        job.name(), view.publishedAtMillis(), some.size(), groups.size(), groups);
  }

  JobLevels levels(Job job, int samples) {
    List<JobLevels.Level> levels = new ArrayList<>();
    for (int level = 0; level <= job.level(); level++) {
      Map<String, Long> states = new LinkedHashMap<>();
      Map<String, List<String>> names = new LinkedHashMap<>();
      JobLevels.STATES.forEach(state -> states.put(state, 0L));
      for (int node = topology.levelStart(level); node < topology.levelEnd(level); node++) {
        String name = topology.name(node);
        tasksBelow(node, other -> other.name().equals(job.name())).stream()
            .map(this::state)
            .distinct()
            .forEach(
                state -> {
                  states.merge(state, 1L, Long::sum);
                  List<String> some = names.computeIfAbsent(state, s -> new ArrayList<>());
                  if (some.size() < samples) {
                    some.add(name);
                  }
                });
      }
      names.values().removeIf(List::isEmpty);
      int nodes = topology.levelEnd(level) - topology.levelStart(level);
      levels.add(new JobLevels.Level(topology.levels().name(level), nodes, states, names));
    }
    return new JobLevels(job.name(), view.publishedAtMillis(), levels);
  }
}
