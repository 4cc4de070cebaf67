package io.espalier.core.scheduling;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.api.view.Explanation;
import io.espalier.core.api.view.Explanation.Kind;
import io.espalier.core.running.WorkerRef;
import io.espalier.core.scheduling.gate.Gate;
import io.espalier.core.scheduling.gate.GateKind;
import io.espalier.core.scheduling.gate.Scope;
import io.espalier.core.scheduling.reservation.Reservation;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.store.LimitOverride;
import io.espalier.testkit.scheduling.ConfigFixture;
import io.espalier.testkit.scheduling.JobFixture;
import io.espalier.testkit.scheduling.TestPolicies;
import io.espalier.testkit.scheduling.TreeFixture;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * Nodes are kept free for tasks that lighter ones would keep waiting for ever
 * (docs/adr/0035-reservations.md).
 */
final class ReservationTest extends StarvingCore {
  private static final Optional<Duration> NEVER = Optional.empty();

  /** Units of a slice of a change, of which there are many then. */
  private static final int FEW = 20;

  ReservationTest() {
    config.resource("instance", "slots", 3);
  }

  private static JobFixture heavy(Optional<Duration> wait) {
    return new JobFixture("b").level("host").needs("slots", 2).reserveAfter(wait);
  }

  private void apply() {
    core.apply(config.build(), TreeFixture.of(config.levels(), "h1", "h2", "h3", "h4", "h5"), now);
    turn();
  }

  /** Endless light work fills the instance, then the heavy job comes. */
  private void fill(Optional<Duration> wait) {
    config.job("a", new JobFixture("a").level("host").needs("slots", 1).reserveAfter(wait));
    apply();
    config.job("b", heavy(wait));
    apply();
    assertThat(started).containsExactly("a", "a", "a");
  }

  private static Optional<Duration> seconds(int seconds) {
    return Optional.of(Duration.ofSeconds(seconds));
  }

  @Test
  void withoutIt_aHeavyJobNeverStarts() {
    fill(NEVER);
    assertThat(endsUntilHeavy(10_000)).isEqualTo(-1);
    assertThat(core.nextTimerMillis()).isEqualTo(Long.MAX_VALUE);
  }

  @Test
  void aHeavyJobStartsAfterItsWaitAndTwoEnds() {
    fill(seconds(60));
    long begun = now;
    int ends = endsUntilHeavy(10_000);
    assertThat(now - begun).isBetween(60_000L, 60_000L + 3 * 10);
    assertThat(ends).isEqualTo((now - begun) / 10);
    assertThat(core.capacity().reservations()).isEmpty();
    assertThat(started).hasSize(3 + ends - 1);
  }

  @Test
  void theNextTaskWaitsAnewSoThatLightOnesAreNotLockedOut() {
    policy = TestPolicies.LIGHT_FIRST;
    fill(seconds(10));
    endsUntilHeavy(2_000);
    long first = now;
    started.clear();
    assertThat(endsUntilHeavy(2_000)).isPositive();
    assertThat(now - first).isBetween(10_000L, 10_000L + 5 * 10);
    assertThat(started.stream().filter("a"::equals).count()).isGreaterThan(900);
  }

  @Test
  void oneSlotIdlesForAsLongAsOneTaskLasts() {
    fill(seconds(10));
    long idle = 0;
    while (!started.contains("b")) {
      end();
      idle += core.capacity().reservedSlots() * 10;
    }
    // One slot, from one end to the next.
    assertThat(idle).isEqualTo(10);
  }

  @Test
  void bothSidesAreExplained() {
    fill(seconds(10));
    while (core.capacity().reservations().isEmpty()) {
      end();
    }
    Explanation waiting = core.tasks().explain("b", "h1");
    assertThat(waiting.reasons()).hasSize(1);
    assertThat(waiting.reasons().get(0).kind()).isEqualTo(Kind.RESOURCE);
    assertThat(waiting.reasons().get(0).message())
        .isEqualTo(
            "needs 2 of slots, 0 of 3 are free; kept free for job b, task h1, since"
                + " 1970-01-01T00:00:11Z");
    Reservation kept = core.capacity().reservations().get(0);
    assertThat(kept.job()).isEqualTo("b");
    assertThat(kept.sinceMillis() - kept.waitsSinceMillis()).isEqualTo(10_000);
    Long run = running.remove();
    String node = core.running().nodeName(run);
    core.finish(run, null);
    Explanation closed = core.tasks().explain("a", node);
    assertThat(closed.reasons()).hasSize(1);
    assertThat(closed.reasons().get(0).kind()).isEqualTo(Kind.RESERVED);
    assertThat(closed.reasons().get(0).message())
        .isEqualTo(
            "needs 1 of slots, 1 of 3 are free, but kept free for job b, task h1, since"
                + " 1970-01-01T00:00:11Z");
    assertThat(closed.path().get(0).reserved())
        .isEqualTo(new Explanation.Reserved("b", "h1", kept.sinceMillis(), 1));
    assertThat(core.capacity().reservation(0)).isNotNull();
  }

