package io.espalier.webui.fleet;

import io.espalier.core.json.Json;
import io.espalier.webui.fleet.poll.FleetSchedulerView;
import io.espalier.webui.fleet.poll.FleetView;
import io.espalier.webui.fleet.poll.SchedulerSummary;
import io.espalier.webui.fleet.poll.SummaryParser;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Collects the problems of all schedulers, each once, with the schedulers that have it. */
public final class FleetProblems {
  private static final int MOST_HOSTS = 20;
  private static final int MOST_KINDS = 2_000;
  private static final int MOST_MISSING = 20;
  private static final Pattern SHARD = Pattern.compile("([0-9]{1,5})/([0-9]{1,5})");
  private static final long STALE_WARNING_MILLIS = 60_000;
  private static final long STALE_ERROR_MILLIS = 600_000;
  private static final long SKEW_MILLIS = 10_000;

  private final Map<Key, Group> groups = new LinkedHashMap<>();

  private FleetProblems() {}

  private record Key(boolean error, String kind, String message) {}

  private static final class Group {
    final List<String> hosts = new ArrayList<>();
    String source = "";
    long count;
  }

  /**
   * One problem.
   *
   * @param kind its subject: connection, clock, stale, config, nodes, tasks, settings, scheduler
   * @param source of the first of them
   * @param hosts ids of some of the schedulers that have it
   * @param count number of schedulers that have it
   */
  public record Trouble(
      boolean error, String kind, String source, String message, long count, List<String> hosts) {
    Json.Obj json() {
      return Json.object()
          .put("severity", error ? "error" : "warning")
          .put("kind", kind)
          .put("source", source)
          .put("message", message)
          .put("count", count)
          .put("hosts", Json.strings(hosts))
          .build();
    }
  }

  /** Returns all problems: errors first, then the most frequent. */
  public static List<Trouble> of(
      FleetView view,
      Map<String, AggregatedJob> jobs,
      Duplicates.Report nodes,
      Duplicates.Report running) {
    FleetProblems troubles = new FleetProblems();
    Map<String, String> same = view.sameProcess();
    for (FleetSchedulerView host : view.hosts()) {
      troubles.connection(host);
      if (same.containsKey(host.id())) {
        troubles.add(
            false,
            "connection",
            "",
            "this is another address of a scheduler that is in the list already; it counts once",
            host.id());
      } else if (host.summary() != null) {
        troubles.itself(host, host.summary());
      }
    }
    troubles.shards(view);
    jobs.values().forEach(troubles::differing);
    troubles.duplicates("tasks", "runs on more than one scheduler", true, running);
    troubles.duplicates("nodes", "is a node of more than one scheduler", false, nodes);
    return troubles.sorted();
  }

  /** A part of the nodes; without a division, schedulers have nodes of their own. */
  private record Shard(int index, int count) {}

  /** A scheduler with a part of the nodes, and its jobs. */
  private record Part(String host, Shard shard, Set<String> jobs) {}

  /** How the schedulers that have a job divide its nodes. */
  private static final class Division {
    final Set<Integer> counts = new HashSet<>();
    final Map<Shard, Integer> schedulers = new HashMap<>();

    void add(Shard shard) {
      counts.add(shard.count);
      schedulers.merge(shard, 1, Integer::sum);
    }

    boolean sharesTasksOf(Shard shard) {
      return counts.size() > 1 || schedulers.getOrDefault(shard, 0) > 1;
    }
  }

  /**
   * Checks the schedulers that partition the nodes of a configuration for missing partitions, and
   * for different divisions of one job.
   */
  private void shards(FleetView view) {
    Map<Integer, Map<Integer, String>> divisions = new TreeMap<>();
    List<Part> parts = new ArrayList<>();
    for (FleetSchedulerView host : view.known()) {
      SchedulerSummary summary = host.summary();
      Matcher shard = SHARD.matcher(summary == null ? "" : summary.shard());
      if (summary != null && shard.matches()) {
        int index = Integer.parseInt(shard.group(1));
        int count = Integer.parseInt(shard.group(2));
        divisions.computeIfAbsent(count, n -> new TreeMap<>()).put(index, host.id());
        if (count > 1) {
          Set<String> jobs = new TreeSet<>();
          summary.jobs().forEach(job -> jobs.add(job.name()));
          parts.add(new Part(host.id(), new Shard(index, count), jobs));
        }
      }
    }
    overlapping(parts);
    divisions.forEach(
        (count, there) -> {
          for (int i = 0, said = 0; i < count && said < MOST_MISSING; i++) {
            if (!there.containsKey(i)) {
              said++;
              String missing = "no scheduler that has answered is shard " + i + "/" + count;
              there
                  .values()
                  .forEach(
                      host -> add(false, "nodes", "", missing + ": its nodes are missing", host));
            }
          }
        });
  }

