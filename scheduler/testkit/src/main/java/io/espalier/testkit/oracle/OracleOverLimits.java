package io.espalier.testkit.oracle;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.config.Levels;
import io.espalier.core.config.Resource;
import io.espalier.core.running.WorkerInfo;
import io.espalier.core.scheduling.OverLimitScan;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.status.TaskKey;
import io.espalier.testkit.oracle.Oracle.Place;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Tracks where usage exceeds a limit and since when, by scanning the running tasks after every
 * event: on nodes and on workers, with or without {@code kill_over_limit_after_sec} ({@link
 * io.espalier.core.scheduling.OverLimitScan}).
 *
 * <p>The core applies a sliced operation at a moment of its choice. So a place that is first over
 * its limit during such an operation may be over it since any moment of it, and a place where tasks
 * ended meanwhile may have been within its limit briefly. So may any place when several changes of
 * limits are in one operation, since the core makes one after the other.
 */
public final class OracleOverLimits {
  private final Oracle oracle;
  private final Map<At, Since> all = new HashMap<>();

  /** The places where tasks ended since the slices began; null: no sliced operation is running. */
  private @Nullable Set<Place> touched;

  /** How many changes of limits the sliced operation has. */
  private int changes;

  private long begun;
  private long slicesFrom;
  private long now;

  private record At(Place place, String resource) {}

  /**
   * @param before the previous period, if it may have ended and begun again during slices; null: it
   *     did not
   */
  private record Since(long from, long until, @Nullable Since before) {
    boolean allows(long millis) {
      return (from <= millis && millis <= until) || (before != null && before.allows(millis));
    }
  }

  OracleOverLimits(Oracle oracle) {
    this.oracle = oracle;
  }

  // ---- events

  void advance(long nowMillis) {
    now = nowMillis;
  }

  /** The core begins to apply limits in slices; {@link #sliced} follows. */
  public void slices(long fromMillis) {
    touched = new HashSet<>();
    changes = 0;
    slicesFrom = fromMillis;
  }

  /** All slices are in force. */
  public void sliced() {
    look(null);
    touched = null;
  }

  /** An update begins; its contents may be in force from now on. */
  void begin() {
    begun = now;
  }

  /** The update is in force now; {@link #sliced} follows. */
  public void slicesOfChange() {
    slices(begun);
  }

  /** A task has taken slots at these places. */
  void started(Collection<Place> places) {
    if (touched == null) {
      look(Set.copyOf(places));
    }
  }

  /** A task has released its slots at these places. */
  void ended(Collection<Place> places) {
    if (touched == null) {
      look(Set.copyOf(places));
    } else {
      touched.addAll(places);
    }
  }

  /** Restarts the period of a worker that moved to another host; {@link #changed} follows. */
  void workers(List<WorkerInfo> news) {
    for (WorkerInfo worker : news) {
      WorkerInfo before = oracle.workers().get(worker.ref().shard());
      if (before != null && !before.host().equals(worker.host())) {
        Place place = new Place(Levels.WORKER, worker.ref().shard());
        all.keySet().removeIf(at -> at.place().equals(place));
      }
    }
  }

  /** Limits, nodes or workers may have changed. */
  void changed() {
    if (touched == null) {
      look(null);
    } else {
      changes++;
    }
  }

  private void look(@Nullable Set<Place> only) {
    Map<At, Since> before = Map.copyOf(all);
    all.keySet().removeIf(at -> only == null || only.contains(at.place()));
    for (Map.Entry<At, Integer> used : used(only).entrySet()) {
      At at = used.getKey();
      if (used.getValue() > limit(at)) {
        all.put(at, since(at, before.get(at)));
      }
    }
  }

  private Since since(At at, @Nullable Since before) {
    if (touched == null) {
      return before == null ? new Since(now, now, null) : before;
    }
    if (before == null) {
      return new Since(slicesFrom, now, null);
    }
    boolean mayBeNew = changes > 1 || touched.contains(at.place());
    return mayBeNew ? new Since(slicesFrom, now, before) : before;
  }

  /** Returns the slots in use of existing resources at existing places. */
  private Map<At, Integer> used(@Nullable Set<Place> only) {
    Map<At, Integer> used = new HashMap<>();
    for (Oracle.Run run : oracle.running().values()) {
      run.charges()
          .forEach(
              (place, amounts) -> {
                if ((only == null || only.contains(place)) && isThere(place)) {
                  amounts.forEach(
                      (resource, slots) -> {
                        if (slots > 0 && isOf(resource, place)) {
                          used.merge(new At(place, resource), slots, Integer::sum);
                        }
                      });
                }
              });
    }
    return used;
  }

