package io.espalier.webui.fleet;

import io.espalier.core.json.Json;
import io.espalier.core.text.ShortText;
import io.espalier.webui.fleet.poll.SchedulerSummary;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/**
 * A job with tasks that cannot start on some schedulers unless somebody acts or nodes come. It is
 * stuck there, or these tasks need more than the limits allow.
 *
 * @param tasks their number over all schedulers
 * @param members the job on those schedulers, the most tasks first
 */
record HinderedJob(String job, long tasks, List<AggregatedJob.Member> members) {
  private static final int MOST_HOSTS = 5;
  private static final int LONGEST_REASON = 300;

  /** Returns all such jobs, the most tasks first. */
  static List<HinderedJob> of(Map<String, AggregatedJob> jobs) {
    List<HinderedJob> found = new ArrayList<>();
    for (AggregatedJob job : jobs.values()) {
      List<AggregatedJob.Member> members =
          job.members().stream()
              .filter(member -> member.job().isHindered())
              .sorted(
                  Comparator.comparingLong((AggregatedJob.Member member) -> member.job().hindered())
                      .reversed())
              .toList();
      if (!members.isEmpty()) {
        long tasks = members.stream().mapToLong(member -> member.job().hindered()).sum();
        found.add(new HinderedJob(job.name(), tasks, members));
      }
    }
    // Equal ones stay in the order of their names.
    found.sort(Comparator.comparingLong(HinderedJob::tasks).reversed());
    return List.copyOf(found);
  }

  /** Encodes the schema {@code Hindered}. */
  Json.Obj json() {
    List<Json> hosts = new ArrayList<>();
    for (AggregatedJob.Member member : members.subList(0, Math.min(MOST_HOSTS, members.size()))) {
      SchedulerSummary.Job here = member.job();
      hosts.add(
          Json.object()
              .put("id", member.host().id())
              .put("tasks", here.hindered())
              .put("stuck", here.isStuck())
              .put(
                  "reason",
                  ShortText.shown(
                      here.isStuck() ? here.stateReason() : here.neverReason(), LONGEST_REASON))
              .build());
    }
    return Json.object()
        .put("job", job)
        .put("tasks", tasks)
        .put("schedulers", members.size())
        .put("hosts", new Json.Arr(hosts))
        .build();
  }
}
