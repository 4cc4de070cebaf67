package io.espalier.testkit.scheduling;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.api.view.Explanation;
import io.espalier.core.api.view.Histogram;
import io.espalier.core.api.view.JobProgress;
import io.espalier.core.api.view.WorkerView.Slots;
import io.espalier.core.config.Job;
import io.espalier.core.config.Resource;
import io.espalier.core.running.WorkerInfo;
import io.espalier.core.scheduling.Round;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.scheduling.SchedulingPolicy;
import io.espalier.core.scheduling.worker.WorkerUtilization;
import io.espalier.core.status.TaskKey;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.TaskStatus.Main;
import io.espalier.core.topology.Topology;
import io.espalier.testkit.oracle.Oracle;
import io.espalier.testkit.oracle.Oracle.Failure;
import io.espalier.testkit.oracle.Oracle.Place;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;

/** Compares what a core answers with what the oracle does. */
final class CoreComparison {
  private final SchedulingCore core;
  private final Oracle oracle;
  private final BatchChecks batches;
  private final Random random;

  /** The runs that the core knows by number. */
  private final Map<TaskKey, Long> runs;

  private final boolean isPool;
  private final boolean grouped;

  /**
   * @param random decides which of the costlier queries are asked
   * @param isPool whether workers run the tasks
   * @param grouped whether there are redundancy groups
   */
  CoreComparison(
      SchedulingCore core,
      Oracle oracle,
      BatchChecks batches,
      Random random,
      Map<TaskKey, Long> runs,
      boolean isPool,
      boolean grouped) {
    this.core = core;
    this.oracle = oracle;
    this.batches = batches;
    this.random = random;
    this.runs = runs;
    this.isPool = isPool;
    this.grouped = grouped;
  }

  /** Compares the answers of both to all queries. */
  void compare(long now) {
    core.verify();
    oracle.reservations().observe(core.capacity().reservations(), now);
    oracle.rooms().observe(core.capacity().keptRoom(), now);
    oracle.closings().check(core);
    oracle.overLimits().check(core, random);
    assertThat(core.running().count()).isEqualTo(oracle.running().size());
    for (Job job : oracle.config().jobs().values()) {
      compare(job);
    }
    compareCounters();
    new QueryChecks(core, oracle).holders(random);
    new QueryChecks(core, oracle).queues();
    new QueryChecks(core, oracle).counts(random);
    compareWorkers();
    compareOrphans();
    compareOpenJobs(now);
    // This was a round.
    new QueryChecks(core, oracle).mayStart();
    oracle.rooms().observe(core.capacity().keptRoom(), now);
  }

  private void compare(Job job) {
    int number = core.findJob(job.name());
    QueryChecks queries = new QueryChecks(core, oracle);
    long[] counts = new long[9];
    long leftOfStages = 0;
    for (TaskKey task : oracle.tasks(job)) {
      int node = node(task);
      int bits = oracle.views().bits(task);
      assertThat(core.tasks().bits(number, node)).as("bits of %s", task).isEqualTo(bits);
      count(counts, bits, queries.isBlocked(job, task));
      boolean isEarly = !oracle.closings().waitsForStage(job.name(), task.node());
      leftOfStages += isEarly && isLeft(bits) ? 1 : 0;
      Explanation explanation = core.tasks().explain(task.job(), task.node());
      List<Failure> failures = oracle.failures(task);
      assertThat(explanation.startable()).as("%s startable", task).isEqualTo(failures.isEmpty());
      assertThat(explanation.reasons().stream().map(CoreComparison::failure))
          .as("reasons of %s", task)
          .containsExactlyInAnyOrderElementsOf(failures);
      queries.path(job, task, explanation);
    }
    queries.waiting(job, random);
    if (core.gates().stages(job.name()) != null) {
      assertThat(core.staged().left(number))
          .as("left of the open stages of %s", job.name())
          .isEqualTo(leftOfStages);
    }
    JobProgress progress =
        JobProgress.of(
            job.name(),
            counts[0],
            counts[1],
            counts[2],
            counts[3],
            counts[4],
            counts[5],
            counts[6],
            counts[7],
            counts[8]);
    assertThat(core.tasks().progress(number)).isEqualTo(progress);
    if (random.nextInt(4) == 0) {
      compareHistogram(job, number);
    }
  }

  private int node(TaskKey task) {
    Job job = oracle.config().job(task.job());
    return job == null ? -1 : core.topology().find(job.level(), task.node());
  }

  private static void count(long[] counts, int bits, boolean blocked) {
    int at;
    if ((bits & Main.RUNNING.bit()) != 0) {
      at = 3;
    } else if ((bits & TaskStatus.AVOIDED) != 0) {
      at = 7;
    } else if ((bits & TaskStatus.DISABLED) != 0) {
      at = 8;
    } else if ((bits & Main.DONE.bit()) != 0 && !isInVerification(bits)) {
      at = 0;
    } else if ((bits & Main.FAILED.bit()) != 0) {
      at = 1;
    } else if ((bits & Main.CANCELLED.bit()) != 0) {
      at = 2;
    } else {
      at = (bits & TaskStatus.USES_BACKOFF) != 0 ? 4 : blocked ? 6 : 5;
    }
    counts[at]++;
  }

  private static boolean isLeft(int bits) {
    int ended = Main.DONE.bit() | Main.FAILED.bit() | Main.CANCELLED.bit();
    return (bits & Main.RUNNING.bit()) != 0
        || (bits & (ended | TaskStatus.AVOIDED | TaskStatus.DISABLED)) == 0;
  }