  private boolean isThere(Place place) {
    return place.level().equals(Levels.WORKER)
        ? oracle.workers().containsKey(place.node())
        : oracle.isThere(place);
  }

  private boolean isOf(String name, Place place) {
    Resource resource = oracle.config().settings().resources().find(name);
    return resource != null
        && oracle.config().settings().levels().name(resource.level()).equals(place.level());
  }

  private Resource resource(At at) {
    Resource resource = oracle.config().settings().resources().find(at.resource());
    if (resource == null) {
      throw new AssertionError("no resource " + at);
    }
    return resource;
  }

  private int limit(At at) {
    var worker = oracle.workers().get(at.place().node());
    return worker != null && at.place().level().equals(Levels.WORKER)
        ? oracle.limitOn(worker, resource(at))
        : oracle.baseOf(at.place(), resource(at));
  }

  // ---- comparing

  /**
   * Checks that the core has the same places and times, and finds the tasks that use slots there.
   */
  public void check(SchedulingCore core, Random random) {
    Map<String, Duration> after = oracle.config().settings().rules().killOverLimit();
    OverLimitScan every = scan(core, Long.MAX_VALUE / 2, random);
    Map<At, Long> since = new HashMap<>();
    for (OverLimitScan.Found found : every.found()) {
      check(core, found, since);
    }
    Set<At> expected = new HashSet<>(all.keySet());
    expected.removeIf(at -> !after.containsKey(at.resource()));
    assertThat(since.keySet()).as("places over a limit").isEqualTo(expected);
    long next = Long.MAX_VALUE;
    for (Map.Entry<At, Long> each : since.entrySet()) {
      next = Math.min(next, each.getValue() + millis(after, each.getKey()));
    }
    assertThat(core.capacity().nextOverLimitMillis()).as("the next kill").isEqualTo(next);
    long until = next == Long.MAX_VALUE ? now : next + random.nextInt(3) - 1;
    Set<At> due = new HashSet<>();
    scan(core, until, random).found().forEach(found -> due.add(at(found)));
    expected.removeIf(at -> since.getOrDefault(at, 0L) + millis(after, at) > until);
    assertThat(due).as("due at %d", until).isEqualTo(expected);
  }

  private static long millis(Map<String, Duration> after, At at) {
    return after.getOrDefault(at.resource(), Duration.ZERO).toMillis();
  }

  private static OverLimitScan scan(SchedulingCore core, long until, Random random) {
    OverLimitScan scan = core.overLimits(until);
    while (!scan.step(1 + random.nextInt(40))) {
      assertThat(scan.isStale()).isFalse();
    }
    return scan;
  }

  private At at(OverLimitScan.Found found) {
    boolean isSelf = found.level().equals(Levels.WORKER) && oracle.workers().containsKey("");
    return new At(new Place(found.level(), isSelf ? "" : found.node()), found.resource());
  }

  private void check(SchedulingCore core, OverLimitScan.Found found, Map<At, Long> since) {
    At at = at(found);
    assertThat(since.put(at, found.sinceMillis())).as("%s twice", at).isNull();
    Since known = all.get(at);
    assertThat(known).as("%s is over its limit", at).isNotNull();
    if (known != null) {
      assertThat(known.allows(found.sinceMillis()))
          .as("%s since %s: %d", at, known, found.sinceMillis())
          .isTrue();
      // From now on the exact time is known.
      all.put(at, new Since(found.sinceMillis(), found.sinceMillis(), null));
    }
    assertThat(found.limit()).as("limit of %s", at).isEqualTo(limit(at));
    assertThat(found.used())
        .as("use of %s", at)
        .isEqualTo(used(Set.of(at.place())).getOrDefault(at, 0));
    Map<TaskKey, Integer> holders = new HashMap<>();
    for (Oracle.Run run : oracle.running().values()) {
      int slots = run.charges().getOrDefault(at.place(), Map.of()).getOrDefault(at.resource(), 0);
      if (slots > 0) {
        holders.put(run.task(), slots);
      }
    }
    assertThat(holders(core, found)).as("who holds slots of %s", at).isEqualTo(holders);
  }

  private static Map<TaskKey, Integer> holders(SchedulingCore core, OverLimitScan.Found found) {
    Map<TaskKey, Integer> holders = new HashMap<>();
    for (int i = 0; i < found.holders(); i++) {
      long run = found.run(i);
      TaskKey task = new TaskKey(core.running().jobName(run), core.running().nodeName(run));
      assertThat(holders.put(task, found.slots(i))).as("%s twice", task).isNull();
    }
    return holders;
  }
}
