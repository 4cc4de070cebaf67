package io.espalier.testkit.scheduling;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.api.view.Explanation;
import io.espalier.core.api.view.Explanation.Kind;
import io.espalier.core.api.view.QueueView;
import io.espalier.core.api.view.TaskCounts;
import io.espalier.core.api.view.WaitingReasons;
import io.espalier.core.config.Job;
import io.espalier.core.config.Resource;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.scheduling.query.ResourceHolderScan;
import io.espalier.core.scheduling.query.SubtreeCountScan;
import io.espalier.core.scheduling.query.WaitReasonScan;
import io.espalier.core.status.TaskKey;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.TaskStatus.Main;
import io.espalier.core.topology.Topology;
import io.espalier.testkit.oracle.Oracle;
import io.espalier.testkit.oracle.Oracle.Failure;
import io.espalier.testkit.oracle.Oracle.Place;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.Set;

/** Compares the core's answers to monitoring queries with a full scan. */
final class QueryChecks {
  private static final Set<Kind> GATES =
      Set.of(
          Kind.SCHEDULER_DISABLED,
          Kind.JOB_DISABLED,
          Kind.JOB_INVALID,
          Kind.JOB_PAUSED,
          Kind.DEADLINE,
          Kind.MAX_CONCURRENT,
          Kind.STARTING,
          Kind.BRAKE,
          Kind.JOB_FAILED,
          Kind.JOB_SUCCEEDED,
          Kind.JOB_DEPENDENCY,
          Kind.QUEUE_LIMIT);

  private static final Set<Kind> EITHER = Set.of(Kind.START_RATE, Kind.RESERVED, Kind.WINDOW);

  private final SchedulingCore core;
  private final Oracle oracle;
  private final Topology topology;

  QueryChecks(SchedulingCore core, Oracle oracle) {
    this.core = core;
    this.oracle = oracle;
    this.topology = core.topology();
  }

  // ---- the path of an explanation

  void path(Job job, TaskKey task, Explanation explanation) {
    int node = topology.find(job.level(), task.node());
    List<Place> shown = new ArrayList<>();
    for (Explanation.Step step : explanation.path()) {
      shown.add(new Place(step.level(), step.node()));
    }
    List<List<Place>> paths =
        oracle.tree().paths(node).stream()
            .map(
                slots ->
                    slots.stream()
                        .map(slot -> place(topology.node(slot)))
                        .sorted(
                            Comparator.comparingInt(
                                (Place place) -> topology.levels().find(place.level())))
                        .toList())
            .toList();
    assertThat(paths).as("path of %s", task).contains(shown);
    long onPath =
        explanation.reasons().stream()
            .filter(
                reason ->
                    reason.kind() == Kind.RESOURCE
                        || reason.kind() == Kind.NODE_DISABLED
                        || reason.kind() == Kind.FILTERED)
            .count();
    boolean blocked = explanation.path().stream().anyMatch(Explanation.Step::blocks);
    assertThat(blocked || onPath == 0).as("%s is blocked somewhere", task).isTrue();
    for (Explanation.Step step : explanation.path()) {
      Place place = new Place(step.level(), step.node());
      int level = topology.levels().find(step.level());
      List<Resource> resources = oracle.config().settings().resources().ofLevel(level);
      assertThat(step.resources()).hasSameSizeAs(resources);
      for (int i = 0; i < resources.size(); i++) {
        Explanation.Use use = step.resources().get(i);
        assertThat(use.resource()).isEqualTo(resources.get(i).name());
        assertThat(use.need()).isEqualTo(Math.max(0, job.needs().get(resources.get(i).index())));
        assertThat(use.limit() - use.used()).isEqualTo(oracle.free(place, resources.get(i)));
      }
    }
  }

  private Place place(int node) {
    return new Place(topology.levels().name(topology.level(node)), topology.name(node));
  }

  // ---- queues