  private static boolean isInVerification(int bits) {
    int flags = TaskStatus.OVERWRITEABLE | TaskStatus.HAS_SAVED_BACKOFF;
    return (bits & flags) == flags;
  }

  private static Failure failure(Explanation.Reason reason) {
    String node = reason.node() == null ? "" : reason.node();
    String resource = reason.resource() == null ? "" : reason.resource();
    return new Failure(reason.kind(), node, resource);
  }

  private void compareHistogram(Job job, int number) {
    if (random.nextBoolean()) {
      int units = 2 + random.nextInt(20);
      long used = units;
      while (used >= units) {
        used = core.tasks().prepareHistogram(number, units);
      }
    }
    Histogram histogram = core.tasks().histogram(number, 2);
    Map<String, Map<Integer, Long>> counts = new HashMap<>();
    histogram
        .levels()
        .forEach(
            (level, buckets) ->
                buckets.forEach(
                    (bits, bucket) -> {
                      counts.computeIfAbsent(level, l -> new HashMap<>()).put(bits, bucket.count());
                      assertThat(bucket.samples()).hasSize((int) Math.min(2, bucket.count()));
                      assertThat(bucket.samples()).doesNotHaveDuplicates();
                      compareSamples(job, level, bits, bucket.samples());
                    }));
    assertThat(counts).as("histogram of %s", job.name()).isEqualTo(oracle.views().histogram(job));
  }

  private void compareSamples(Job job, String level, int bits, List<String> samples) {
    if (level.equals(core.topology().levels().name(job.level()))) {
      for (String sample : samples) {
        assertThat(oracle.views().bits(new TaskKey(job.name(), sample))).isEqualTo(bits);
      }
    }
  }

  private void compareCounters() {
    Topology topology = core.topology();
    for (Resource resource : oracle.config().settings().resources().all()) {
      int level = resource.level();
      for (int node = topology.levelStart(level); node < topology.levelEnd(level); node++) {
        Place place = new Place(topology.levels().name(level), topology.name(node));
        assertThat(core.capacity().free(node, resource.index()))
            .isEqualTo(oracle.free(place, resource));
      }
    }
    runs.forEach(
        (task, run) -> {
          Map<String, Map<String, Integer>> charges = new LinkedHashMap<>();
          Oracle.Run expected = oracle.running().get(task);
          assertThat(expected).isNotNull();
          if (expected != null) {
            expected
                .charges()
                .forEach(
                    (place, amounts) -> {
                      if (!amounts.isEmpty()) {
                        String name = place.node().isEmpty() ? TreeFixture.INSTANCE : place.node();
                        charges.computeIfAbsent(name, n -> new LinkedHashMap<>()).putAll(amounts);
                      }
                    });
            assertThat(core.running().resourcesByNode(run)).isEqualTo(charges);
          }
          assertThat(core.running().jobName(run)).isEqualTo(task.job());
          assertThat(core.running().nodeName(run)).isEqualTo(task.node());
        });
  }

  private void compareWorkers() {
    for (WorkerUtilization use : core.capacity().workerUse()) {
      WorkerInfo worker = oracle.workers().get(use.shard());
      if (isPool) {
        assertThat(use.tasks()).isEqualTo(oracle.tasksOn(use.shard()));
      }
      for (Slots slots : use.slots()) {
        Resource resource = oracle.config().settings().resources().find(slots.resource());
        assertThat(slots.used()).isEqualTo(oracle.usedOn(use.shard(), slots.resource()));
        if (worker != null && resource != null) {
          assertThat(slots.limit()).isEqualTo(oracle.limitOn(worker, resource));
        }
      }
    }
  }

  private void compareOrphans() {
    Set<TaskKey> orphans = new HashSet<>();
    for (long run : core.running().orphans()) {
      orphans.add(new TaskKey(core.running().jobName(run), core.running().nodeName(run)));
    }
    assertThat(orphans).isEqualTo(oracle.views().orphans());
  }

  /** Returns a policy that starts nothing, but draws random numbers all the same. */
  static SchedulingPolicy looking(Set<String> open) {
    return new SchedulingPolicy() {
      @Override
      public String name() {
        return "looks only";
      }

      @Override
      public void schedule(Round round) {
        for (int job : round.openJobs()) {
          open.add(round.name(job));
        }
      }
    };
  }

  /**
   * Checks that the bits at the root agree with a scan of all tasks. With redundancy groups, jobs
   * may look open until a walk has ended at a full group, and closed until the end of a round.
   */
  private void compareOpenJobs(long now) {
    Set<String> open = new HashSet<>();
    oracle.reservations().beginRound();
    oracle.rooms().beginRound();
    boolean complete = look(open);
    while (grouped && !complete && open.isEmpty()) {
      // Parked members of groups with room were opened.
      complete = look(open);
    }
    if (!grouped) {
      assertThat(open).isEqualTo(batches.eligible(core, now).keySet());
    } else if (complete) {
      assertThat(batches.eligible(core, now)).isEmpty();
    }
    oracle.reservations().roundOver(core.capacity().reservations(), now);
  }

  private boolean look(Set<String> open) {
    return core.round(
        looking(open),
        Integer.MAX_VALUE,
        run -> {
          throw new AssertionError("placed by a policy that does not");
        });
  }
}
