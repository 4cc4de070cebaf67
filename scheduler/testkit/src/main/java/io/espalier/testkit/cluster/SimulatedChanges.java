package io.espalier.testkit.cluster;

import io.espalier.core.config.Config;
import io.espalier.core.config.Job;
import io.espalier.core.loop.LoopInput;
import io.espalier.core.loop.PreparedUpdate;
import io.espalier.core.running.Invocation;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.scheduling.update.NewTasks;
import io.espalier.core.scheduling.update.UpdatePlan;
import io.espalier.core.status.ProgramTransitions;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.store.StatusRow;
import io.espalier.core.topology.Topology;
import io.espalier.testkit.cluster.SimulatedSources.Wanted;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Polls the sources, reads the stored rows of new tasks, one job after the other and sometimes
 * slowly, and puts everything into force, as the real process does.
 */
final class SimulatedChanges {
  private static final long RETRY_MILLIS = 500;

  private final SimulatedScheduler process;
  private final SimulatedCluster cluster;
  private final SchedulingCore core;
  private final Consumer<LoopInput> loop;
  private final long epoch;
  private @Nullable Config newest;
  private @Nullable Wanted inForce;

  SimulatedChanges(
      SimulatedScheduler process, SchedulingCore core, Consumer<LoopInput> loop, long epoch) {
    this.process = process;
    this.cluster = process.cluster;
    this.core = core;
    this.loop = loop;
    this.epoch = epoch;
  }

  @SuppressWarnings("ReferenceEquality") // A new configuration is another object.
  void look() {
    Wanted wanted = cluster.sources.newest();
    if (wanted == inForce) {
      process.later(200L + cluster.random.nextInt(2_000), this::look);
      return;
    }
    // A recreated job is another job: the old one is first removed.
    Config old = newest;
    TreeMap<String, Job> without = new TreeMap<>(wanted.config().jobs());
    without
        .values()
        .removeIf(
            job -> {
              Job before = old == null ? null : old.job(job.name());
              return before != null && isAnother(before.createTime(), job.createTime());
            });
    Runnable whole =
        () ->
            new Preparation(
                    wanted.config(),
                    wanted.topology(),
                    () -> {
                      newest = wanted.config();
                      inForce = wanted;
                      look();
                    })
                .begin();
    if (without.size() < wanted.config().jobs().size()) {
      new Preparation(wanted.config().withJobs(without), wanted.topology(), whole).begin();
    } else {
      whole.run();
    }
  }

  private static boolean isAnother(long created, long createdNow) {
    return created != 0 && createdNow != 0 && created != createdNow;
  }

  /** One update, from the comparison until it is in force. */
  private final class Preparation {
    private final Config config;
    private final Topology topology;
    private final Runnable then;
    private final List<StatusRow> rows = new ArrayList<>();
    private final Map<String, Long> incarnations = new HashMap<>();
    private final Set<String> forgotten = new HashSet<>();
    private final ArrayDeque<Runnable> reads = new ArrayDeque<>();
    private final boolean slow = cluster.random.nextInt(4) == 0;

    Preparation(Config config, Topology topology, Runnable then) {
      this.config = config;
      this.topology = topology;
      this.then = then;
    }

    void begin() {
      UpdatePlan change = core.prepare(config, topology);
      if (cluster.has(ProtocolBug.INCARNATIONS_READ_EARLY)) {
        compareIncarnations();
      }
      if (cluster.has(ProtocolBug.STALE_ROWS)) {
        cluster.store.rows().stream().map(this::bent).forEach(rows::add);
      }
      CompletableFuture<@Nullable Void> durable = new CompletableFuture<>();
      loop.accept(new LoopInput.WillRead(change, durable));
      process.poke();
      if (cluster.has(ProtocolBug.ROWS_READ_BEFORE_DURABLE)) {
        process.later(pause(), () -> read(change));
      } else {
        var unused = durable.thenRun(() -> process.later(pause(), () -> read(change)));
      }
    }

    private long pause() {
      return 1L + cluster.random.nextInt(slow ? 3_000 : 30);
    }

