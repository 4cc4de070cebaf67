package io.espalier.testkit.oracle;

import io.espalier.core.api.view.Explanation.Kind;
import io.espalier.core.config.Config;
import io.espalier.core.config.Job;
import io.espalier.core.config.Levels;
import io.espalier.core.config.QueueSpec;
import io.espalier.core.config.Resource;
import io.espalier.core.scheduling.gate.Scope;
import io.espalier.core.status.TaskKey;
import io.espalier.testkit.oracle.Oracle.Failure;
import io.espalier.testkit.oracle.Oracle.Place;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The limits of queues (docs/design/features.md#queues), computed from all running tasks. */
public final class OracleQueues {
  private final Oracle oracle;
  private final OraclePool pool;

  /** By job that was ever configured: its last queue. */
  private final Map<String, String> queueOf = new HashMap<>();

  private final Set<TaskKey> ofNoQueue = new HashSet<>();

  OracleQueues(Oracle oracle, OraclePool pool) {
    this.oracle = oracle;
    this.pool = pool;
  }

  void apply(Config config) {
    config.jobs().values().forEach(job -> queueOf.put(job.name(), job.scheduling().queue()));
    ofNoQueue.removeIf(task -> config.job(task.job()) != null);
  }

  /**
   * Notes a task whose job or node is unknown. A job that was removed keeps its queue only while
   * tasks of it run.
   */
  void startedOutside(TaskKey task) {
    ofNoQueue.retainAll(oracle.running().keySet());
    boolean isKnown =
        oracle.config().job(task.job()) != null
            || oracle.running().keySet().stream()
                .anyMatch(other -> other.job().equals(task.job()) && !ofNoQueue.contains(other));
    if (!isKnown) {
      ofNoQueue.add(task);
    }
  }

  /** Returns the number of running tasks of a queue. */
  private long running(String queue) {
    ofNoQueue.retainAll(oracle.running().keySet());
    return oracle.running().keySet().stream()
        .filter(task -> queue.equals(queueOf.get(task.job())) && !ofNoQueue.contains(task))
        .count();
  }

  /** Returns the slots that the running tasks of a queue use, at places that still exist. */
  public long held(String queue, Resource resource) {
    String level = oracle.config().settings().levels().name(resource.level());
    long held = 0;
    for (Oracle.Run run : oracle.running().values()) {
      if (queue.equals(queueOf.get(run.task().job()))) {
        for (Map.Entry<Place, Map<String, Integer>> charge : run.charges().entrySet()) {
          if (charge.getKey().level().equals(level) && oracle.isThere(charge.getKey())) {
            held += charge.getValue().getOrDefault(resource.name(), 0);
          }
        }
      }
    }
    return held;
  }

  /**
   * Returns the largest fraction of any resource that a queue uses
   * (docs/design/features.md#use-of-a-queue).
   */
  public double dominantShare(String queue) {
    return oracle.config().settings().resources().all().stream()
        .mapToDouble(r -> (double) held(queue, r) / Math.max(1, oracle.reach().slotsInAll(r)))
        .max()
        .orElse(0);
  }

  /** Returns a failure for each resource of which the job's queue uses too much. */
  List<Failure> failures(Job job) {
    List<Failure> failures = new ArrayList<>();
    String queue = job.scheduling().queue();
    if (running(queue) >= oracle.slots().cap(Scope.queue(queue))) {
      failures.add(new Failure(Kind.QUEUE_LIMIT, "", ""));
    }
    for (QueueSpec spec : oracle.config().settings().rules().queues()) {
      if (spec.name().equals(job.scheduling().queue())) {
        for (Resource resource : oracle.config().settings().resources().all()) {
          if (blocks(spec, job, resource)) {
            failures.add(new Failure(Kind.QUEUE_LIMIT, "", resource.name()));
          } else if (oracle.rooms().keepsFrom(job, spec.name()) && keeps(spec, job, resource)) {
            failures.add(new Failure(Kind.RESERVED, "", resource.name()));
          }
        }
      }
    }
    return failures;
  }

  private boolean keeps(QueueSpec spec, Job job, Resource resource) {
    Job holder = oracle.rooms().holderIn(spec.name());
    int kept = holder == null ? 0 : need(holder, resource);
    int need = need(job, resource);
    return need > 0 && kept > 0 && held(spec.name(), resource) + kept + need > cap(spec, resource);
  }

  /** Returns whether the limits of a queue allow a task of a job at all. */
  boolean isLargeEnough(String queue, Job job) {
    return oracle.config().settings().rules().queues().stream()
        .filter(spec -> spec.name().equals(queue))
        .allMatch(
            spec ->
                oracle.config().settings().resources().all().stream()
                    .allMatch(r -> need(job, r) <= cap(spec, r)));
  }

  /** Returns the needs of a job that its queue counts. */
  int need(Job job, Resource resource) {
    boolean ofWorkers =
        oracle.config().settings().levels().name(resource.level()).equals(Levels.WORKER);
    boolean counts = ofWorkers ? pool.isAsked() : resource.level() <= job.level();
    return counts ? Math.max(0, job.needs().get(resource.index())) : 0;
  }

  /** Returns whether a queue limits a resource. */
  static boolean isCapped(QueueSpec spec, Resource resource) {
    return spec.maxSlots().containsKey(resource.index())
        || spec.maxFraction().containsKey(resource.index());
  }

  private boolean blocks(QueueSpec spec, Job job, Resource resource) {
    int need = need(job, resource);
    return need > 0 && held(spec.name(), resource) + need > cap(spec, resource);
  }

  private long cap(QueueSpec spec, Resource resource) {
    long cap = spec.maxSlots().getOrDefault(resource.index(), Integer.MAX_VALUE);
    Double part = spec.maxFraction().get(resource.index());
    if (part != null) {
      BigDecimal slots = new BigDecimal(part.toString());
      slots = slots.multiply(BigDecimal.valueOf(oracle.reach().slotsInAll(resource)));
      cap = Math.min(cap, slots.setScale(0, RoundingMode.FLOOR).longValueExact());
    }
    return cap;
  }
}
