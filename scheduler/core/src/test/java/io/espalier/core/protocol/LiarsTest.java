package io.espalier.core.protocol;

import static io.espalier.core.protocol.SchedulerWorld.TIMERS;
import static io.espalier.core.protocol.SchedulerWorld.end;
import static io.espalier.core.protocol.SchedulerWorld.facts;
import static io.espalier.core.protocol.SchedulerWorld.ref;
import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.protocol.HeartbeatResponse.Verdict;
import io.espalier.core.protocol.WorkResponse.RunState;
import io.espalier.core.protocol.WorkResponse.StartAnswer;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.TaskResult;
import io.espalier.core.running.TaskResult.Kind;
import io.espalier.core.running.WorkerInfo.State;
import io.espalier.core.running.WorkerRef;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A worker that has been let in and lies: what others run stays as it is, and it is said. (What it
 * says of its own tasks has to be believed: nobody else knows.)
 */
class LiarsTest {
  private static final WorkerRef HONEST = ref("honest", 11);
  private static final WorkerRef LIAR = ref("liar", 66);

  private final SchedulerWorld world = SchedulerWorld.open();
  private long honestSession;
  private long liarSession;
  private LaunchSpec task = SchedulerWorld.launch("a", new Invocation(1, 1, 1), HONEST);

  @BeforeEach
  void oneTaskRuns() {
    honestSession = world.healthy(HONEST);
    liarSession = world.healthy(LIAR);
    task = world.runs("a", HONEST);
    world.warnings.clear();
  }

  /** The honest worker still has its task, and nobody else. */
  private void assertUnharmed() {
    assertThat(world.ends).isEmpty();
    assertThat(world.late).isEmpty();
    assertThat(world.side.mayBeAlive(RunId.of(task))).isTrue();
    assertThat(world.says(world.beat(HONEST, honestSession)).verdict()).isEqualTo(Verdict.ACCEPTED);
    TaskResult done = end(task, Kind.EXITED, "done");
    world.report(HONEST, done);
    assertThat(world.ends).containsExactly(done);
  }

  @Test
  void whoClaimsToRunWhatAnotherRunsIsToldToKillItAndTheOtherKeepsIt() {
    Heartbeat lie = world.hello(LIAR, List.of(RunId.of(task)), List.of());
    assertThat(world.says(lie).verdict()).isEqualTo(Verdict.ACCEPTED);

    assertThat(world.warnings).anyMatch(w -> w.contains("liar") && w.contains("should not"));
    assertThat(world.sent)
        .filteredOn(work -> work.worker().equals(HONEST))
        .allMatch(work -> work.orders().isEmpty());
    assertUnharmed();
  }

  @Test
  void whoClaimsToRunWhatWasNeverGivenToAnybodyIsToldToKillIt() {
    RunId invented = new RunId("job", "b", new Invocation(SchedulerWorld.EPOCH, 999, world.now));
    world.says(world.hello(LIAR, List.of(invented), List.of()));

    assertThat(world.warnings).anyMatch(w -> w.contains("liar") && w.contains("should not"));
    assertThat(world.side.mayBeAlive(invented)).isFalse();
    assertUnharmed();
  }

  @Test
  void whoEndsWhatAnotherRunsEndsNothing() {
    assertThat(world.report(LIAR, end(task, Kind.EXITED, "done")).settled()).hasSize(1);

    assertThat(world.warnings).anyMatch(w -> w.contains("liar") && w.contains("does not run"));
    assertUnharmed();
  }

  @Test
  void whoEndsItAsAnotherProcessOfTheSameShardEndsNothing() {
    world.report(ref("honest", 12), end(task, Kind.EXITED, "done"));

    assertThat(world.warnings).anyMatch(w -> w.contains("does not run"));
    assertUnharmed();
  }

  @Test
  void whoEndsAnotherInvocationOfTheTaskChangesNothing() {
    Invocation real = task.invocation();
    Invocation other = new Invocation(real.epoch(), real.sequence() + 1, real.startMillis());
    assertThat(
            world.report(HONEST, end(new RunId("job", "a", other), Kind.EXITED, "done")).settled())
        .hasSize(1);

    // A late result is that of a run which this leadership has recorded as lost; this is none.
    assertThat(world.late).isEmpty();
    assertUnharmed();
  }

  @Test
  void whoEndsWhatALaterLeaderStartsIsNotHeard() {
    Invocation future = new Invocation(SchedulerWorld.EPOCH + 1, 1, world.now);
    ReportResponse answer =
        world.report(LIAR, end(new RunId("job", "a", future), Kind.EXITED, "done"));

    assertThat(answer.accepted()).isFalse();
    assertUnharmed();
  }