  @Test
  void whatIsPausedNeitherWaitsNorHolds() {
    fill(seconds(10));
    core.gates().close(Gate.of(GateKind.PAUSE, "b", ""));
    assertThat(endsUntilHeavy(2_000)).isEqualTo(-1);
    assertThat(core.capacity().reservations()).isEmpty();
    core.gates().open(GateKind.PAUSE, "b");
    long resumed = now;
    while (core.capacity().reservations().isEmpty()) {
      end();
    }
    assertThat(now - resumed).isBetween(10_000L, 10_020L);
    core.gates().close(Gate.of(GateKind.PAUSE, "b", ""));
    assertThat(core.capacity().reservations()).isEmpty();
    turn();
    assertThat(core.running().count()).isEqualTo(3);
  }

  @Test
  void whatIsBelowAClosedNodeNeitherWaitsNorHolds() {
    fill(seconds(10));
    Scope instance = Scope.node("instance", TreeFixture.INSTANCE);
    Gate gate = new Gate(GateKind.NODE_CLOSED, instance, "", "", 0, 0);
    now += 8_000;
    turn();
    core.gates().close(gate);
    now += 5_000;
    turn();
    assertThat(core.capacity().reservations()).isEmpty();
    core.gates().open(GateKind.NODE_CLOSED, instance);
    long opened = now;
    while (core.capacity().reservations().isEmpty()) {
      end();
    }
    assertThat(now - opened).isBetween(10_000L, 10_020L);
    core.gates().close(gate);
    assertThat(core.capacity().reservations()).isEmpty();
    core.verify();
  }

  @Test
  void openingANodeCostsNothingForTheWaitsAtOthers() {
    long few = workOfOpening(new SchedulingCore(5), 20, "h7");
    long many = workOfOpening(new SchedulingCore(5), 2_000, "h7");
    assertThat(many).isEqualTo(few).isLessThan(20);
    // All nodes are below it.
    long all = workOfOpening(new SchedulingCore(5), 2_000, TreeFixture.INSTANCE);
    assertThat(all).isBetween(2_000L, 2_100L);
  }

  /** A limit that makes the reservation elsewhere useless shows that nobody has looked there. */
  @Test
  void closingANodeLooksAtNoReservationElsewhere() {
    config.resource("host", "slots", 2);
    config.job("a", new JobFixture("a").level("host").needs("slots", 1).reserveAfter(seconds(1)));
    apply();
    config.job("b", heavy(seconds(1)));
    apply();
    now += 1_000;
    turn();
    String held = core.capacity().reservations().get(0).node();
    core.limits().override(new LimitOverride("host", "slots", held, 1, "", "", now, 0));
    core.stepLimits(100);
    close("host", held.equals("h1") ? "h2" : "h1");
    assertThat(core.capacity().reservations()).hasSize(1);
    close("host", held);
    assertThat(core.capacity().reservations()).isEmpty();
    core.verify();
  }

  private void close(String level, String node) {
    core.gates().close(new Gate(GateKind.NODE_CLOSED, Scope.node(level, node), "", "", 0, 0));
  }

