package io.espalier.testkit.scheduling;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.api.Explanation.Kind;
import io.espalier.core.config.Config;
import io.espalier.core.config.Job;
import io.espalier.core.config.Resource;
import io.espalier.core.scheduling.Reservation;
import io.espalier.core.status.TaskKey;
import io.espalier.testkit.scheduling.Oracle.Place;
import java.time.Duration;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The nodes that are kept free (design ruling 8, ADR 0035), by brute force. Which of those that
 * have waited long enough gets a node is the core's choice; here it is checked that it has waited,
 * that it still has a reason, and, by {@link Oracle}, that nothing else is closed to anybody.
 */
final class OracleReservations {
  /** The core looks after what is kept free that often. */
  private static final long RECHECK_MILLIS = 1_000 + 10;

  /** What keeps a task, and is neither a lack of slots nor short-lived. */
  private static final Set<Kind> OTHERWISE =
      EnumSet.complementOf(
          EnumSet.of(
              Kind.RESOURCE,
              Kind.RESERVED,
              Kind.NO_WORKER,
              Kind.START_RATE,
              Kind.QUEUE_LIMIT,
              Kind.MAX_CONCURRENT,
              Kind.JOB_DEPENDENCY));

  private final Oracle oracle;
  private final Map<Place, String> holders = new HashMap<>();

  /** Since when a job has wanted a node, and since when what is held was too small for it. */
  private final Map<Claim, Long> since = new HashMap<>();

  private final Map<Claim, Long> idleSince = new HashMap<>();

  /** When the last round was over. */
  private long roundAt;

  private record Claim(Place place, String job) {}

  OracleReservations(Oracle oracle) {
    this.oracle = oracle;
  }

  /** Whether so much is kept for another job that it does not fit. */
  boolean keepsFrom(Job job, Place place, Resource resource) {
    String holder = holders.isEmpty() ? null : holders.get(place);
    int need = job.needs().get(resource.index());
    return holder != null
        && need > 0
        && !holder.equals(job.name())
        && need > oracle.free(place, resource) - need(holder, resource);
  }

  private int need(String job, Resource resource) {
    Job configured = oracle.config().job(job);
    return configured == null ? 0 : Math.max(0, configured.needs().get(resource.index()));
  }

  /** A task starts: what was kept for its job on its path is not any more. */
  void started(TaskKey task, List<Place> path, long now) {
    for (Place place : path) {
      holders.remove(place, task.job());
      since.computeIfPresent(new Claim(place, task.job()), (claim, old) -> now);
    }
  }

  /** With a round it is seen which jobs wait for others, and nothing is kept for them any more. */
  void beginRound() {
    holders.values().removeIf(oracle::waitsForJobs);
  }

  /** A round is over. */
  void roundOver(long now) {
    roundAt = now;
  }

  /** Within a round nothing new is kept. */
  void duringRound(List<Reservation> all) {
    assertThat(holders).containsAllEntriesOf(byPlace(all));
    replace(all);
  }

  private static Map<Place, String> byPlace(List<Reservation> all) {
    Map<Place, String> byPlace = new HashMap<>();
    all.forEach(r -> byPlace.put(new Place(r.level(), r.node()), r.job()));
    assertThat(byPlace).hasSameSizeAs(all);
    return byPlace;
  }

  private void replace(List<Reservation> all) {
    holders.clear();
    holders.putAll(byPlace(all));
  }

  /** Takes note of what is wanted now and of what the core keeps free, and checks that. */
  void observe(List<Reservation> all, long now) {
    Map<Place, String> before = Map.copyOf(holders);
    replace(all);
    Map<Claim, TaskKey> wanted = wanted();
    since.keySet().retainAll(wanted.keySet());
    wanted.keySet().forEach(claim -> since.putIfAbsent(claim, now));
    Set<Claim> held = new HashSet<>();
    for (Reservation kept : all) {
      Claim claim = new Claim(new Place(kept.level(), kept.node()), kept.job());
      held.add(claim);
      Job job = oracle.config().job(kept.job());
      assertThat(job).as("%s is there", claim).isNotNull();
      assertThat(wanted).as("%s wants something", claim).containsKey(claim);
      if (job == null) {
        return;
      }
      Duration after = job.scheduling().reserveAfter().orElse(null);
      assertThat(after).as("%s may hold", claim).isNotNull();
      if (after != null && !kept.job().equals(before.get(claim.place()))) {
        assertThat(now - since.getOrDefault(claim, now))
            .as("%s has waited", claim)
            .isGreaterThanOrEqualTo(after.toMillis());
        assertThat(kept.sinceMillis() - kept.waitsSinceMillis())
            .isGreaterThanOrEqualTo(after.toMillis());
      }
      if (fits(job, claim.place())) {
        idleSince.remove(claim);
      } else {
        long first = idleSince.merge(claim, now, Math::min);
        // It is given up when a round is over.
        assertThat(roundAt - first).as("%s can never fit", claim).isLessThan(RECHECK_MILLIS + 2500);
      }
    }
    idleSince.keySet().retainAll(held);
  }

  private boolean fits(Job job, Place place) {
    for (Resource resource : oracle.config().settings().resources().all()) {
      if (oracle.topology().levels().name(resource.level()).equals(place.level())
          && job.needs().get(resource.index()) > oracle.limitOf(place, resource)) {
        return false;
      }
    }
    return true;
  }

  /**
   * Every place that a task would pass which lacks nothing but slots there or above.
   *
   * @return for each job and place one such task
   */
  private Map<Claim, TaskKey> wanted() {
    Map<Claim, TaskKey> wanted = new HashMap<>();
    for (Job job : oracle.config().jobs().values()) {
      if (job.scheduling().reserveAfter().isPresent() && isHeavy(job)) {
        for (TaskKey task : oracle.tasks(job)) {
          oracle.wantedBy(task, OTHERWISE).forEach(p -> wanted.put(new Claim(p, job.name()), task));
        }
      }
    }
    return wanted;
  }

  private boolean isHeavy(Job job) {
    Config config = oracle.config();
    List<Resource> all =
        config.settings().resources().all().stream()
            .filter(r -> r.level() < oracle.topology().levels().worker())
            .toList();
    for (Resource a : all) {
      for (Resource b : all) {
        boolean outrun = isTakenWithLess(job, a, b);
        if (outrun && (a.equals(b) || isTakenWithLess(job, b, a)) && need(job, a) > 0) {
          return true;
        }
      }
    }
    return false;
  }

  private boolean isTakenWithLess(Job job, Resource taken, Resource less) {
    return oracle.config().jobs().values().stream()
        .anyMatch(other -> need(other, taken) > 0 && need(other, less) < need(job, less));
  }

  private static int need(Job job, Resource resource) {
    return resource.level() <= job.level() ? Math.max(0, job.needs().get(resource.index())) : 0;
  }
}
