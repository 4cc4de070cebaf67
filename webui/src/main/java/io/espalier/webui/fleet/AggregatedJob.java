package io.espalier.webui.fleet;

import io.espalier.webui.fleet.poll.Counts;
import io.espalier.webui.fleet.poll.FleetSchedulerView;
import io.espalier.webui.fleet.poll.FleetView;
import io.espalier.webui.fleet.poll.SchedulerSummary;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * One job over all schedulers that have it.
 *
 * @param counts sum over the schedulers
 * @param attributes values of owner, level, priority, enabled, paused, valid, with their schedulers
 * @param configs variants of the settings by hash, with their schedulers
 */
public record AggregatedJob(
    String name,
    List<Member> members,
    Counts counts,
    Map<String, List<ValueGroup>> attributes,
    List<ValueGroup> configs) {

  /** The job on one scheduler. */
  public record Member(FleetSchedulerView host, SchedulerSummary.Job job) {}

  /** Returns all jobs by name. */
  public static Map<String, AggregatedJob> join(FleetView view) {
    Map<String, List<Member>> byName = new TreeMap<>();
    for (FleetSchedulerView host : view.known()) {
      SchedulerSummary summary = host.summary();
      if (summary != null) {
        for (SchedulerSummary.Job job : summary.jobs()) {
          byName.computeIfAbsent(job.name(), n -> new ArrayList<>()).add(new Member(host, job));
        }
      }
    }
    Map<String, AggregatedJob> jobs = new LinkedHashMap<>();
    byName.forEach((name, members) -> jobs.put(name, of(name, members)));
    return jobs;
  }

  private static AggregatedJob of(String name, List<Member> members) {
    Counts counts = Counts.NONE;
    for (Member member : members) {
      counts = counts.plus(member.job().counts());
    }
    Map<String, List<ValueGroup>> attributes = new LinkedHashMap<>();
    attributes.put("enabled", ValueGroup.of(members, job -> String.valueOf(job.enabled())));
    attributes.put("paused", ValueGroup.of(members, job -> String.valueOf(job.paused())));
    attributes.put("valid", ValueGroup.of(members, job -> String.valueOf(job.valid())));
    attributes.put("owner", ValueGroup.of(members, SchedulerSummary.Job::owner));
    attributes.put("level", ValueGroup.of(members, SchedulerSummary.Job::level));
    attributes.put("priority", ValueGroup.of(members, SchedulerSummary.Job::priority));
    return new AggregatedJob(
        name,
        List.copyOf(members),
        counts,
        attributes,
        ValueGroup.of(members, SchedulerSummary.Job::configHash));
  }

  /** Returns the job on only those schedulers where its settings have this hash. */
  public AggregatedJob ofKind(String hash) {
    return of(
        name, members.stream().filter(member -> member.job().configHash().equals(hash)).toList());
  }

  /** Returns the number of schedulers on which an attribute has this value. */
  public int count(String attribute, String value) {
    for (ValueGroup share : attributes.getOrDefault(attribute, List.of())) {
      if (share.value().equals(value)) {
        return share.hosts().size();
      }
    }
    return 0;
  }

  /** Returns the number of schedulers on which the job has this state. */
  public int inState(String state) {
    return (int) members.stream().filter(member -> member.job().state().equals(state)).count();
  }

  /** Returns the number of schedulers on which tasks of it cannot start unless somebody acts. */
  public int hinderedOn() {
    return (int) members.stream().filter(member -> member.job().isHindered()).count();
  }

  /** Returns the number of schedulers whose settings differ from the most frequent ones. */
  public int differing() {
    return members.size() - configs.get(0).hosts().size();
  }

  /** Returns whether two variants of the settings are the most frequent ones: none is the rule. */
  public boolean isTied() {
    return configs.size() > 1 && configs.get(0).hosts().size() == configs.get(1).hosts().size();
  }

  /** Returns completions per second; negative when unknown. */
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
