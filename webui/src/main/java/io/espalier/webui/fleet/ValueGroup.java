package io.espalier.webui.fleet;

import io.espalier.webui.fleet.poll.SchedulerSummary;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * A value of an attribute, with the schedulers that have it.
 *
 * @param hosts ids of the schedulers, in the order of the list
 */
public record ValueGroup(String value, List<String> hosts) {
  public ValueGroup {
    hosts = List.copyOf(hosts);
  }

  /**
   * Groups the members by value: the most frequent value first, equally frequent ones in
   * alphabetical order, so that the same views give the same answer.
   */
  static List<ValueGroup> of(
      List<AggregatedJob.Member> members, Function<SchedulerSummary.Job, String> value) {
    Map<String, List<String>> byValue = new LinkedHashMap<>();
    for (AggregatedJob.Member member : members) {
      byValue
          .computeIfAbsent(value.apply(member.job()), v -> new ArrayList<>())
          .add(member.host().id());
    }
    List<ValueGroup> shares = new ArrayList<>();
    byValue.forEach((v, hosts) -> shares.add(new ValueGroup(v, hosts)));
    shares.sort(
        Comparator.comparingInt((ValueGroup share) -> -share.hosts().size())
            .thenComparing(ValueGroup::value));
    return List.copyOf(shares);
  }
}
