package io.espalier.core.notification;

import io.espalier.core.json.Json;
import java.util.Set;

/**
 * One receiver of notifications.
 *
 * @param kind name of the plug-in that sends to it
 * @param options options of that plug-in
 * @param when what it is told
 */
public record NotifierSpec(String kind, Json.Obj options, Filter when) {
  /** Returns where it sends, for people: without what may be a secret. */
  public String target() {
    String url = options.get("url") instanceof Json.Str text ? text.value() : "";
    int query = url.indexOf('?');
    return query < 0 ? url : url.substring(0, query) + "?…";
  }

  /**
   * Chooses notifications: all conditions must hold.
   *
   * @param kinds kinds of events; empty: all
   * @param jobs names of jobs; empty: all, and what is about no job
   * @param sets likewise sets
   * @param queues likewise queues
   * @param owners likewise owners of jobs
   * @param severity the least severity
   */
  public record Filter(
      Set<String> kinds,
      Set<String> jobs,
      Set<String> sets,
      Set<String> queues,
      Set<String> owners,
      Severity severity) {
    public static final Filter ALL =
        new Filter(Set.of(), Set.of(), Set.of(), Set.of(), Set.of(), Severity.INFO);

    public Filter {
      kinds = Set.copyOf(kinds);
      jobs = Set.copyOf(jobs);
      sets = Set.copyOf(sets);
      queues = Set.copyOf(queues);
      owners = Set.copyOf(owners);
    }
  }
}