  /** One slot of each host is taken, and a job waits there that needs both. */
  private static long workOfOpening(SchedulingCore core, int hosts, String node) {
    ConfigFixture config = new ConfigFixture("host").resource("host", "slots", 2, 0);
    Optional<Duration> after = seconds(60);
    config.job("a", new JobFixture("a").level("host").needs("slots", 1).reserveAfter(after));
    String[] names = IntStream.range(0, hosts).mapToObj(i -> "h" + i).toArray(String[]::new);
    core.apply(config.build(), TreeFixture.of(config.levels(), names), 1_000);
    core.advance(1_000, Integer.MAX_VALUE);
    List<Long> runs = new ArrayList<>();
    core.round(TestPolicies.IN_TURN, Integer.MAX_VALUE, runs::add);
    assertThat(runs).hasSize(hosts);
    config.job("b", new JobFixture("b").level("host").needs("slots", 2).reserveAfter(after));
    core.apply(config.build(), TreeFixture.of(config.levels(), names), 1_000);
    core.advance(1_000, Integer.MAX_VALUE);
    Scope scope = Scope.node(node.equals(TreeFixture.INSTANCE) ? "instance" : "host", node);
    core.gates().close(new Gate(GateKind.NODE_CLOSED, scope, "", "", 0, 0));
    long before = core.work();
    core.gates().open(GateKind.NODE_CLOSED, scope);
    long work = core.work() - before;
    core.verify();
    return work;
  }

  @Test
  void nothingIsKeptWhereTheNeedIsAboveTheLimit() {
    config.resource("instance", "slots", 1);
    config.job("a", new JobFixture("a").level("host").needs("slots", 1));
    config.job("b", heavy(seconds(1)));
    apply();
    assertThat(endsUntilHeavy(500)).isEqualTo(-1);
    assertThat(core.capacity().reservations()).isEmpty();
    core.limits()
        .override(new LimitOverride("instance", "slots", TreeFixture.INSTANCE, 2, "", "", now, 0));
    core.stepLimits(100);
    assertThat(endsUntilHeavy(200)).isPositive();
  }

  @Test
  void aLimitThatIsLoweredEndsWhatCanNeverFit() {
    fill(seconds(1));
    while (core.capacity().reservations().isEmpty()) {
      end();
    }
    core.limits()
        .override(new LimitOverride("instance", "slots", TreeFixture.INSTANCE, 1, "", "", now, 0));
    core.stepLimits(100);
    now += 1_000;
    turn();
    assertThat(core.capacity().reservations()).isEmpty();
  }

  @Test
  void aNewConfigurationLosesNeitherTheWaitNorWhatIsHeld() {
    fill(seconds(10));
    long begun = now;
    for (int i = 0; i < 500; i++) {
      end();
    }
    config.job("c", new JobFixture("c").level("host").needs("slots", 1));
    apply();
    while (core.capacity().reservations().isEmpty()) {
      end();
    }
    assertThat(now - begun).isBetween(10_000L, 10_020L);
    List<Reservation> before = core.capacity().reservations();
    config.withoutJob("c");
    apply();
    assertThat(core.capacity().reservations()).isEqualTo(before);
  }

  @Test
  void aNodeIsKeptOnlyForAsLongAsSomebodyWantsIt() {
    fill(seconds(1));
    while (core.capacity().reservations().isEmpty()) {
      end();
    }
    for (String node : List.of("h1", "h2", "h3", "h4", "h5")) {
      core.setStatus(core.findJob("b"), core.topology().find(1, node), DONE);
    }
    assertThat(core.capacity().reservations()).isEmpty();
    turn();
    assertThat(core.nextTimerMillis()).isEqualTo(Long.MAX_VALUE);
  }

  @Test
  void nothingIsAskedWhereAllNeedTheSame() {
    config.job("a", new JobFixture("a").level("host").needs("slots", 1));
    config.job("b", new JobFixture("b").level("host").needs("slots", 1));
    apply();
    for (int i = 0; i < 50; i++) {
      end();
    }
    assertThat(core.nextTimerMillis()).isEqualTo(Long.MAX_VALUE);
  }

  @Test
  void aJobThatNeedsTwoThingsAtOnceIsNotStarvedByThoseThatNeedOne() {
    config.resource("instance", "slots", 3, 0).resource("host", "disks", 1, 0);
    config.job("a", new JobFixture("a").level("host").needs("disks", 1));
    config.job("c", new JobFixture("c").level("host").needs("slots", 1));
    policy = TestPolicies.LIGHT_FIRST;
    apply();
    config.job("b", heavy(seconds(10)).needs("slots", 1).needs("disks", 1));
    apply();
    int ends = endsUntilHeavy(20_000);
    assertThat(ends).isBetween(1_000, 3_100);
  }

