package io.espalier.server.store;

import io.espalier.core.event.Event;
import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import io.espalier.core.status.TaskKey;
import io.espalier.core.status.store.StatusRow;
import io.espalier.core.status.store.StoreTransaction;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Reduces a batch that a store partly refuses, step by step. It replaces the result data and the
 * checkpoint of tasks by a note. It always keeps that a task has ended, and how.
 */
final class WithoutData {
  /**
   * The number of tasks that are tried alone, the largest first, before all of the batch together.
   */
  private static final int ALONE = 16;

  private static final String NOTE = "refused_by_store";

  private WithoutData() {}

  /**
   * One reduced batch to try.
   *
   * @param tasks whose data were left out
   */
  record Variant(StoreTransaction batch, Set<TaskKey> tasks) {}

  /** Returns the reduced batches to try, in order; empty when the batch contains no data. */
  static List<Variant> of(StoreTransaction batch) {
    Map<TaskKey, Integer> sizes = new LinkedHashMap<>();
    for (StatusRow row : batch.rows()) {
      Json.Obj data = row.status().storedData();
      if (data != null) {
        sizes.merge(row.key(), JsonWriter.compact(data).length(), Integer::sum);
      }
    }
    for (Event event : batch.events()) {
      TaskKey task = task(event);
      if (task != null) {
        sizes.merge(task, JsonWriter.compact(event.data()).length(), Integer::sum);
      }
    }
    List<TaskKey> largestFirst =
        sizes.entrySet().stream()
            .sorted(Map.Entry.comparingByValue(Comparator.reverseOrder()))
            .map(Map.Entry::getKey)
            .toList();
    List<Variant> variants = new ArrayList<>();
    largestFirst.stream()
        .limit(largestFirst.size() > 1 ? ALONE : 0)
        .forEach(task -> variants.add(without(batch, Set.of(task))));
    if (!largestFirst.isEmpty()) {
      variants.add(without(batch, new HashSet<>(largestFirst)));
    }
    return variants;
  }

  private static @Nullable TaskKey task(Event event) {
    boolean large = event.data().get("data") != null || event.data().get("checkpoint") != null;
    return large
            && event.data().get("job") instanceof Json.Str job
            && event.data().get("node") instanceof Json.Str node
        ? new TaskKey(job.value(), node.value())
        : null;
  }

  private static boolean isOf(Event event, Set<TaskKey> tasks) {
    TaskKey task = task(event);
    return task != null && tasks.contains(task);
  }

  private static Variant without(StoreTransaction batch, Set<TaskKey> tasks) {
    Json.Obj note = Json.object().put(NOTE, true).build();
    List<StatusRow> rows =
        batch.rows().stream()
            .map(
                row ->
                    tasks.contains(row.key())
                        ? new StatusRow(
                            row.job(),
                            row.node(),
                            row.status().withData(note).withCheckpoint(null),
                            row.invocation(),
                            row.worker(),
                            row.call(),
                            row.waitedMillis(),
                            row.counters(),
                            row.batch())
                        : row)
            .toList();
    List<Event> events =
        batch.events().stream()
            .map(
                event ->
                    isOf(event, tasks)
                        ? new Event(
                            event.sequence(),
                            event.timeMillis(),
                            event.kind(),
                            event.data().without("checkpoint").with("data", note))
                        : event)
            .toList();
    return new Variant(batch.with(rows, events), tasks);
  }
}
