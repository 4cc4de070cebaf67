package io.espalier.core.scheduling.capacity;

import io.espalier.core.config.Levels;
import io.espalier.core.config.Resource;
import io.espalier.core.config.ResourceCatalog;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What a job's tasks take when they start: kept by the running ones over changes of the
 * configuration. Shared by all that started under the same configuration.
 *
 * @param needs slots by resource index of the catalog; not to be changed
 */
@SuppressWarnings("ArrayRecordComponent") // one per job, compared by nobody
public record ResourceCharges(Levels levels, ResourceCatalog catalog, int[] needs) {
  /** Of a task whose job is not known. */
  public static final ResourceCharges NONE =
      new ResourceCharges(Levels.of(List.of()), ResourceCatalog.EMPTY, new int[0]);

  /** Slots by resource index of another catalog; what is unknown there takes nothing. */
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

  /** What a worker is charged, zeros included. */
  public Map<String, Integer> onWorker() {
    return onLevel(Levels.WORKER);
  }

  /** What a node of a level is charged, zeros included. */
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
