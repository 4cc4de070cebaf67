package io.espalier.server.app.metrics;

import io.espalier.core.api.LeadershipControl;
import io.espalier.core.config.Partition;
import io.espalier.core.loop.state.LoopStats;
import io.espalier.server.app.loop.LoopThread;
import io.espalier.server.app.ownership.Leadership;
import io.espalier.server.store.StatusWriter;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;

/** Publishes the metrics of the scheduler thread, of the status store, and of the leadership. */
public final class SchedulerMetrics {
  private static final Duration[] STEP_BUCKETS = {
    Duration.ofMillis(1),
    Duration.ofMillis(5),
    Duration.ofMillis(20),
    Duration.ofMillis(100),
    Duration.ofMillis(500),
    Duration.ofSeconds(2)
  };

  private static final Duration[] COMMIT_BUCKETS = {
    Duration.ofMillis(1),
    Duration.ofMillis(5),
    Duration.ofMillis(20),
    Duration.ofMillis(100),
    Duration.ofMillis(500),
    Duration.ofSeconds(2),
    Duration.ofSeconds(10)
  };

  private final MeterRegistry metrics;

  public SchedulerMetrics(MeterRegistry metrics) {
    this.metrics = metrics;
  }

  public void loop(LoopThread thread, LoopStats stats) {
    gauge(
        "espalier.inbox", "Work that waits for the scheduler thread", thread, LoopThread::backlog);
    Timer steps =
        Timer.builder("espalier.loop.step")
            .description("Steps of the scheduler thread: the inbox, then one slice of everything")
            .serviceLevelObjectives(STEP_BUCKETS)
            .register(metrics);
    thread.observe(nanos -> steps.record(Duration.ofNanos(nanos)));
    count("espalier.rounds", "Rounds run until nothing more could start", stats, LoopStats::rounds);
    count("espalier.placements", "Tasks that were given their slots", stats, LoopStats::placements);
    refused("store_behind", stats, LoopStats::saturated);
    refused("policy_failed", stats, LoopStats::policyFailures);
    gauge("espalier.tasks.live", "Tasks that hold slots", stats, LoopStats::live);
    gauge("espalier.chores", "Long work in slices that is not finished", stats, LoopStats::chores);
    gauge("espalier.jobs.held", "Jobs that wait for a token", stats, LoopStats::heldJobs);
    gauge(
        "espalier.jobs.without.place",
        "Jobs that wait until fewer jobs run",
        stats,
        LoopStats::jobsWithoutPlace);
    gauge("espalier.nodes.quarantined", "Quarantines", stats, LoopStats::quarantines);
    gauge(
        "espalier.starts.in.flight",
        "Starts that are not confirmed, if they are bounded",
        stats,
        LoopStats::startsInFlight);
    gauge(
        "espalier.starts.window",
        "How many starts may be in flight; 0: any number",
        stats,
        LoopStats::startWindow);
    gauge(
        "espalier.workers.held",
        "Workers that wait until one of their starts is confirmed",
        stats,
        LoopStats::heldWorkers);
    gauge("espalier.nodes.held", "Nodes that wait for a token", stats, LoopStats::heldNodes);
    gauge("espalier.nodes.reserved", "Nodes kept free", stats, LoopStats::reservedNodes);
    gauge("espalier.slots.reserved", "Slots that idle for it", stats, LoopStats::reservedSlots);
    FunctionCounter.builder(
            "espalier.slots.reserved.idle.seconds", stats, s -> s.idleSlotMillis() / 1000.0)
        .description("Slots times seconds that have idled because they were kept free")
        .register(metrics);
  }

  public void shard(Partition shard) {
    Gauge.builder("espalier.shard.info", shard, s -> 1)
        .description("1; the labels say which part of the nodes this scheduler has")
        .tag("index", Integer.toString(shard.index()))
        .tag("count", Integer.toString(shard.count()))
        .strongReference(true)
        .register(metrics);
  }

  private void refused(String reason, LoopStats stats, ToLongFunction<LoopStats> number) {
    FunctionCounter.builder("espalier.rounds.refused", stats, number::applyAsLong)
        .description("Rounds in which nothing could be placed, by reason")
        .tag("reason", reason)
        .register(metrics);
  }

  public void store(StatusWriter writer) {
    gauge(
        "espalier.status.queue",
        "Status changes that wait for the store",
        writer,
        StatusWriter::queueLength);
    gauge(
        "espalier.status.queue.age.seconds",
        "How long the oldest of them has waited",
        writer,
        w -> w.oldestNanos() / 1e9);
    gauge(
        "espalier.status.store.up",
        "0 while the status store does not work",
        writer,
        w -> w.problem().isPresent() || w.failure().isPresent() ? 0 : 1);
    count(
        "espalier.status.commits",
        "Transactions of the status store",
        writer,
        StatusWriter::commits);
    count(
        "espalier.status.commits.failed",
        "Transactions of the status store that failed, repetitions included",
        writer,
        StatusWriter::failures);
    count(
        "espalier.status.changes",
        "Status changes made durable",
        writer,
        StatusWriter::committedChanges);
    Timer latency =
        Timer.builder("espalier.status.commit")
            .description("Time of transactions of the status store")
            .serviceLevelObjectives(COMMIT_BUCKETS)
            .register(metrics);
    writer.observe(nanos -> latency.record(Duration.ofNanos(nanos)));
  }

  /**
   * @param group see {@link Leadership#group}
   */
  public void leadership(LeadershipControl leadership, String group) {
    Gauge.builder("espalier.leader", leadership, l -> 1)
        .description("Whether this scheduler leads")
        .tag("group", group)
        .strongReference(true)
        .register(metrics);
    gauge(
        "espalier.leader.epoch",
        "Grows with each leadership; 0 without an election",
        leadership,
        l -> l.view().epoch());
    gauge(
        "espalier.leader.certain.seconds",
        "For how long it is certain that no other leads; +Inf without an election",
        leadership,
        l -> certain(l.view().certainMillis()));
    gauge(
        "espalier.leader.candidates",
        "Schedulers that could lead, this one included; 0 without an election",
        leadership,
        l -> l.view().candidates().size());
  }

  private static double certain(long millis) {
    return millis == Long.MAX_VALUE ? Double.POSITIVE_INFINITY : millis / 1e3;
  }

  public <T> void gauge(String name, String description, T of, ToDoubleFunction<T> number) {
    Gauge.builder(name, of, number).description(description).register(metrics);
  }

  private <T> void count(String name, String description, T of, ToDoubleFunction<T> number) {
    FunctionCounter.builder(name, of, number).description(description).register(metrics);
  }
}
