package io.espalier.webui.fleet;

import io.espalier.webui.fleet.poll.Counts;
import io.espalier.webui.fleet.poll.FleetSchedulerState;
import io.espalier.webui.fleet.poll.FleetSchedulerView;
import io.espalier.webui.fleet.poll.FleetView;
import io.espalier.webui.fleet.poll.SchedulerAddress;
import io.espalier.webui.fleet.poll.SchedulerSummary;
import java.net.URI;
import java.util.List;

/** Views of schedulers that are not there. */
final class Views {
  static final long NOW = 1_700_000_000_000L;

  private Views() {}

  static SchedulerAddress address(String id) {
    return new SchedulerAddress(id, id, URI.create("http://" + id + ":8080"));
  }

  static SchedulerSummary.Job job(String name, String hash, Counts counts) {
    return job(name, hash, "", "", 0, "", counts);
  }

  /** A job that is stuck, with this many tasks left. */
  static SchedulerSummary.Job stuck(String name, long left, String reason) {
    return job(
        name, "aa", "stuck", reason, 0, "", new Counts(left + 5, 5, 0, 0, 0, 0, left, 0, 0, 0));
  }

  /** A job whose roll-out is halted. */
  static SchedulerSummary.Job halted(String name) {
    return job(name, "aa", "halted", "2 of 2 tasks failed", 0, "", counts(0, 2));
  }

  /** A job that runs, with tasks that can never start. */
  static SchedulerSummary.Job never(String name, long tasks, String reason) {
    return job(name, "aa", "running", "", tasks, reason, new Counts(9, 0, 0, 0, 1, 0, 8, 0, 0, 0));
  }

  private static SchedulerSummary.Job job(
      String name,
      String hash,
      String state,
      String stateReason,
      long never,
      String neverReason,
      Counts counts) {
    return new SchedulerSummary.Job(
        name,
        "ops",
        "db",
        "1",
        true,
        true,
        false,
        "",
        hash,
        "",
        false,
        state,
        stateReason,
        never,
        neverReason,
        never > 0 ? 0.5 : -1,
        counts);
  }

  static Counts counts(long done, long failed) {
    return new Counts(done + failed, done, failed, 0, 0, 0, 0, 0, 0, 0);
  }

  static SchedulerSummary summary(String process, SchedulerSummary.Job... jobs) {
    return summary(process, List.of(), List.of(jobs));
  }

  static SchedulerSummary summary(
      String process, List<SchedulerSummary.Running> running, List<SchedulerSummary.Job> jobs) {
    return summary(process, "0/1", running, jobs);
  }

  private static SchedulerSummary summary(
      String process,
      String shard,
      List<SchedulerSummary.Running> running,
      List<SchedulerSummary.Job> jobs) {
    return new SchedulerSummary(
        process,
        "1",
        "local",
        shard,
        NOW,
        NOW,
        true,
        10,
        NOW,
        jobs,
        List.of(),
        running.size(),
        running,
        false);
  }

  /** A scheduler with a part of the nodes. */
  static FleetSchedulerView part(String id, String shard, SchedulerSummary.Job... jobs) {
    return answered(id, summary(id, shard, List.of(), List.of(jobs)));
  }

  static FleetSchedulerView answered(String id, SchedulerSummary summary) {
    return new FleetSchedulerView(
        address(id), FleetSchedulerState.ANSWERED, "", NOW, NOW, 5, 0, summary);
  }

  static FleetSchedulerView dead(String id) {
    return new FleetSchedulerView(
        address(id), FleetSchedulerState.DEAD, "connection refused", NOW, 0, 0, 1, null);
  }

  static FleetView fleet(FleetSchedulerView... hosts) {
    return new FleetView(NOW, List.of(hosts));
  }
}
