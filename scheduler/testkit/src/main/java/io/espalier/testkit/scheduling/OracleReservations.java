package io.espalier.testkit.scheduling;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.api.Explanation.Kind;
import io.espalier.core.config.Config;
import io.espalier.core.config.Job;
import io.espalier.core.config.Resource;
import io.espalier.core.scheduling.reservation.Reservation;
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
 * The nodes that are kept free (docs/adr/0035-reservations.md), by brute force. Which of those that
 * have waited long enough gets a node, and at which look, is the core's choice. Here it is checked
 * that it has waited; that a job holds no more than its share; that what is held was wanted at each
 * moment, and could be used at each look, of which it is known exactly when they are; and, by
 * {@link Oracle}, that nothing else is closed to anybody.
 */
final class OracleReservations {
  /** The core looks after what is kept free that often. */
  private static final long RECHECK_MILLIS = 1_000;

  private static final long TICK_MILLIS = 10;

  /** A job holds one of so many nodes of a level, at least one. */
  private static final int SHARE = 20;

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

  private final Map<Claim, Hold> holds = new HashMap<>();

  /** When this world took over what was held. */
  private long changedAt = Long.MIN_VALUE;

  private record Claim(Place place, String job) {}

  /** What is known of the looks after a node that is kept free. */
  private static final class Hold {
    final long since;

    /** When the next one is due, at the earliest and at the latest. */
    long dueFrom;

    long dueTo;

    /** It comes with the end of the next round, or with the next look at the clock. */
    boolean isRipe;

    /** Unless it has been already, or is not due yet. */
    boolean isUncertain;

    /** The last one at which it lacked slots, at the latest. */
    long lackedAt;

    /**
     * @param armed when the core began to look after it
     */
    Hold(long since, long armed, long now) {
      this.since = since;
      lackedAt = now;
      next(armed, armed);
      // It was not seen before, and one look may have been already.
      isRipe = dueTo <= tick(now);
      isUncertain = isRipe;
    }

    /** The latest look was between these two times. */
    void next(long from, long to) {
      dueFrom = tick(from + RECHECK_MILLIS + TICK_MILLIS - 1);
      dueTo = tick(to + RECHECK_MILLIS + TICK_MILLIS - 1);
      isRipe = false;
      isUncertain = false;
    }

    /**
     * The core looks at what is due by now.
     *
     * @param once whether it did so only once: with the second time it looks at what it found with
     *     the first
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

  /** A round, or a part of one, is over: the core looks at what is ripe. */
  void roundOver(List<Reservation> all, long now) {
    Map<Place, String> before = Map.copyOf(holders);
    replace(all);
    look(all, before, now, now - RECHECK_MILLIS);
  }

  /**
   * The core looks at the clock, which also is a look at what was ripe before.
   *
   * @param once whether it did so only once
   */
  void advanced(List<Reservation> all, long now, boolean once) {
    Map<Place, String> before = Map.copyOf(holders);
    replace(all);
    // What was uncertain may have become ripe only now.
    look(all, before, now, now - 2 * RECHECK_MILLIS);
    holds.values().forEach(hold -> hold.clockIs(now, once));
  }

  /** What was held is taken over by another world. */
  void changed(long now) {
    changedAt = now;
    holds.values().forEach(hold -> hold.next(now, now));
  }

  /**
   * @param before what was held when the core began to look: it looks at one after another, so that
   *     what it ends later was still in the way of those before
   * @param lookedFrom when what it may not have looked at now was looked at, at the earliest
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
        assertThat(oracle.mayGoUp(job, claim.place()))
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
    if (oracle.lacksSlotsUpwards(job, place)) {
      return true;
    }
    Map<Place, String> after = Map.copyOf(holders);
    holders.putAll(before);
    boolean lacked = oracle.lacksSlotsUpwards(job, place);
    holders.clear();
    holders.putAll(after);
    return lacked;
  }

  private static Claim claim(Reservation kept) {
    return new Claim(new Place(kept.level(), kept.node()), kept.job());
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
          int nodes = TreeFixture.names(oracle.topology(), level).size();
          assertThat(count).as("%s holds", key).isLessThanOrEqualTo(Math.max(1, nodes / SHARE));
        });
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
