package io.espalier.testkit.api;

import io.espalier.core.api.Command;
import io.espalier.core.api.Query;
import io.espalier.core.api.RefusedException;
import io.espalier.core.api.SelectionResult;
import io.espalier.core.api.TaskSelection;
import io.espalier.core.api.TaskSelector;
import io.espalier.core.api.view.Explanation;
import io.espalier.core.api.view.Histogram;
import io.espalier.core.api.view.JobProgress;
import io.espalier.core.api.view.RunningTaskView;
import io.espalier.core.api.view.SchedulerView;
import io.espalier.core.api.view.TaskDeadlines;
import io.espalier.core.api.view.TaskPage;
import io.espalier.core.api.view.TaskView;
import io.espalier.core.config.Config;
import io.espalier.core.config.Job;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.Progress;
import io.espalier.core.status.StatusLabel;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.store.TaskHistory;
import io.espalier.core.topology.Topology;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;

/**
 * The tasks of a {@link FakeScheduler}: their statuses, past attempts and explanations, and those
 * that run. Used under the lock of the scheduler.
 */
final class FakeTasks {
  private final Supplier<SchedulerView> view;
  private final Map<String, TaskView> all = new LinkedHashMap<>();
  private final Map<String, RunningTaskView> running = new LinkedHashMap<>();
  private final Map<String, TaskHistory> histories = new LinkedHashMap<>();
  private final Map<String, Explanation> explanations = new LinkedHashMap<>();

  /**
   * Makes the tasks of a scheduler, all of them unstarted.
   *
   * @param view returns its view, with the configuration and the nodes in force
   */
  FakeTasks(Supplier<SchedulerView> view) {
    this.view = view;
  }

  /** Sets the status of a task. */
  void put(TaskView task) {
    all.put(key(task.job(), task.node()), task);
  }

  /** Adds a running task. */
  void run(String job, String node, long startMillis) {
    Invocation invocation = new Invocation(1, running.size() + 1L, startMillis);
    run(RunningTaskView.of(job, node, invocation, 1, "here"));
  }

  /** Adds a running task. */
  void run(RunningTaskView task) {
    running.put(key(task.job(), task.node()), task);
    Progress progress = task.progress();
    TaskStatus status =
        TaskStatus.of(TaskStatus.Main.RUNNING, task.invocation().startMillis(), task.attempt())
            .withCheckpoint(progress == null ? null : progress.json());
    put(
        TaskView.of(
            task.job(), task.node(), levelName(task.job()), status.bits(), status, task, 0));
  }

  /** Returns all running tasks, in the order in which they were added. */
  List<RunningTaskView> running() {
    return List.copyOf(running.values());
  }

  /** Sets the past attempts of a task. */
  void history(String job, String node, TaskHistory history) {
    histories.put(key(job, node), history);
  }

  /** Returns the past attempts of those tasks that have some, by node. */
  Map<String, TaskHistory> histories(String job, Collection<String> nodes) {
    Map<String, TaskHistory> found = new TreeMap<>();
    for (String node : nodes) {
      TaskHistory history = histories.get(key(job, node));
      if (history != null) {
        found.put(node, history);
      }
    }
    return found;
  }

  /** Sets the answer to {@link Query.Explain} for a task. */
  void explain(Explanation explanation) {
    explanations.put(key(explanation.job(), explanation.node()), explanation);
  }

  /** Returns a page of the tasks of a job. */
  TaskPage page(Query.Tasks query) {
    Job job = known(query.job());
    List<TaskView> page = new ArrayList<>();
    boolean skipping = !query.after().isEmpty();
    String next = "";
    long total = 0;
    for (String node : nodesOf(job)) {
      TaskView task = of(job, node);
      boolean wanted =
          (query.statuses().isEmpty() || query.statuses().contains(task.status()))
              && (query.under().isEmpty() || query.under().equals(parentOf(job, node)))
              && node.startsWith(query.nodePrefix())
              && node.contains(query.part());
      total += wanted ? 1 : 0;
      if (!skipping && wanted) {
        if (page.size() == query.limit()) {
          next = page.get(page.size() - 1).node();
        } else {
          page.add(task);
        }
      }
      skipping &= !node.equals(query.after());
    }
    return new TaskPage(page, next, query.counted() ? total : TaskPage.NOT_COUNTED);
  }

