package io.espalier.worker.resources;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * The cards of a host and the processes that compute on them, at one instant.
 *
 * @param busIds by process id, the cards that the process uses
 */
public record GpuTable(List<Gpu> gpus, Map<Long, Set<String>> busIds) {
  /** The table without cards, also used when no card could be queried. */
  public static final GpuTable EMPTY = new GpuTable(List.of(), Map.of());

  public GpuTable {
    gpus = List.copyOf(gpus);
    busIds = Map.copyOf(busIds);
  }

  /** Returns the cards that one of these processes uses, in the order of the table. */
  public List<Gpu> usedBy(Collection<Long> pids) {
    Set<String> used = new TreeSet<>();
    for (Long pid : pids) {
      used.addAll(busIds.getOrDefault(pid, Set.of()));
    }
    return gpus.stream().filter(gpu -> used.contains(gpu.busId())).toList();
  }
}