  private void overlapping(List<Part> parts) {
    Map<String, Division> byJob = new HashMap<>();
    for (Part part : parts) {
      for (String job : part.jobs()) {
        byJob.computeIfAbsent(job, name -> new Division()).add(part.shard());
      }
    }
    for (Part part : parts) {
      for (String job : part.jobs()) {
        Division division = byJob.get(job);
        if (division != null && division.sharesTasksOf(part.shard())) {
          add(
              true,
              "nodes",
              job,
              "schedulers divide the nodes of job "
                  + job
                  + " differently, or have the same part: tasks can run on two of them",
              part.host());
          break;
        }
      }
    }
  }

  private void connection(FleetSchedulerView host) {
    switch (host.state()) {
      case DEAD, ERROR, REFUSED ->
          add(true, "connection", "", host.state().word() + ": " + host.detail(), host.id());
      case SLOW -> add(false, "connection", "", "slow: it does not answer in time", host.id());
      default -> {}
    }
  }

  private void itself(FleetSchedulerView host, SchedulerSummary summary) {
    for (SchedulerSummary.Trouble trouble : summary.troubles()) {
      add(trouble.error(), "scheduler", trouble.source(), trouble.message(), host.id());
    }
    long age = summary.atMillis() - summary.publishedAtMillis();
    if (summary.publishedAtMillis() > 0 && age > STALE_WARNING_MILLIS) {
      add(
          age > STALE_ERROR_MILLIS,
          "stale",
          "",
          "what it publishes is more than "
              + (age > STALE_ERROR_MILLIS ? STALE_ERROR_MILLIS : STALE_WARNING_MILLIS) / 1000
              + " s old",
          host.id());
    }
    if (!summary.configInForce()) {
      add(true, "config", "", "no configuration is in force", host.id());
    } else if (summary.nodes() == 0) {
      add(false, "nodes", "", "it has no nodes", host.id());
    }
    long ahead = summary.atMillis() - (host.answeredAtMillis() - host.tookMillis() / 2);
    if (Math.abs(ahead) > SKEW_MILLIS + host.tookMillis()) {
      add(
          false,
          "clock",
          "",
          "its clock differs from this one's by more than "
              + SKEW_MILLIS / 1000
              + " s, so merged logs are not in order",
          host.id());
    }
    if (summary.cut()) {
      add(
          false,
          "scheduler",
          "",
          "it has more than " + SummaryParser.MOST_JOBS + " jobs; the rest is not shown",
          host.id());
    }
  }

  private void differing(AggregatedJob job) {
    for (ValueGroup share : job.configs().subList(1, job.configs().size())) {
      share
          .hosts()
          .forEach(
              host ->
                  add(
                      false,
                      "settings",
                      job.name(),
                      "job " + job.name() + " has other settings than on most schedulers",
                      host));
    }
  }

  private void duplicates(String kind, String what, boolean error, Duplicates.Report report) {
    report
        .listed()
        .forEach(
            (found, hosts) ->
                hosts.forEach(
                    host ->
                        add(
                            error,
                            kind,
                            found.group(),
                            found.group() + " " + found.name() + " " + what,
                            host)));
  }

  private void add(boolean error, String kind, String source, String message, String host) {
    Key key = new Key(error, kind, message);
    Group group = groups.get(key);
    if (group == null) {
      if (groups.size() >= MOST_KINDS) {
        return;
      }
      group = new Group();
      group.source = source;
      groups.put(key, group);
    }
    group.count++;
    if (group.hosts.size() < MOST_HOSTS) {
      group.hosts.add(host);
    }
  }

  private List<Trouble> sorted() {
    List<Trouble> all = new ArrayList<>();
    groups.forEach(
        (key, group) ->
            all.add(
                new Trouble(
                    key.error(),
                    key.kind(),
                    group.source,
                    key.message(),
                    group.count,
                    List.copyOf(group.hosts))));
    all.sort(
        Comparator.comparing((Trouble trouble) -> !trouble.error())
            .thenComparing(trouble -> -trouble.count())
            .thenComparing(Trouble::message));
    return List.copyOf(all);
  }
}
