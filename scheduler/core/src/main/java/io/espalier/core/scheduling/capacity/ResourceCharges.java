package io.espalier.core.scheduling.capacity;

import io.espalier.core.config.Levels;
import io.espalier.core.config.Resource;
import io.espalier.core.config.ResourceCatalog;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The charges of a job's tasks when they start; running tasks keep them across updates. All tasks
 * of a job that start under the same configuration share one object.
 *
 * @param needs slots by resource index of the catalog; must not be modified
 */
@SuppressWarnings("ArrayRecordComponent") // one per job, never compared
public record ResourceCharges(Levels levels, ResourceCatalog catalog, int[] needs) {
  /** The charges of a task whose job is unknown. */
  public static final ResourceCharges NONE =
      new ResourceCharges(Levels.of(List.of()), ResourceCatalog.EMPTY, new int[0]);

  /**
   * Returns the slots by resource index of another catalog; resources that are unknown there are
   * omitted.
   */
  public int[] in(Levels otherLevels, ResourceCatalog other) {
    int[] amounts = new int[other.count()];
    for (Resource resource : other.all()) {
      Resource mine = catalog.find(resource.name());
      if (mine != null && levels.name(mine.level()).equals(otherLevels.name(resource.level()))) {
        amounts[resource.index()] = needs[mine.index()];
      }
    }
    return amounts;
  }

  /** Returns the charges on a worker, including zeros. */
  public Map<String, Integer> onWorker() {
    return onLevel(Levels.WORKER);
  }

  /** Returns the charges on a node of a level, including zeros. */
  public Map<String, Integer> onLevel(String level) {
    Map<String, Integer> amounts = new LinkedHashMap<>();
    int index = levels.find(level);
    if (index >= 0) {
      for (Resource resource : catalog.ofLevel(index)) {
        amounts.put(resource.name(), needs[resource.index()]);
      }
    }
    return amounts;
  }
}
