package io.espalier.webui.fleet;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * One job over all schedulers that have it.
 *
 * @param counts sum over them
 * @param attributes who has which value of owner, level, priority, enabled, paused, valid
 * @param configs who has which settings, by hash
 */
public record JoinedJob(
    String name,
    List<Member> members,
    Counts counts,
    Map<String, List<Share>> attributes,
    List<Share> configs) {

  /** The job on one scheduler. */
  public record Member(HostView host, HostSummary.Job job) {}

  /** All jobs by name. */
  public static Map<String, JoinedJob> join(FleetView view) {
    Map<String, List<Member>> byName = new TreeMap<>();
    for (HostView host : view.known()) {
      HostSummary summary = host.summary();
      if (summary != null) {
        for (HostSummary.Job job : summary.jobs()) {
          byName.computeIfAbsent(job.name(), n -> new ArrayList<>()).add(new Member(host, job));
        }
      }
    }
    Map<String, JoinedJob> jobs = new LinkedHashMap<>();
    byName.forEach((name, members) -> jobs.put(name, of(name, members)));
    return jobs;
  }

  private static JoinedJob of(String name, List<Member> members) {
    Counts counts = Counts.NONE;
    for (Member member : members) {
      counts = counts.plus(member.job().counts());
    }
    Map<String, List<Share>> attributes = new LinkedHashMap<>();
    attributes.put("enabled", Share.of(members, job -> String.valueOf(job.enabled())));
    attributes.put("paused", Share.of(members, job -> String.valueOf(job.paused())));
    attributes.put("valid", Share.of(members, job -> String.valueOf(job.valid())));
    attributes.put("owner", Share.of(members, HostSummary.Job::owner));
    attributes.put("level", Share.of(members, HostSummary.Job::level));
    attributes.put("priority", Share.of(members, HostSummary.Job::priority));
    return new JoinedJob(
        name,
        List.copyOf(members),
        counts,
        attributes,
        Share.of(members, HostSummary.Job::configHash));
  }

  /** On how many schedulers an attribute has this value. */
  public int count(String attribute, String value) {
    for (Share share : attributes.getOrDefault(attribute, List.of())) {
      if (share.value().equals(value)) {
        return share.hosts().size();
      }
    }
    return 0;
  }

  /** On how many schedulers the job has this state. */
  public int inState(String state) {
    return (int) members.stream().filter(member -> member.job().state().equals(state)).count();
  }

  /** On how many schedulers the settings are not those of most. */
  public int differing() {
    return members.size() - configs.get(0).hosts().size();
  }

  /** Tasks that end per second; negative when nobody knows. */
  public double ratePerSecond() {
    double sum = -1;
    for (Member member : members) {
      double rate = member.job().ratePerSecond();
      if (rate >= 0) {
        sum = Math.max(sum, 0) + rate;
      }
    }
    return sum;
  }
}