  @Test
  void whoSpeaksForAnotherProcessOrSessionIsNotBelieved() {
    assertThat(world.says(world.beat(ref("honest", 12), honestSession)).verdict())
        .isEqualTo(Verdict.REGISTER_AGAIN);
    assertThat(world.says(world.beat(HONEST, liarSession)).verdict())
        .isEqualTo(Verdict.REGISTER_AGAIN);
    assertThat(world.says(world.hello(ref("honest", 12), List.of(), List.of())).verdict())
        .isEqualTo(Verdict.REFUSED);
    assertThat(world.state("honest")).isEqualTo(State.HEALTHY);
    assertUnharmed();
  }

  @Test
  void whoKnowsOfALaterLeaderIsNotAnsweredAndTheOthersAre() {
    Heartbeat beat = world.beat(LIAR, liarSession);
    Heartbeat lie = SchedulerWorld.heartbeat(beat, Long.MAX_VALUE, facts(LIAR, Versions.OURS), "");

    assertThat(world.says(lie).verdict()).isEqualTo(Verdict.NOT_LEADER);
    assertUnharmed();
  }

  @Test
  void whoClearsUpAfterOthersClearsOnlyItsOwnShard() {
    world.says(world.hello(LIAR, List.of(), List.of(HONEST.instance())));

    assertUnharmed();
  }

  @Test
  void anAnswerWithMoreOrLessThanWasAskedIsNone() {
    LaunchSpec more = world.launch("b", LIAR);
    world.side.start(more, world.now);
    world.side.step(world.now);
    WorkBatch sent = world.last();
    List<StartAnswer> two = List.of(StartAnswer.ACCEPTED, StartAnswer.ACCEPTED);
    world.side.answered(
        LIAR,
        new WorkResponse(
            sent.number(), WorkResponse.Verdict.DONE, SchedulerWorld.EPOCH, two, List.of()),
        world.now);

    assertThat(world.side.mayBeAlive(RunId.of(more))).isTrue();
    world.after(TIMERS.askFirstMillis());
    assertThat(world.last().asks()).containsExactly(RunId.of(more));
    assertUnharmed();
  }

  /** Whatever it says, in whatever order, for how long it says it. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20})
  void aThousandLiesDoNoHarm(long seed) {
    Random random = new Random(seed);
    List<RunId> known = new ArrayList<>(List.of(RunId.of(task)));
    for (int i = 0; i < 1_000; i++) {
      WorkerRef as =
          random.nextInt(4) > 0 ? LIAR : ref(random.nextBoolean() ? "honest" : "liar", 12);
      RunId about =
          random.nextInt(3) > 0
              ? known.get(random.nextInt(known.size()))
              : new RunId(
                  "job",
                  "n" + random.nextInt(5),
                  new Invocation(random.nextInt(7), random.nextInt(9), random.nextInt(9)));
      switch (random.nextInt(5)) {
        // The instance of a process is random, of 63 bits: it is not to be guessed.
        case 0 -> world.says(world.hello(as, List.of(about), List.of(20L + random.nextInt(50))));
        case 1 -> world.says(world.beat(as, random.nextInt(5)));
        case 2 ->
            world.report(as, end(about, List.of(Kind.values()).get(random.nextInt(3)), "done"));
        case 3 -> answerAnyhow(as, random);
        default -> world.after(random.nextInt(500));
      }
      if (i % 20 == 0) {
        assertThat(world.says(world.beat(HONEST, honestSession)).verdict())
            .isEqualTo(Verdict.ACCEPTED);
      }
      assertThat(world.side.mayBeAlive(RunId.of(task))).isTrue();
      assertThat(world.ends).noneMatch(ended -> RunId.of(ended).equals(RunId.of(task)));
    }
    assertThat(world.sent)
        .filteredOn(work -> work.worker().equals(HONEST))
        .allMatch(work -> work.orders().isEmpty());
    TaskResult done = end(task, Kind.EXITED, "done");
    world.report(HONEST, done);
    assertThat(world.ends).contains(done);
  }

  private void answerAnyhow(WorkerRef as, Random random) {
    WorkBatch sent = world.sent.get(random.nextInt(world.sent.size()));
    if (sent.worker().equals(HONEST)) {
      return;
    }
    List<StartAnswer> starts = new ArrayList<>();
    for (int i = random.nextInt(3); i > 0; i--) {
      starts.add(random.nextBoolean() ? StartAnswer.ACCEPTED : StartAnswer.refused("no", 1));
    }
    List<RunState> asked = new ArrayList<>();
    for (int i = random.nextInt(3); i > 0; i--) {
      asked.add(List.of(RunState.values()).get(random.nextInt(3)));
    }
    WorkResponse.Verdict verdict = List.of(WorkResponse.Verdict.values()).get(random.nextInt(3));
    world.side.answered(
        as, new WorkResponse(sent.number(), verdict, random.nextInt(9), starts, asked), world.now);
    world.side.step(world.now);
  }
}
