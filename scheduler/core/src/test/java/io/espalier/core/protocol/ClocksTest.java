package io.espalier.core.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.config.task.KillRequest;
import io.espalier.core.protocol.HeartbeatResponse.Verdict;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.Progress;
import io.espalier.core.running.ResourceUsage;
import io.espalier.core.running.TaskResult;
import io.espalier.core.running.WorkerInfo;
import io.espalier.core.running.WorkerRef;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Both sides joined by calls that take no time, each with clocks of its own. The protocol compares
 * no clock of one side with one of the other, and a clock that jumps costs at most a lease.
 */
class ClocksTest {
  private static final ProtocolTimers TIMERS = ProtocolTimers.BALANCED;
  private static final WorkerRef SELF = new WorkerRef("w1", 11);
  private static final long YEARS = 10L * 365 * 24 * 3_600_000;

  private final List<RunId> started = new ArrayList<>();
  private final List<TaskResult> ends = new ArrayList<>();
  private final List<String> stops = new ArrayList<>();
  private final SchedulerProtocol scheduler =
      new SchedulerProtocol(
          LeadershipTerm.alone(7, ""), TIMERS, SchedulerProtocol.Past.KNOWN, new Scheduler());
  private final WorkerProtocol worker =
      new WorkerProtocol(SELF, WorkerDescription.of("host").address("w1:1").build(), new Worker());

  /** True time, and by how much each clock is wrong. */
  private long time;

  private long schedulerOff = YEARS;
  private long monotonicOff = 5_000;
  private long uptimeOff = 77;
  private long wallOff;
  private boolean cut;
  private long sequence;

  /** What crosses the network is handled after whoever sent it has finished. */
  private final List<Runnable> crossing = new ArrayList<>();

  private long schedulerNow() {
    return 1_000_000 + time + schedulerOff;
  }

  private ClockReading workerNow() {
    return new ClockReading(time + monotonicOff, time + uptimeOff, time + wallOff);
  }

  private final class Scheduler implements SchedulerOutput {
    @Override
    public void send(String address, WorkBatch work) {
      crossing.add(
          () -> {
            if (cut) {
              scheduler.failed(SELF, work.number(), true, "cut", schedulerNow());
            } else {
              scheduler.answered(SELF, worker.work(work, workerNow()), schedulerNow());
            }
          });
    }

    @Override
    public void ended(TaskResult end) {
      ends.add(end);
      crossing.add(() -> scheduler.recorded(RunId.of(end), schedulerNow()));
    }

    @Override
    public void late(TaskResult end) {}

    @Override
    public void progress(RunId run, Progress progress) {}

    @Override
    public void usage(RunId run, ResourceUsage usage) {}

    @Override
    public void workers(List<WorkerInfo> workers) {}

    @Override
    public void newerEpoch(long heard) {}

    @Override
    public void warn(String message) {}
  }

  private final class Worker implements WorkerOutput {
    @Override
    public void send(Heartbeat heartbeat) {
      crossing.add(
          () -> {
            if (cut) {
              worker.heartbeatFailed(heartbeat.number(), workerNow());
            } else {
              worker.heartbeatAnswered(scheduler.heartbeat(heartbeat, schedulerNow()), workerNow());
            }
          });
    }

    @Override
    public void send(Report report) {
      crossing.add(
          () -> {
            if (cut) {
              worker.reportFailed(report.number(), workerNow());
            } else {
              worker.reportAnswered(scheduler.report(report, schedulerNow()), workerNow());
            }
          });
    }

    @Override
    public void start(LaunchSpec launch) {
      RunId run = RunId.of(launch);
      if (HealthCheck.is(launch.job())) {
        crossing.add(() -> endOf(run, TaskResult.Kind.EXITED));
      } else {
        started.add(run);
      }
    }

    @Override
    public void kill(RunId run, KillRequest how) {}

    @Override
    public void recall(RunId run) {}

