package io.espalier.testkit.oracle;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.api.view.Explanation.Kind;
import io.espalier.core.config.Job;
import io.espalier.core.config.Resource;
import io.espalier.core.scheduling.reservation.Reservation;
import io.espalier.core.status.TaskKey;
import io.espalier.testkit.oracle.Oracle.Place;
import java.time.Duration;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The brute-force model of node reservations (docs/adr/0035-reservations.md). The core chooses
 * which of the jobs that have waited long enough gets a node, and at which check. This class
 * verifies that the job has waited; that it reserves no more than its share; that it wanted the
 * reserved nodes at each moment; and that it could use them at each check, the times of which are
 * known exactly. {@link Oracle} verifies that nothing else is blocked for anybody.
 */
public final class OracleReservations extends OracleHolders<Place, Reservation> {
  private static final long TICK_MILLIS = 10;

  /** A job may reserve one node in this many of a level, but at least one. */
  private static final int SHARE = 20;

  /** The conditions that block a task and are neither a lack of slots nor short-lived. */
  private static final Set<Kind> OTHERWISE =
      EnumSet.complementOf(
          EnumSet.of(
              Kind.RESOURCE,
              Kind.RESERVED,
              Kind.NO_WORKER,
              Kind.START_RATE,
              Kind.QUEUE_LIMIT,
              Kind.MAX_CONCURRENT,
              Kind.STARTING,
              Kind.JOB_DEPENDENCY));

  /** When a job began to want a node; also for a reservation that became too small for it. */
  private final Map<Claim, Long> since = new HashMap<>();

  private final Map<Claim, Hold> holds = new HashMap<>();

  /** When the current configuration took over the reservations. */
  private long changedAt = Long.MIN_VALUE;

  private record Claim(Place place, String job) {}

  /** What is known of the core's checks of one reservation. */
  private static final class Hold {
    final long since;

    /** The earliest and the latest time at which the next check is due. */
    long dueFrom;

    long dueTo;

    /** True when the check comes with the end of the next round, or with the next clock event. */
    boolean isRipe;

    /** True when a ripe check may have happened already, or may not be due yet. */
    boolean isUncertain;

    /** The latest possible time of the last check at which slots were lacking. */
    long lackedAt;

    /**
     * @param armed when the core began its checks
     */
    Hold(long since, long armed, long now) {
      this.since = since;
      lackedAt = now;
      next(armed, armed);
      // The reservation was not seen before, and one check may have happened already.
      isRipe = dueTo <= tick(now);
      isUncertain = isRipe;
    }

    /** The latest check was between these two times. */
    void next(long from, long to) {
      dueFrom = tick(from + RECHECK_MILLIS + TICK_MILLIS - 1);
      dueTo = tick(to + RECHECK_MILLIS + TICK_MILLIS - 1);
      isRipe = false;
      isUncertain = false;
    }

    /**
     * The core performs the checks that are due by now.
     *
     * @param once whether it handled a single clock event; with a second one it performs the checks
     *     that the first one found due
     */
    void clockIs(long now, boolean once) {
      if (!isRipe && dueFrom <= tick(now)) {
        isRipe = true;
        isUncertain = !once || dueTo > tick(now);
      }
    }

    private static long tick(long millis) {
      return Math.floorDiv(millis, TICK_MILLIS) * TICK_MILLIS;
    }
  }

  OracleReservations(Oracle oracle) {
    super(oracle);
  }

  @Override
  Place place(Reservation reservation) {
    return new Place(reservation.level(), reservation.node());
  }

  @Override
  String job(Reservation reservation) {
    return reservation.job();
  }

  /** Returns whether a reservation of another job leaves too few slots. */
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

  /** A task starts: this ends the reservations of its job on its path. */
  void started(TaskKey task, List<Place> path, long now) {
    for (Place place : path) {
      holders.remove(place, task.job());
      since.computeIfPresent(new Claim(place, task.job()), (claim, old) -> now);
    }
  }

  /** A round, or a part of one, is over: the core performs the ripe checks. */
  public void roundOver(List<Reservation> all, long now) {
    Map<Place, String> before = Map.copyOf(holders);
    replace(all);
    look(all, before, now, now - RECHECK_MILLIS);
  }

  /**
   * The core handles a clock event, and first performs the checks that were ripe before.
   *
   * @param once whether it handled a single clock event
   */
  public void advanced(List<Reservation> all, long now, boolean once) {
    Map<Place, String> before = Map.copyOf(holders);
    replace(all);
    // An uncertain check may have become ripe only now.
    look(all, before, now, now - 2 * RECHECK_MILLIS);
    holds.values().forEach(hold -> hold.clockIs(now, once));
  }