  /** Starts nothing of the heavy job, whatever is kept for it. */
  private static SchedulingPolicy withoutHeavy() {
    return new SchedulingPolicy() {
      @Override
      public String name() {
        return "without_heavy";
      }

      @Override
      public void schedule(Round round) {
        for (int job : round.openJobs()) {
          while (!round.name(job).equals("b") && round.placeOne(job)) {
            // All of it.
          }
        }
      }
    };
  }

  private void endUntilHeld() {
    while (core.capacity().reservations().isEmpty()) {
      end();
    }
  }

  @Test
  void whatThePolicyDoesNotTakeIsGivenBackAfterTheWait() {
    policy = withoutHeavy();
    fill(seconds(3));
    endUntilHeld();
    // Room for the heavy task, which is kept from the light ones.
    end();
    end();
    assertThat(core.running().count()).isEqualTo(1);
    long usable = now;
    while (!core.capacity().reservations().isEmpty()) {
      assertThat(now - usable).isLessThan(5_000);
      now += 10;
      turn();
    }
    // Looks are a second apart; the last one at which it lacked slots was up to one before.
    assertThat(now - usable).isBetween(2_000L, 4_000L);
    turn();
    assertThat(core.running().count()).isEqualTo(3);
    // It waits again: there are no slots to lack before.
    long given = now;
    while (core.capacity().reservations().isEmpty()) {
      end();
      assertThat(now - given).isLessThan(4_000);
    }
    assertThat(now - given).isBetween(3_000L, 3_020L);
  }

  @Test
  void whatItsHolderMayNotStartForOtherReasonsIsGivenBackAtTheNextLook() {
    config.job("a", new JobFixture("a").level("host").needs("slots", 1));
    apply();
    config.job("b", heavy(seconds(3)).maxConcurrent(1));
    apply();
    endUntilHeld();
    long held = now;
    // A task of it turns up elsewhere: it may not have another one.
    long adopted = core.adopt("b", "elsewhere", WorkerRef.LOCAL);
    while (!core.capacity().reservations().isEmpty()) {
      end();
      assertThat(now - held).isLessThan(1_050);
    }
    assertThat(now - held).isBetween(980L, 1_020L);
    for (int i = 0; i < 500; i++) {
      end();
      assertThat(core.capacity().reservations()).isEmpty();
    }
    assertThat(started).doesNotContain("b");
    core.finish(adopted, null);
    long over = now;
    endUntilHeld();
    assertThat(now - over).as("it has waited for long enough").isLessThanOrEqualTo(1_010);
  }

  /**
   * The job comes to want its node, and to hold it, at any moment of a change. Where that is after
   * the next world has taken note of who waits, the wait is a new one there, but not the hold.
   */
  @Test
  void aHoldThatBeganDuringAChangeEndsWhenTheNodeCannotBeUsed() {
    int changes = 0;
    for (int steps = 0; new ReservationTest().holdsDuringAChange(steps); steps++) {
      changes++;
    }
    assertThat(changes).isGreaterThan(10);
  }

  /** Returns whether the change was still under way after so many steps. */
  private boolean holdsDuringAChange(int steps) {
    fill(seconds(1));
    for (String node : List.of("h1", "h2", "h3", "h4", "h5")) {
      setHeavy(node, DONE);
    }
    config.job("c", new JobFixture("c").level("host").needs("slots", 1));
    core.begin(
        core.prepare(
            config.build(), TreeFixture.of(config.levels(), "h1", "h2", "h3", "h4", "h5", "h6")));
    for (int i = 0; i < steps; i++) {
      if (core.step(FEW) != null) {
        return false;
      }
    }
    setHeavy("h1", null);
    turn();
    now += 1_500;
    turn();
    List<Reservation> held = core.capacity().reservations();
    assertThat(held).hasSize(1);
    while (core.step(FEW) == null) {
      // To the end.
    }
    core.verify();
    assertThat(core.capacity().reservations()).as("after %d steps", steps).isEqualTo(held);
    core.limits()
        .override(new LimitOverride("instance", "slots", TreeFixture.INSTANCE, 1, "", "", now, 0));
    while (!core.stepLimits(100)) {
      // In slices.
    }
    for (int i = 0; i < 3; i++) {
      now += 1_000;
      turn();
    }
    assertThat(core.capacity().reservations()).as("after %d steps", steps).isEmpty();
    return true;
  }

  private void setHeavy(String node, @Nullable TaskStatus status) {
    core.setStatus(core.findJob("b"), core.topology().find(1, node), status);
  }
}