    @Override
    public void extend(RunId run, long millis) {}

    @Override
    public void stopAll(long killWaitMillis) {
      stops.add("at " + time);
      for (RunId run : started) {
        crossing.add(() -> endOf(run, TaskResult.Kind.KILLED));
      }
      started.clear();
    }

    @Override
    public void guard(ClockReading since, long killAfterMillis) {}

    @Override
    public void drained() {}

    @Override
    public void warn(String message) {}
  }

  private void endOf(RunId run, TaskResult.Kind kind) {
    worker.ended(
        TaskResult.of(run.job(), run.node(), run.invocation(), kind)
            .withRawStatus("done")
            .withExit(0, null),
        workerNow());
  }

  private void pass(long millis) {
    for (long end = time + millis; time < end; time += 500) {
      do {
        List<Runnable> now = List.copyOf(crossing);
        crossing.clear();
        now.forEach(Runnable::run);
        scheduler.step(schedulerNow());
        worker.step(workerNow());
      } while (!crossing.isEmpty());
    }
  }

  private void open() {
    scheduler.resume(List.of(), schedulerNow());
    worker.cleared(List.of(), workerNow());
    pass(2_000);
    assertThat(state()).isEqualTo(WorkerInfo.State.HEALTHY);
  }

  private WorkerInfo.State state() {
    return scheduler.workers().get(0).state();
  }

  private RunId starts(String node) {
    LaunchSpec launch =
        SchedulerWorld.launch(node, new Invocation(7, ++sequence, schedulerNow()), SELF);
    scheduler.start(launch, schedulerNow());
    pass(1_000);
    return RunId.of(launch);
  }

  @ParameterizedTest
  @ValueSource(longs = {-2 * YEARS, -3_600_000, 0, 3_600_000, 2 * YEARS})
  void clocksThatAreYearsApartDoNotMatter(long off) {
    schedulerOff = YEARS + off;
    wallOff = -off;
    open();
    RunId run = starts("a");
    pass(10 * TIMERS.leaseMillis());

    assertThat(state()).isEqualTo(WorkerInfo.State.HEALTHY);
    assertThat(stops).isEmpty();
    assertThat(started).containsExactly(run);
    endOf(run, TaskResult.Kind.EXITED);
    pass(1_000);
    assertThat(ends).singleElement().matches(end -> end.kind() == TaskResult.Kind.EXITED);
    assertThat(worker.unsettled()).isZero();
  }

  @Test
  void aWallClockThatIsSetBackAgainAndAgainProlongsNothingAndStopsNothing() {
    open();
    starts("a");
    for (int i = 0; i < 50; i++) {
      wallOff -= 3_600_000;
      pass(10_000);
    }
    assertThat(stops).isEmpty();
    cut = true;
    for (long silent = 0; silent < TIMERS.stopAfterMillis(); silent += 5_000) {
      wallOff -= 3_600_000;
      pass(5_000);
    }
    pass(1_000);

    assertThat(stops).as("the lease ends by the other clocks").hasSize(1);
  }

  @Test
  void aWallClockThatIsSetForwardStopsTheTasksAtOnceAndWorkGoesOn() {
    open();
    RunId before = starts("a");
    wallOff += TIMERS.leaseMillis();
    pass(1_000);

    assertThat(stops).hasSize(1);
    assertThat(ends)
        .singleElement()
        .matches(end -> RunId.of(end).equals(before) && end.kind() == TaskResult.Kind.KILLED);
    pass(TIMERS.heartbeatMillis());
    assertThat(state()).isEqualTo(WorkerInfo.State.HEALTHY);
    assertThat(started).doesNotContain(before);
    RunId after = starts("b");
    pass(10 * TIMERS.leaseMillis());
    assertThat(started).containsExactly(after);
  }