  /** Checks the usage of each queue and the totals. */
  void queues() {
    for (QueueView queue : core.capacity().queues()) {
      assertThat(queue.use())
          .as("use of queue %s", queue.name())
          .isEqualTo(oracle.queues().dominantShare(queue.name()));
      for (QueueView.Held held : queue.resources()) {
        Resource resource = oracle.config().settings().resources().find(held.resource());
        assertThat(resource).isNotNull();
        if (resource != null) {
          assertThat(held.held()).isEqualTo(oracle.queues().held(queue.name(), resource));
          assertThat(held.total()).isEqualTo(oracle.reach().slotsInAll(resource));
        }
      }
    }
  }

  // ---- tasks that use slots

  /** Checks the tasks that use one resource of one node, in slices of a random size. */
  void holders(Random random) {
    List<Resource> resources =
        oracle.config().settings().resources().all().stream()
            .filter(resource -> resource.level() < topology.levels().worker())
            .filter(r -> topology.levelStart(r.level()) < topology.levelEnd(r.level()))
            .toList();
    if (resources.isEmpty()) {
      return;
    }
    Resource resource = resources.get(random.nextInt(resources.size()));
    int start = topology.levelStart(resource.level());
    int node = start + random.nextInt(topology.levelEnd(resource.level()) - start);
    Place place = place(node);
    Map<TaskKey, Integer> expected = new HashMap<>();
    oracle
        .running()
        .forEach(
            (task, run) -> {
              int slots =
                  run.charges().getOrDefault(place, Map.of()).getOrDefault(resource.name(), 0);
              if (slots > 0) {
                expected.put(task, slots);
              }
            });
    Map<TaskKey, Integer> found = new HashMap<>();
    ResourceHolderScan scan =
        core.tasks()
            .holders(new ResourceHolderScan.Place(place.level(), place.node(), resource.name()));
    ResourceHolderScan.Sink sink =
        new ResourceHolderScan.Sink() {
          @Override
          public void begin() {
            found.clear();
          }

          @Override
          public void holds(int at, long run, String name, int slots) {
            assertThat(name).isEqualTo(resource.name());
            TaskKey task = new TaskKey(core.running().jobName(run), core.running().nodeName(run));
            assertThat(found.put(task, slots)).as("%s twice", task).isNull();
          }
        };
    int slice = 1 + random.nextInt(5);
    while (!scan.step(slice, sink)) {
      assertThat(found.size()).isLessThanOrEqualTo(expected.size());
    }
    assertThat(found).as("holders of %s on %s", resource.name(), place).isEqualTo(expected);
    int used =
        core.capacity().limit(node, resource.index())
            - core.capacity().free(node, resource.index());
    assertThat(found.values().stream().mapToInt(n -> n).sum()).isEqualTo(used);
  }

  // ---- counts

  /** Checks the counts of one subtree, for all jobs together and for each job. */
  void counts(Random random) {
    int slot = random.nextInt(topology.slots());
    Map<String, long[]> expected = new HashMap<>();
    long leaves = walk(slot, expected);
    SubtreeCountScan scan = core.tasks().counts(-1, true);
    scan.begin(slot);
    int slice = 1 + random.nextInt(20);
    while (!scan.isDone()) {
      assertThat(scan.step(slice))
          .as("the work of a slice")
          .isBetween(1, slice + core.jobCount() + 3);
    }
    assertThat(scan.leaves()).as("leaves below slot %s", slot).isEqualTo(leaves);
    Map<String, TaskCounts> byJob = new HashMap<>();
    long[] all = new long[7];
    expected.forEach(
        (job, counts) -> {
          TaskCounts sum = counts(counts);
          if (sum.total() > 0) {
            byJob.put(job, sum);
          }
          for (int i = 0; i < all.length; i++) {
            all[i] += counts[i];
          }
        });
    Map<String, TaskCounts> configured = new HashMap<>(scan.countsByJob());
    configured.keySet().retainAll(oracle.config().jobs().keySet());
    assertThat(configured).as("tasks below slot %s", slot).isEqualTo(byJob);
    assertThat(scan.countsByJob().values().stream().mapToLong(TaskCounts::total).sum())
        .isEqualTo(scan.counts().total());
  }

