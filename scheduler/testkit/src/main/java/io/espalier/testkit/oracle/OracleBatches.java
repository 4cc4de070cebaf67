package io.espalier.testkit.oracle;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.config.Job;
import io.espalier.core.config.Resource;
import io.espalier.core.config.task.BatchSpec;
import io.espalier.core.status.TaskKey;
import io.espalier.testkit.oracle.Oracle.Place;
import io.espalier.testkit.oracle.Oracle.Run;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.IntBinaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The batches whose tasks share a charge. One task of each carries it; which of them does not
 * matter, so the core is asked.
 */
public final class OracleBatches {
  private final Oracle oracle;
  private final Map<TaskKey, Batch> all = new HashMap<>();

  private static final class Batch {
    final String name;
    @Nullable TaskKey carrier;

    /** By level and resource. */
    Map<String, Map<String, Integer>> shared = Map.of();

    Batch(String name) {
      this.name = name;
    }
  }

  OracleBatches(Oracle oracle) {
    this.oracle = oracle;
  }

  private @Nullable Batch find(String name) {
    return all.values().stream().filter(batch -> batch.name.equals(name)).findFirst().orElse(null);
  }

  /** Returns the names of the resources of which a batch of a job takes slots once. */
  public static Set<String> shared(Oracle oracle, Job job) {
    Set<String> names = new TreeSet<>();
    List<String> perBatch = job.scheduling().batch().map(BatchSpec::perBatch).orElse(List.of());
    for (Resource resource : oracle.config().settings().resources().all()) {
      if (perBatch.contains(resource.name()) && job.needs().get(resource.index()) > 0) {
        names.add(resource.name());
      }
    }
    return names;
  }

  /** Adds a task, which is running. */
  public void add(TaskKey task, String name) {
    Batch batch = find(name);
    all.put(task, batch == null ? new Batch(name) : batch);
  }

  /** Returns whether a task takes nothing of what it shares, because another one carries it. */
  boolean isCarriedByAnother(TaskKey task) {
    Batch batch = all.get(task);
    return batch != null && !task.equals(batch.carrier);
  }

  /** Makes a task of a batch, which starts or becomes known, its carrier. */
  public void carries(TaskKey task) {
    Batch batch = all.get(task);
    Job job = oracle.job(task.job());
    assertThat(batch).isNotNull();
    if (batch != null) {
      batch.carrier = task;
      batch.shared = new LinkedHashMap<>();
      for (String name : shared(oracle, job)) {
        Resource resource = oracle.config().settings().resources().find(name);
        if (resource != null) {
          batch
              .shared
              .computeIfAbsent(
                  oracle.topology().levels().name(resource.level()), l -> new LinkedHashMap<>())
              .put(name, job.needs().get(resource.index()));
        }
      }
    }
  }

  /** Releases what the tasks of a batch share while another task of it is looked for. */
  public void lift(String name) {
    Batch batch = find(name);
    if (batch != null && batch.carrier != null) {
      change(batch.carrier, batch, (held, shared) -> held - shared);
    }
  }

  /** Charges what was lifted to the task that had it. */
  public void lower(String name) {
    Batch batch = find(name);
    if (batch != null && batch.carrier != null) {
      change(batch.carrier, batch, Integer::sum);
    }
  }

  /**
   * Hands what a task that is about to end carries to another one of its batch.
   *
   * @param heir who has it now; null: none is left whose node is known
   */
  public void ending(TaskKey task, @Nullable TaskKey heir) {
    Batch batch = all.get(task);
    if (batch == null) {
      return;
    }
    if (task.equals(batch.carrier) && heir == null) {
      assertThat(all.keySet().stream().filter(other -> all.get(other) == batch))
          .as("tasks of a batch of which none carries what they share")
          .noneMatch(other -> !other.equals(task) && isPlaced(other));
      batch.carrier = null;
    } else if (task.equals(batch.carrier) && heir != null) {
      assertThat(all.get(heir)).as("the batch of %s", heir).isSameAs(batch);
      change(task, batch, (held, shared) -> held - shared);
      change(heir, batch, Integer::sum);
      batch.carrier = heir;
    }
    all.remove(task);
  }

  private boolean isPlaced(TaskKey task) {
    Run run = oracle.running().get(task);
    return run != null && !run.path().isEmpty();
  }

  /** Returns the other running tasks of the batch of a task. */
  public List<TaskKey> others(TaskKey task) {
    Batch batch = all.get(task);
    return batch == null
        ? List.of()
        : all.keySet().stream().filter(k -> all.get(k) == batch && !k.equals(task)).toList();
  }

  private void change(TaskKey task, Batch batch, IntBinaryOperator by) {
    Run run = oracle.running().get(task);
    if (run == null) {
      return;
    }
    Map<Place, Map<String, Integer>> charges = new LinkedHashMap<>();
    run.charges()
        .forEach(
            (place, amounts) -> {
              Map<String, Integer> changed = new LinkedHashMap<>(amounts);
              batch
                  .shared
                  .getOrDefault(place.level(), Map.of())
                  .forEach(
                      (resource, slots) ->
                          changed.put(
                              resource, by.applyAsInt(changed.getOrDefault(resource, 0), slots)));
              charges.put(place, changed);
            });
    oracle.running().put(task, new Run(task, run.path(), charges, run.worker()));
  }
}