  @Test
  void aHostThatWasSuspendedStopsItsTasksBeforeItIsAnsweredAgain() {
    open();
    starts("a");
    // The monotonic clock has not seen it.
    uptimeOff += TIMERS.leaseMillis();
    schedulerOff += TIMERS.leaseMillis();
    pass(500);

    assertThat(stops).hasSize(1);
  }

  @Test
  void theSchedulersTimeOfInvocationsMeansNothingToTheWorker() {
    open();
    schedulerOff += YEARS;
    pass(5 * TIMERS.lostMillis());
    assertThat(state()).isEqualTo(WorkerInfo.State.HEALTHY);
    starts("a");
    assertThat(started).hasSize(1);
  }

  /** Wall clocks of both sides jump about; the worker is cut off now and then. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10})
  void howeverTheWorkersWallClockJumpsNoTaskIsEverTakenForDeadWhileItLives(long seed) {
    Random random = new Random(seed);
    open();
    for (int i = 0; i < 200; i++) {
      if (random.nextInt(3) == 0 && state() == WorkerInfo.State.HEALTHY) {
        starts("n" + i);
      }
      if (random.nextInt(3) == 0) {
        wallOff += (random.nextBoolean() ? 1L : -1L) * random.nextInt(200_000);
      }
      cut = random.nextInt(4) == 0;
      pass(500L * random.nextInt(100));
      for (TaskResult end : ends) {
        assertThat(started).as("alive at %s, seed %s", time, seed).doesNotContain(RunId.of(end));
      }
    }
    cut = false;
    pass(3 * TIMERS.lostMillis());
    assertThat(state()).isEqualTo(WorkerInfo.State.HEALTHY);
    assertThat(ends.stream().map(RunId::of).distinct().count()).isEqualTo(ends.size());
  }

  // ---- a scheduler that lies

  @Test
  void answersThatWereNotAskedForProlongNothing() {
    open();
    RunId run = starts("a");
    cut = true;
    for (int i = 0; i < 200 && stops.isEmpty(); i++) {
      for (long number = 0; number < 60; number++) {
        for (Verdict verdict : List.of(Verdict.ACCEPTED, Verdict.REGISTER_AGAIN)) {
          // Of an earlier epoch, or of a heartbeat that has been answered.
          worker.heartbeatAnswered(
              new HeartbeatResponse(number, verdict, 6, 99, 1, TIMERS, false, "", ""), workerNow());
          worker.heartbeatAnswered(
              new HeartbeatResponse(-number, verdict, 7, 99, 1, TIMERS, false, "", ""),
              workerNow());
        }
      }
      pass(1_000);
    }

    assertThat(stops).hasSize(1);
    assertThat(started).doesNotContain(run);
    assertThat(time).isLessThan(TIMERS.leaseMillis() + 10_000);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10})
  void workThatIsNotOfThisSessionStartsKillsAndSettlesNothing(long seed) {
    open();
    RunId run = starts("a");
    Random random = new Random(seed);
    for (int i = 0; i < 500; i++) {
      boolean otherEpoch = random.nextBoolean();
      boolean otherProcess = random.nextInt(3) == 0;
      LaunchSpec launch = SchedulerWorld.launch("x" + i, new Invocation(7, 1_000 + i, 1), SELF);
      WorkBatch lie =
          new WorkBatch(
              otherEpoch ? random.nextInt(20) + 8 : 7,
              otherEpoch || otherProcess ? worker.session() : worker.session() + 1,
              otherProcess ? new WorkerRef("w1", 12) : SELF,
              1_000_000 + i,
              List.of(launch),
              List.of(new TaskCommand(run, 1_000, new KillRequest(KillRequest.Method.KILL, 0), 0)),
              List.of(run),
              List.of(run));
      assertThat(worker.work(lie, workerNow()).verdict()).isEqualTo(WorkResponse.Verdict.STALE);
    }
    assertThat(started).containsExactly(run);
    RunId next = starts("b");
    assertThat(started).containsExactly(run, next);
  }
}
