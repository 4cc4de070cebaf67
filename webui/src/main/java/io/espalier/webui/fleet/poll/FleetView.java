package io.espalier.webui.fleet.poll;

import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The state of all schedulers at one time.
 *
 * @param hosts in the order of the list
 */
public record FleetView(long atMillis, List<FleetSchedulerView> hosts) {
  public FleetView {
    hosts = List.copyOf(hosts);
  }

  /** Returns the number of schedulers by state; every state has an entry. */
  public Map<FleetSchedulerState, Integer> states() {
    Map<FleetSchedulerState, Integer> states = new EnumMap<>(FleetSchedulerState.class);
    for (FleetSchedulerState state : FleetSchedulerState.values()) {
      states.put(state, 0);
    }
    hosts.forEach(host -> states.merge(host.state(), 1, Integer::sum));
    return states;
  }

  /** Returns the number of schedulers in this state. */
  public int count(FleetSchedulerState state) {
    return states().getOrDefault(state, 0);
  }

  public @Nullable FleetSchedulerView host(String id) {
    for (FleetSchedulerView host : hosts) {
      if (host.id().equals(id)) {
        return host;
      }
    }
    return null;
  }

  /** Maps the ids of additional addresses of a scheduler to the id under which it counts. */
  public Map<String, String> sameProcess() {
    Map<String, String> first = new HashMap<>();
    Map<String, String> same = new HashMap<>();
    for (FleetSchedulerView host : hosts) {
      SchedulerSummary summary = host.summary();
      if (summary != null && !summary.process().isEmpty()) {
        String known = first.putIfAbsent(summary.process(), host.id());
        if (known != null) {
          same.put(host.id(), known);
        }
      }
    }
    return same;
  }

  /** Returns the schedulers with a summary, each once. */
  public List<FleetSchedulerView> known() {
    Set<String> again = new HashSet<>(sameProcess().keySet());
    return hosts.stream()
        .filter(host -> host.summary() != null && !again.contains(host.id()))
        .toList();
  }
}