  private static TaskCounts counts(long[] n) {
    return new TaskCounts(n[0], n[1], n[2], n[3], n[4], n[5], n[6]);
  }

  private long walk(int slot, Map<String, long[]> counts) {
    int node = topology.node(slot);
    int level = topology.level(node);
    for (Job job : oracle.config().jobs().values()) {
      if (job.level() == level) {
        TaskKey task = new TaskKey(job.name(), topology.name(node));
        int state = state(oracle.views().bits(task));
        if (state == 5 && isBlocked(job, task)) {
          state = 6;
        }
        if (state >= 0) {
          counts.computeIfAbsent(job.name(), name -> new long[7])[state]++;
        }
      }
    }
    long leaves = level == topology.levels().bottom() ? 1 : 0;
    for (int child = topology.childStart(node); child < topology.childEnd(node); child++) {
      leaves += walk(child, counts);
    }
    return leaves;
  }

  /** Returns whether something other than slots blocks a task that would otherwise be ready. */
  boolean isBlocked(Job job, TaskKey task) {
    boolean mayStart = core.tasks().mayStart(core.findJob(job.name()));
    // The core evaluates dependencies on whole jobs in the next round.
    boolean isKept =
        job.afterJobs().isEmpty() ? oracle.reach().isKept(task) : isKeptOnItsNode(task);
    return isKept || (!mayStart && (needsTooMuch(job) || !job.afterJobs().isEmpty()));
  }

  private boolean isKeptOnItsNode(TaskKey task) {
    return oracle.failures(task).stream()
        .anyMatch(failure -> failure.kind() == Kind.DEPENDENCY || failure.kind() == Kind.ROLLOUT);
  }

  /** Checks after a round which jobs may start anything. */
  void mayStart() {
    for (Job job : oracle.config().jobs().values()) {
      boolean mayStart = core.tasks().mayStart(core.findJob(job.name()));
      boolean isKept = oracle.reach().isKept(job);
      boolean tooMuch = needsTooMuch(job);
      assertThat(mayStart)
          .as("%s may start", job.name())
          .isEqualTo(!isKept && (mayStart || !tooMuch));
    }
  }

  /**
   * Returns whether the job needs more than the largest limit. If overrides, factors or health
   * lower that limit, the core need not know it.
   */
  private boolean needsTooMuch(Job job) {
    boolean tooMuch = false;
    boolean mustBeKnown = false;
    for (Resource resource : oracle.config().settings().resources().all()) {
      if (resource.level() > job.level() || resource.level() >= topology.levels().worker()) {
        continue;
      }
      int largest = -1;
      for (int n = topology.levelStart(resource.level());
          n < topology.levelEnd(resource.level());
          n++) {
        Place place = new Place(topology.levels().name(resource.level()), topology.name(n));
        largest = Math.max(largest, oracle.limitOf(place, resource));
      }
      if (largest >= 0 && job.needs().get(resource.index()) > largest) {
        tooMuch = true;
        mustBeKnown |=
            core.capacity().overrides().isEmpty()
                && core.capacity().factors().isEmpty()
                && core.capacity().health().isEmpty();
      }
    }
    if (mustBeKnown) {
      assertThat(core.tasks().mayStart(core.findJob(job.name())))
          .as("%s can start", job.name())
          .isFalse();
    }
    return tooMuch;
  }

