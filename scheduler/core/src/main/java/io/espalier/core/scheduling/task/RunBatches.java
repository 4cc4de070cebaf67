package io.espalier.core.scheduling.task;

import io.espalier.core.scheduling.capacity.ResourceCharges;
import io.espalier.core.scheduling.util.LongMap;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/**
 * The running tasks that share a charge with others of their batch (docs/batches.md). The charge is
 * that of one of them, its carrier: it comes on top of what the carrier is charged by itself, and
 * goes on to another task of the batch when the carrier ends. So nothing but tasks is ever charged.
 *
 * <p>A batch belongs to no scheduling state, like the numbers of {@link RunningTasks}.
 */
public final class RunBatches {
  /** There is no such task. */
  public static final int NONE = -1;

  private final LongMap<Batch> ofRun = new LongMap<>();
  private final Map<String, Batch> byName = new HashMap<>();

  private static final class Batch {
    final String name;
    final Set<Integer> runs = new LinkedHashSet<>();
    int carrier = NONE;
    ResourceCharges shared = ResourceCharges.NONE;

    Batch(String name) {
      this.name = name;
    }
  }

  /** Adds a task to the batch of that name, which begins with it if there is none. */
  public void add(String name, int run) {
    Batch batch = byName.computeIfAbsent(name, Batch::new);
    batch.runs.add(run);
    ofRun.put(run, batch);
  }

  private @Nullable Batch of(int run) {
    return ofRun.size() == 0 ? null : ofRun.get(run);
  }

  /** Returns the name of a task's batch; empty: it shares no charge. */
  public String name(int run) {
    Batch batch = of(run);
    return batch == null ? "" : batch.name;
  }

  /** Returns the task of a batch that carries what they share, or {@link #NONE}. */
  public int carrier(String name) {
    Batch batch = byName.get(name);
    return batch == null ? NONE : batch.carrier;
  }

  /** Returns the task that carries what a task shares with others, or {@link #NONE}. */
  public int carrier(int run) {
    Batch batch = of(run);
    return batch == null ? NONE : batch.carrier;
  }

  /** Returns whether a task carries what it shares with others. */
  public boolean isCarrier(int run) {
    return carrier(run) == run;
  }

  /** Returns what the tasks of a task's batch share. */
  public ResourceCharges shared(int run) {
    Batch batch = of(run);
    return batch == null ? ResourceCharges.NONE : batch.shared;
  }

  /** Makes a task of a batch its carrier; what the tasks share remains. */
  public void setCarrier(int run) {
    setCarrier(run, shared(run));
  }

  /** Makes a task of a batch its carrier. */
  public void setCarrier(int run, ResourceCharges shared) {
    Batch batch = of(run);
    if (batch == null) {
      throw new IllegalArgumentException("not of a batch: " + run);
    }
    batch.carrier = run;
    batch.shared = shared;
  }

  /** Returns the first other task of a task's batch that passes a test, or {@link #NONE}. */
  public int other(int run, IntPredicate test) {
    Batch batch = of(run);
    if (batch != null) {
      for (int each : batch.runs) {
        if (each != run && test.test(each)) {
          return each;
        }
      }
    }
    return NONE;
  }

  /** Removes a task that has ended. */
  void remove(int run) {
    Batch batch = of(run);
    if (batch == null) {
      return;
    }
    ofRun.remove(run);
    batch.runs.remove(run);
    if (batch.carrier == run) {
      batch.carrier = NONE;
    }
    if (batch.runs.isEmpty()) {
      byName.remove(batch.name);
    }
  }
}