  /** Returns one task. */
  TaskView one(Query.Task query) {
    Job job = known(query.job());
    return of(job, knownNode(job, query.node()));
  }

  /** Returns the explanation that was set for a task; that it can start if there is none. */
  Explanation explain(Query.Explain query) {
    Job job = known(query.job());
    TaskView task = of(job, knownNode(job, query.node()));
    Explanation startable =
        new Explanation(
            query.job(),
            query.node(),
            true,
            task.status(),
            List.of(),
            List.of(),
            List.of(),
            0,
            null);
    return explanations.getOrDefault(key(query.job(), query.node()), startable);
  }

  /** Returns the histograms of valid jobs. */
  List<Histogram> histograms(Query.Histograms query) {
    return configuredJobs().stream()
        .filter(job -> job.isValid())
        .filter(job -> query.jobs().isEmpty() || query.jobs().contains(job.name()))
        .map(job -> histogram(job, query.samples()))
        .toList();
  }

  /** Changes the status of selected tasks that have one of the statuses. */
  SelectionResult change(TaskSelection selection, Set<String> from, TaskStatus.Main to) {
    SelectionResult result = select(selection, from);
    if (result.changed() > 0) {
      for (String node : result.samples()) {
        TaskView task = of(known(result.job()), node);
        TaskStatus changed = TaskStatus.of(to, task.sinceMillis(), task.attempts());
        put(TaskView.of(result.job(), node, task.level(), changed.withData(task.data())));
      }
    }
    return result;
  }

  /** Selects tasks with one of the statuses; all of them appear in the samples. */
  SelectionResult select(TaskSelection selection, Set<String> statuses) {
    known(selection.job());
    TaskSelector selector = selection.selector();
    List<String> matching =
        all.values().stream()
            .filter(task -> task.job().equals(selection.job()))
            .filter(task -> statuses.contains(task.status()))
            .filter(task -> task.node().startsWith(selector.prefix()))
            .filter(task -> selector.nodes().isEmpty() || selector.nodes().contains(task.node()))
            .filter(
                task ->
                    selector.statuses().isEmpty()
                        || selector.statuses().contains(StatusLabel.of(task.bits())))
            .map(TaskView::node)
            .toList();
    if (selection.expect() >= 0 && selection.expect() != matching.size()) {
      throw new RefusedException(
          RefusedException.Reason.CONFLICT,
          matching.size() + " tasks match, not " + selection.expect());
    }
    long changed = selection.preview() ? 0 : matching.size();
    return new SelectionResult(
        selection.job(), matching.size(), 0, matching, selection.preview(), changed);
  }

  /** Checks that a task runs, and kills nothing. */
  void kill(Command.Kill command) {
    known(command.job());
    if (!running.containsKey(key(command.job(), command.node()))) {
      throw new RefusedException(
          RefusedException.Reason.CONFLICT,
          "task (" + command.job() + ", " + command.node() + ") is not running");
    }
  }

  /** Returns the extended deadlines of a running task, and changes nothing. */
  TaskDeadlines extend(Command.Extend command) {
    known(command.job());
    RunningTaskView task = running.get(key(command.job(), command.node()));
    if (task == null || task.limits().endMillis() == Long.MAX_VALUE) {
      throw new RefusedException(
          RefusedException.Reason.CONFLICT,
          "task "
              + command.job()
              + " on "
              + command.node()
              + (task == null ? " is not running" : " has no limit"));
    }
    return task.limits().extended(command.millis());
  }