  /** Returns the index of done, failed, cancelled, running, waiting or ready; -1: none of them. */
  private static int state(int bits) {
    if ((bits & Main.RUNNING.bit()) != 0) {
      return 3;
    }
    if ((bits & (TaskStatus.AVOIDED | TaskStatus.DISABLED)) != 0) {
      return -1;
    }
    if ((bits & Main.DONE.bit()) != 0) {
      return 0;
    }
    if ((bits & Main.FAILED.bit()) != 0) {
      return 1;
    }
    if ((bits & Main.CANCELLED.bit()) != 0) {
      return 2;
    }
    return (bits & TaskStatus.USES_BACKOFF) != 0 ? 4 : 5;
  }

  // ---- why tasks wait

  /** Checks that every waiting task counts once, under a reason that really blocks it. */
  void waiting(Job job, Random random) {
    Map<String, Long> least = new HashMap<>();
    Map<String, Long> most = new HashMap<>();
    long total = 0;
    for (TaskKey task : oracle.tasks(job)) {
      int state = state(oracle.views().bits(task));
      if (state == 4 || state == 5) {
        total++;
        List<String> kinds = kinds(oracle.failures(task));
        kinds.forEach(kind -> most.merge(kind, 1L, Long::sum));
        if (kinds.size() == 1) {
          least.merge(kinds.get(0), 1L, Long::sum);
        }
      }
    }
    WaitReasonScan scan = core.tasks().waiting(core.findJob(job.name()));
    int slice = 2 + random.nextInt(20);
    while (!scan.isDone()) {
      assertThat(scan.step(slice)).isPositive();
    }
    WaitingReasons reasons = scan.reasons(100, 1);
    assertThat(reasons.total()).as("waiting tasks of %s", job.name()).isEqualTo(total);
    assertThat(reasons.counted()).isEqualTo(total);
    assertThat(reasons.sampled()).isFalse();
    Map<String, Long> found = new HashMap<>();
    reasons.reasons().forEach(group -> found.merge(group.kind(), group.count(), Long::sum));
    assertThat(found.values().stream().mapToLong(n -> n).sum()).isEqualTo(total);
    found.forEach(
        (kind, count) ->
            assertThat(count)
                .as("%s tasks that wait for %s: %s of %s", job.name(), kind, found, most)
                .isBetween(least.getOrDefault(kind, 0L), most.getOrDefault(kind, 0L)));
    assertThat(found.keySet()).containsAll(least.keySet());
    assertThat(reasons.reasons())
        .allSatisfy(group -> assertThat(group.samples()).isNotEmpty().hasSizeLessThanOrEqualTo(5));
  }

  /**
   * Returns the reasons that a task may count under: those of the whole job take precedence over
   * its own, and its own over those of the path.
   */
  private static List<String> kinds(List<Failure> failures) {
    List<Kind> kinds = failures.stream().map(QueryChecks::counted).distinct().toList();
    List<Kind> gates =
        failures.stream()
            .filter(f -> GATES.contains(counted(f)) || isOfJob(f))
            .map(Failure::kind)
            .distinct()
            .toList();
    if (!gates.isEmpty()) {
      return words(gates);
    }
    for (Kind own : List.of(Kind.BACKOFF, Kind.DEPENDENCY, Kind.ROLLOUT)) {
      if (kinds.contains(own)) {
        return words(List.of(own));
      }
    }
    return kinds.isEmpty() ? List.of(WaitingReasons.STARTABLE) : words(kinds);
  }

  /** Starts in flight that fill a worker are counted with what else its workers lack. */
  private static Kind counted(Failure failure) {
    return failure.kind() == Kind.STARTING && !failure.node().isEmpty()
        ? Kind.NO_WORKER
        : failure.kind();
  }

  /**
   * Returns whether the failure is the job's: a start rate and a window may be that of the job or
   * of a node, and a reservation may be of a queue or of a node.
   */
  private static boolean isOfJob(Failure failure) {
    return EITHER.contains(failure.kind()) && failure.node().isEmpty();
  }

  private static List<String> words(List<Kind> kinds) {
    return kinds.stream().map(kind -> kind.name().toLowerCase(Locale.ROOT)).toList();
  }
}
