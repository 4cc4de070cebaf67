package io.espalier.webui.fleet;

import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What is known of all schedulers at one time.
 *
 * @param hosts in the order of the list
 */
public record FleetView(long atMillis, List<HostView> hosts) {
  public FleetView {
    hosts = List.copyOf(hosts);
  }

  /** How many are in which state; every state has an entry. */
  public Map<HostState, Integer> states() {
    Map<HostState, Integer> states = new EnumMap<>(HostState.class);
    for (HostState state : HostState.values()) {
      states.put(state, 0);
    }
    hosts.forEach(host -> states.merge(host.state(), 1, Integer::sum));
    return states;
  }

  /** How many are in this state. */
  public int count(HostState state) {
    return states().getOrDefault(state, 0);
  }

  public @Nullable HostView host(String id) {
    for (HostView host : hosts) {
      if (host.id().equals(id)) {
        return host;
      }
    }
    return null;
  }

  /** Ids of further addresses of a scheduler that is in the list, to the id that counts. */
  public Map<String, String> sameProcess() {
    Map<String, String> first = new HashMap<>();
    Map<String, String> same = new HashMap<>();
    for (HostView host : hosts) {
      HostSummary summary = host.summary();
      if (summary != null && !summary.process().isEmpty()) {
        String known = first.putIfAbsent(summary.process(), host.id());
        if (known != null) {
          same.put(host.id(), known);
        }
      }
    }
    return same;
  }

  /** Those of whom something is known, each scheduler once. */
  public List<HostView> known() {
    Set<String> again = new HashSet<>(sameProcess().keySet());
    return hosts.stream()
        .filter(host -> host.summary() != null && !again.contains(host.id()))
        .toList();
  }
}
