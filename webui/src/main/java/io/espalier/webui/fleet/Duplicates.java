package io.espalier.webui.fleet;

import io.espalier.core.json.Json;
import io.espalier.webui.fleet.poll.FleetSchedulerView;
import io.espalier.webui.fleet.poll.FleetView;
import io.espalier.webui.fleet.poll.SchedulerSummary;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Collects names that more than one scheduler has, and how many were compared. Not thread-safe. */
public final class Duplicates {
  private static final int MOST_LISTED = 100;
  private static final int MOST_HOSTS = 10;

  private final FirstSeenTable sightings = new FirstSeenTable();
  private final List<String> hosts = new ArrayList<>();
  private final Map<Found, Set<String>> found = new LinkedHashMap<>();
  private long looked;
  private long total;
  private int cutHosts;

  /**
   * A duplicate.
   *
   * @param group level of a node, or job of a task
   */
  public record Found(String group, String name) {}

  /**
   * The result of a comparison.
   *
   * @param looked number of compared names
   * @param hosts number of schedulers
   * @param cutHosts number of schedulers whose names were not all compared
   * @param total number of names that more than one scheduler has
   * @param listed the first of them, with the ids of some of their schedulers
   */
  public record Report(
      long atMillis,
      long looked,
      int hosts,
      int cutHosts,
      long total,
      Map<Found, List<String>> listed) {
    public static final Report NONE = new Report(0, 0, 0, 0, 0, Map.of());

    Json.Obj json(String groupKey) {
      List<Json> list = new ArrayList<>();
      listed.forEach(
          (what, ids) ->
              list.add(
                  Json.object()
                      .put(groupKey, what.group())
                      .put("node", what.name())
                      .put("hosts", Json.strings(ids))
                      .build()));
      return Json.object()
          .put("at_ms", atMillis)
          .put("checked", looked)
          .put("checked_hosts", hosts)
          .put("not_wholly_checked_hosts", cutHosts)
          .put("total", total)
          .put("duplicates", new Json.Arr(list))
          .build();
    }
  }

  /** Starts the next scheduler. */
  void next(String host, boolean cut) {
    hosts.add(host);
    if (cut) {
      cutHosts++;
    }
  }

  /** Adds a name of the current scheduler. */
  void has(String group, String name) {
    looked++;
    int now = hosts.size() - 1;
    int before = sightings.note(group, name, now);
    if (before < 0 || before == now) {
      return;
    }
    Found what = new Found(group, name);
    Set<String> who = found.get(what);
    if (who != null) {
      if (who.size() < MOST_HOSTS) {
        who.add(hosts.get(now));
      }
      return;
    }
    total++;
    if (found.size() < MOST_LISTED) {
      who = new LinkedHashSet<>();
      who.add(hosts.get(before));
      who.add(hosts.get(now));
      found.put(what, who);
    }
  }

  Report report(long atMillis) {
    Map<Found, List<String>> listed = new LinkedHashMap<>();
    found.forEach((what, who) -> listed.put(what, List.copyOf(who)));
    return new Report(atMillis, looked, hosts.size(), cutHosts, total, listed);
  }

  /**
   * Returns the tasks that run on several schedulers at the same time, among those that they list.
   */
  public static Report running(FleetView view) {
    Duplicates duplicates = new Duplicates();
    for (FleetSchedulerView host : view.known()) {
      SchedulerSummary summary = host.summary();
      if (summary != null) {
        duplicates.next(host.id(), summary.runningTotal() > summary.running().size());
        summary.running().forEach(task -> duplicates.has(task.job(), task.node()));
      }
    }
    return duplicates.report(view.atMillis());
  }
}