  /** Counts the tasks of a job. */
  JobProgress progress(Job job) {
    long[] count = new long[6];
    for (String node : nodesOf(job)) {
      String status = of(job, node).status();
      switch (status) {
        case "done" -> count[0]++;
        case "failed" -> count[1]++;
        case "running" -> count[2]++;
        case "error_backoff", "incomplete_backoff" -> count[3]++;
        case "cancelled" -> count[5]++;
        default -> count[4]++;
      }
    }
    boolean mayStart = FakeQueries.mayStart(view.get(), job);
    return JobProgress.of(
        job.name(),
        count[0],
        count[1],
        count[5],
        count[2],
        count[3],
        mayStart ? count[4] : 0,
        mayStart ? 0 : count[4],
        0,
        0);
  }

  /** Returns the task of a job on a node; unstarted if its status was not set. */
  TaskView of(Job job, String node) {
    TaskView known = all.get(key(job.name(), node));
    return known != null
        ? known
        : TaskView.of(
            job.name(),
            node,
            levelName(job.name()),
            TaskStatus.Main.UNSTARTED.bit(),
            null,
            null,
            0);
  }

  /**
   * Returns a configured job.
   *
   * @throws RefusedException if there is none
   */
  Job known(String name) {
    return configuredJobs().stream()
        .filter(job -> job.name().equals(name))
        .findFirst()
        .orElseThrow(
            () ->
                new RefusedException(
                    RefusedException.Reason.UNKNOWN, "there is no job \"" + name + "\""));
  }

  private List<Job> configuredJobs() {
    Config config = view.get().config();
    return config == null ? List.of() : List.copyOf(config.jobs().values());
  }

  private String knownNode(Job job, String node) {
    if (!nodesOf(job).contains(node)) {
      throw new RefusedException(
          RefusedException.Reason.UNKNOWN,
          "there is no node \"" + node + "\" on the level of " + job.name());
    }
    return node;
  }

  private String parentOf(Job job, String node) {
    Topology topology = Objects.requireNonNull(view.get().topology());
    int number = topology.find(job.level(), node);
    return topology.name(topology.parent(topology.slot(number, 0)));
  }

  private List<String> nodesOf(Job job) {
    Topology topology = view.get().topology();
    List<String> names = new ArrayList<>();
    if (topology != null) {
      for (int n = topology.levelStart(job.level()); n < topology.levelEnd(job.level()); n++) {
        names.add(topology.name(n));
      }
    }
    return names;
  }

  private String levelName(String job) {
    Config config = view.get().config();
    Job found = config == null ? null : config.job(job);
    return config == null || found == null ? "" : config.settings().levels().name(found.level());
  }

  private Histogram histogram(Job job, int samples) {
    Map<String, Map<Integer, Histogram.Bucket>> levels = new LinkedHashMap<>();
    Topology topology = view.get().topology();
    if (topology == null) {
      return new Histogram(job.name(), levels);
    }
    int[] bits = new int[topology.size()];
    for (int n = topology.levelStart(job.level()); n < topology.levelEnd(job.level()); n++) {
      int own = of(job, topology.name(n)).bits();
      for (int at = n; at >= 0; at = topology.parent(topology.slot(at, 0))) {
        bits[at] |= own;
      }
    }
    for (int n = 0; n < topology.levelEnd(job.level()); n++) {
      Map<Integer, Histogram.Bucket> level =
          levels.computeIfAbsent(topology.levels().name(topology.level(n)), l -> new TreeMap<>());
      Histogram.Bucket old = level.getOrDefault(bits[n], new Histogram.Bucket(0, List.of()));
      List<String> names = new ArrayList<>(old.samples());
      if (names.size() < samples) {
        names.add(topology.name(n));
      }
      level.put(bits[n], new Histogram.Bucket(old.count() + 1, names));
    }
    return new Histogram(job.name(), levels);
  }

  private static String key(String job, String node) {
    return job + "\n" + node;
  }
}