  /** A new configuration takes over the reservations. */
  public void changed(long now) {
    changedAt = now;
    holds.values().forEach(hold -> hold.next(now, now));
  }

  /**
   * Verifies the checks of the core.
   *
   * @param before reservations when the checks began: the core checks one after another, so one
   *     that it ends later still blocked the earlier ones
   * @param lookedFrom earliest time of a check that the core may not have performed now
   */
  private void look(List<Reservation> all, Map<Place, String> before, long now, long lookedFrom) {
    for (Reservation kept : all) {
      Claim claim = claim(kept);
      Hold hold = holds.get(claim);
      Job job = oracle.config().job(kept.job());
      if (hold == null || job == null || hold.since != kept.sinceMillis() || !hold.isRipe) {
        continue;
      }
      if (hold.isUncertain) {
        hold.lackedAt = now;
        hold.next(lookedFrom, now);
      } else {
        assertThat(oracle.reach().mayGoUp(job, claim.place()))
            .as("%s, looked after at %d, may be used", kept, now)
            .isTrue();
        if (lacksSlotsUpwards(job, claim.place(), before) || oracle.rooms().mayHope(job, now)) {
          hold.lackedAt = now;
        }
        long after = job.scheduling().reserveAfter().map(Duration::toMillis).orElse(0L);
        assertThat(now - hold.lackedAt)
            .as("%s could have been used since", kept)
            .isLessThan(Math.max(RECHECK_MILLIS, after));
        hold.next(now, now);
      }
    }
  }

  private boolean lacksSlotsUpwards(Job job, Place place, Map<Place, String> before) {
    if (oracle.reach().lacksSlotsUpwards(job, place)) {
      return true;
    }
    Map<Place, String> after = Map.copyOf(holders);
    holders.putAll(before);
    boolean lacked = oracle.reach().lacksSlotsUpwards(job, place);
    holders.clear();
    holders.putAll(after);
    return lacked;
  }

  private Claim claim(Reservation kept) {
    return new Claim(place(kept), kept.job());
  }

  /** Records what is wanted now and the core's reservations, and checks them. */
  public void observe(List<Reservation> all, long now) {
    Map<Place, String> before = Map.copyOf(holders);
    replace(all);
    Map<Claim, TaskKey> wanted = wanted();
    since.keySet().retainAll(wanted.keySet());
    wanted.keySet().forEach(claim -> since.putIfAbsent(claim, now));
    Set<Claim> held = new HashSet<>();
    for (Reservation kept : all) {
      Claim claim = claim(kept);
      held.add(claim);
      Hold hold = holds.get(claim);
      if (hold == null || hold.since != kept.sinceMillis()) {
        long armed = Math.max(kept.sinceMillis(), changedAt);
        holds.put(claim, new Hold(kept.sinceMillis(), armed, now));
      }
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
    }
    holds.keySet().retainAll(held);
    checkShares(all);
  }

  private void checkShares(List<Reservation> all) {
    Map<List<String>, Integer> counts = new HashMap<>();
    all.forEach(kept -> counts.merge(List.of(kept.job(), kept.level()), 1, Integer::sum));
    counts.forEach(
        (key, count) -> {
          int level = oracle.topology().levels().find(key.get(1));
          int nodes = OracleTree.names(oracle.topology(), level).size();
          assertThat(count).as("%s holds", key).isLessThanOrEqualTo(Math.max(1, nodes / SHARE));
        });
  }

  /**
   * Returns every place that a task would pass if it lacks nothing but slots there or above.
   *
   * @return for each job and place one such task
   */
  private Map<Claim, TaskKey> wanted() {
    Map<Claim, TaskKey> wanted = new HashMap<>();
    for (Job job : oracle.config().jobs().values()) {
      if (job.scheduling().reserveAfter().isPresent() && isHeavy(job)) {
        for (TaskKey task : oracle.tasks(job)) {
          oracle
              .reach()
              .wantedBy(task, OTHERWISE)
              .forEach(p -> wanted.put(new Claim(p, job.name()), task));
        }
      }
    }
    return wanted;
  }

  private boolean isHeavy(Job job) {
    List<Resource> all =
        oracle.config().settings().resources().all().stream()
            .filter(r -> r.level() < oracle.topology().levels().worker())
            .toList();
    return isStarved(job, oracle.config().jobs().values(), all, OracleReservations::need);
  }

  private static int need(Job job, Resource resource) {
    return resource.level() <= job.level() ? Math.max(0, job.needs().get(resource.index())) : 0;
  }
}
