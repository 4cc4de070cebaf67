package io.espalier.testkit.oracle;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.api.view.Explanation.Kind;
import io.espalier.core.config.Job;
import io.espalier.core.config.QueueSpec;
import io.espalier.core.config.Resource;
import io.espalier.core.scheduling.reservation.CapacityReservation;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The brute-force model of capacity reservations in queues and on workers
 * (docs/adr/0035-reservations.md). The core chooses which of the jobs that have waited long enough
 * gets one. This class checks that the job can be starved, has waited, lacks that capacity and
 * could ever have it; {@link Oracle} checks that nothing else is blocked for anybody.
 */
public final class OracleCapacity extends OracleHolders<OracleCapacity.Place, CapacityReservation> {
  /** By job: when it was last seen not waiting. */
  private final Map<String, Long> since = new HashMap<>();

  /** By job: the latest time at which a wait for capacity on a worker may have begun. */
  private final Map<String, Long> lackedWorker = new HashMap<>();

  /** The jobs whose wait, if it has begun, counts from the next clock event. */
  private final Set<String> lackWorker = new HashSet<>();

  /**
   * The reservations of the last observation; a running task that is settled late ends none of
   * them.
   */
  private List<CapacityReservation> last = List.of();

  record Place(CapacityReservation.Kind kind, String name) {}

  OracleCapacity(Oracle oracle) {
    super(oracle);
  }

  @Override
  Place place(CapacityReservation reservation) {
    return new Place(reservation.kind(), reservation.name());
  }

  @Override
  String job(CapacityReservation reservation) {
    return reservation.job();
  }

  /** Returns the job that has reserved capacity in a queue; null: none. */
  @Nullable Job holderIn(String queue) {
    return holder(CapacityReservation.Kind.QUEUE, queue);
  }

  /** Returns the job that has reserved capacity on a worker; null: none. */
  @Nullable Job holderOn(String shard) {
    return holder(CapacityReservation.Kind.WORKER, shard);
  }

  private @Nullable Job holder(CapacityReservation.Kind kind, String name) {
    String job = holders.isEmpty() ? null : holders.get(new Place(kind, name));
    return job == null ? null : oracle.config().job(job);
  }

  /** Returns whether capacity in a queue is reserved for another job. */
  boolean keepsFrom(Job job, String queue) {
    Job holder = holderIn(queue);
    return holder != null && !holder.name().equals(job.name());
  }

  /** A task of a job starts: this ends the job's reservations. */
  void started(String job, long now) {
    since.put(job, now);
    holders.values().removeIf(job::equals);
  }

  /** Records the core's reservations and checks the new ones. */
  public void observe(List<CapacityReservation> all, long now) {
    for (Job job : oracle.config().jobs().values()) {
      if (oracle.isStopped(job)) {
        since.put(job.name(), now);
      }
      since.putIfAbsent(job.name(), now);
      if (lacksWorker(job)) {
        lackedWorker.put(job.name(), now);
        lackWorker.add(job.name());
      }
    }
    replace(all);
    Set<String> once = new HashSet<>();
    for (CapacityReservation kept : all) {
      Job job = oracle.config().job(kept.job());
      assertThat(job).as("%s is there", kept).isNotNull();
      assertThat(once.add(kept.kind() + kept.job())).as("%s is alone", kept).isTrue();
      if (job != null) {
        assertThat(oracle.isStopped(job)).as("%s is active", kept).isFalse();
        if (!last.contains(kept)) {
          check(kept, job, now);
        }
      }
    }
    last = List.copyOf(all);
  }

  /** The core handles a clock event: waits that began since the last one count from now. */
  public void advanced(long now) {
    lackWorker.forEach(job -> lackedWorker.put(job, now));
    lackWorker.clear();
  }

  /**
   * Returns whether a job may be waiting for capacity on a worker that is reserved for it or may be
   * soon: until it has waited for its {@code reserve_after}, plus a second. Its nodes stay reserved
   * that long.
   */
  boolean mayHope(Job job, long now) {
    if (!isHeavy(CapacityReservation.Kind.WORKER, "", job)) {
      return false;
    }
    long after = job.scheduling().reserveAfter().map(Duration::toMillis).orElse(0L);
    Long began = lackedWorker.get(job.name());
    return lacksWorker(job)
        || last.stream().anyMatch(k -> k.kind() == CapacityReservation.Kind.WORKER && isFor(k, job))
        || (began != null && now - began < after + RECHECK_MILLIS);
  }

  private static boolean isFor(CapacityReservation kept, Job job) {
    return kept.job().equals(job.name());
  }

  private boolean lacksWorker(Job job) {
    return !oracle.pool().failures(oracle.config(), job, oracle.pool().hostOf(job)).isEmpty();
  }

  private void check(CapacityReservation kept, Job job, long now) {
    assertThat(job.scheduling().reserveAfter()).as("%s may hold", kept).isPresent();
    long after = job.scheduling().reserveAfter().orElseThrow().toMillis();
    assertThat(now - since.getOrDefault(job.name(), now))
        .as("%s has waited", kept)
        .isGreaterThanOrEqualTo(after);
    assertThat(kept.sinceMillis() - kept.waitsSinceMillis()).isGreaterThanOrEqualTo(after);
    assertThat(isHeavy(kept.kind(), kept.name(), job)).as("%s can be starved", kept).isTrue();
    if (kept.kind() == CapacityReservation.Kind.QUEUE) {
      assertThat(kept.name()).isEqualTo(job.scheduling().queue());
      assertThat(oracle.queues().isLargeEnough(kept.name(), job)).as("%s fits", kept).isTrue();
      assertThat(oracle.queues().failures(job))
          .as("%s lacks room", kept)
          .anyMatch(failure -> failure.kind() == Kind.QUEUE_LIMIT);
    } else {
      assertThat(oracle.pool().isLargeEnough(oracle.config(), job, kept.name()))
          .as("%s fits", kept)
          .isTrue();
    }
  }

  private boolean isHeavy(CapacityReservation.Kind kind, String queue, Job job) {
    List<Resource> resources = oracle.config().settings().resources().all();
    if (kind == CapacityReservation.Kind.WORKER) {
      return isStarved(
          job,
          List.copyOf(oracle.config().jobs().values()),
          resources.stream().filter(r -> r.level() == oracle.topology().levels().worker()).toList(),
          oracle.queues()::need);
    }
    QueueSpec spec =
        oracle.config().settings().rules().queues().stream()
            .filter(each -> each.name().equals(queue))
            .findFirst()
            .orElseThrow();
    return isStarved(
        job,
        oracle.config().jobs().values().stream()
            .filter(other -> other.scheduling().queue().equals(queue))
            .toList(),
        resources.stream().filter(r -> OracleQueues.isCapped(spec, r)).toList(),
        oracle.queues()::need);
  }
}