    private void compareIncarnations() {
      Map<String, Long> stored = cluster.store.incarnations();
      for (Job job : config.jobs().values()) {
        long known = stored.getOrDefault(job.name(), 0L);
        if (job.createTime() != 0 && job.createTime() != known) {
          incarnations.put(job.name(), job.createTime());
          if (isAnother(known, job.createTime())) {
            forgotten.add(job.name());
          }
        }
      }
    }

    private void read(UpdatePlan change) {
      if (slow) {
        cluster.coverage.happened(SimulationEvent.READING_SLOW);
      }
      if (!cluster.has(ProtocolBug.INCARNATIONS_READ_EARLY)) {
        compareIncarnations();
      }
      NewTasks news = change.newTasks();
      for (String job : news.jobs()) {
        reads.add(() -> take(job, null));
      }
      for (NewTasks.NewNodes added : news.nodes()) {
        Set<String> names = new HashSet<>();
        for (int node : added.nodes()) {
          names.add(topology.name(node));
        }
        added.jobs().forEach(job -> reads.add(() -> take(job, names)));
      }
      readNext(change);
    }

    private void take(String job, @Nullable Set<String> nodes) {
      if (forgotten.contains(job) || cluster.has(ProtocolBug.STALE_ROWS)) {
        return;
      }
      for (StatusRow row : cluster.store.rows()) {
        if (row.job().equals(job) && (nodes == null || nodes.contains(row.node()))) {
          rows.add(bent(row));
        }
      }
    }

    /** Applies the bugs of reading rows. */
    private StatusRow bent(StatusRow row) {
      TaskStatus status = row.status();
      if (cluster.has(ProtocolBug.VERIFICATIONS_FORGOTTEN) && status.awaitsVerification()) {
        return with(row, ProgramTransitions.withoutVerification(status), row.invocation());
      }
      boolean isBetweenSteps =
          status.main() != TaskStatus.Main.RUNNING && !status.awaitsVerification();
      return cluster.has(ProtocolBug.STEPS_FORGOTTEN) && isBetweenSteps
          ? with(row, status.withStep(null), row.invocation())
          : ofThePast(row);
    }

    private static StatusRow with(StatusRow row, TaskStatus status, Invocation run) {
      return new StatusRow(row.job(), row.node(), status, run, row.worker());
    }

    /** Applies the bugs under which a row of this epoch is considered one of an earlier process. */
    private StatusRow ofThePast(StatusRow row) {
      boolean bends =
          cluster.has(ProtocolBug.STALE_ROWS) || cluster.has(ProtocolBug.WRITES_FORGOTTEN_AT_BEGIN);
      Invocation run = row.invocation();
      if (!bends || row.status().main() != TaskStatus.Main.RUNNING || run.epoch() < epoch) {
        return row;
      }
      return with(row, row.status(), new Invocation(epoch - 1, run.sequence(), run.startMillis()));
    }

    private void readNext(UpdatePlan change) {
      if (process.isCutOff()) {
        cluster.trace(() -> process.name + " cannot read the store, and will try again");
        Preparation again = new Preparation(config, topology, then);
        process.later(RETRY_MILLIS, again::begin);
        return;
      }
      Runnable next = reads.poll();
      if (next != null) {
        next.run();
        process.later(pause(), () -> readNext(change));
        return;
      }
      if (cluster.has(ProtocolBug.WRITES_FORGOTTEN_AT_BEGIN)) {
        loop.accept(new LoopInput.WillRead(change, new CompletableFuture<>()));
      }
      cluster.trace(
          () ->
              process.name
                  + " brings in force "
                  + config.jobs().keySet()
                  + " on "
                  + topology.size()
                  + " nodes, with "
                  + rows.size()
                  + " rows");
      CompletableFuture<Void> inForce = new CompletableFuture<>();
      loop.accept(
          new LoopInput.Update(
              new PreparedUpdate(
                  change, rows, process.localNow(), forgotten, Map.copyOf(incarnations)),
              inForce));
      var unused = inForce.thenRun(() -> process.later(1, then));
      process.poke();
    }
  }
}
