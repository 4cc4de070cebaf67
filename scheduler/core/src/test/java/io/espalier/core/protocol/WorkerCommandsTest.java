package io.espalier.core.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.config.task.CallSpec;
import io.espalier.core.json.Json;
import io.espalier.core.protocol.HeartbeatResponse.Verdict;
import io.espalier.core.protocol.WorkResponse.RunState;
import io.espalier.core.running.Call;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.InvocationLimits;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.TaskResult.Kind;
import io.espalier.core.running.Throttle;
import io.espalier.core.running.WorkerRef;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Which starts and commands a worker carries out. W numbers: docs/workers-conformance.md. */
class WorkerCommandsTest extends WorkerProtocolFixture {
  private LaunchSpec calls(String node) {
    Invocation invocation = new Invocation(epoch, ++sequence, now);
    CallSpec spec = new CallSpec("fake", Json.Obj.EMPTY, false, Duration.ofSeconds(1));
    Call call =
        Call.of(
            spec,
            "job",
            0,
            invocation,
            1,
            List.of("host"),
            List.of(node),
            new InvocationLimits(0, 0, 0));
    return LaunchSpec.of("job", node, invocation).worker(SELF).call(call).build();
  }

  private LaunchSpec batched(String node, long batch) {
    return launch(node).with(launch -> launch.batch(batch));
  }

  @Test
  void consecutiveStartsOfOneBatchAreStartedTogetherWithoutThoseThatAreRefused() {
    registered();
    done.clear();
    LaunchSpec running = launch("b");
    starts(running);
    ends(running, Kind.EXITED);
    WorkResponse response = starts(batched("a", 7), batched("b", 7), batched("a", 7), launch("c"));
    assertThat(response.starts().stream().map(WorkResponse.StartAnswer::accepted))
        .containsExactly(true, true, false, true);
    assertThat(done).containsExactly("batch [a, b]");
    assertThat(started).extracting(LaunchSpec::node).containsExactly("b", "a", "b", "c");
  }

  @Test
  void aBatchOfOneAndTasksOfTwoJobsAreStartedAlone() {
    registered();
    done.clear();
    LaunchSpec other = batched("y", 8).with(launch -> launch.job("other"));
    starts(batched("x", 7), batched("y", 8), other);
    assertThat(done).isEmpty();
    assertThat(started).hasSize(3);
  }

  @Test
  void itLetsGoOfACallWhoseEndTheSchedulerKnows() {
    registered();
    LaunchSpec a = calls("a");
    starts(a);
    WorkBatch settled =
        new WorkBatch(
            epoch,
            session,
            SELF,
            ++batches,
            List.of(),
            List.of(),
            List.of(),
            List.of(RunId.of(a), RunId.of(launch("never heard of"))));
    side.work(settled, now());
    assertThat(done).contains("let go a").doesNotContain("let go never heard of");
    side.ended(end(a, Kind.LOST), now());
    after(0);
    assertThat(side.unsettled()).as("it is reported like any end").isEqualTo(1);
  }

  @Test
  void anotherStartOfATaskMakesItLetGoOfItsCallButNotOfItsProcess() {
    registered();
    LaunchSpec call = calls("a");
    LaunchSpec process = launch("b");
    starts(call, process);
    assertThat(starts(calls("a"), launch("b")).starts())
        .extracting(WorkResponse.StartAnswer::accepted)
        .containsExactly(true, false);
    assertThat(done).contains("let go a").doesNotContain("let go b");
    side.ended(end(call, Kind.LOST), now());
    side.ended(end(process, Kind.EXITED), now());
    assertThat(starts(launch("b")).starts())
        .extracting(WorkResponse.StartAnswer::accepted)
        .containsExactly(true);
  }

  @Test
  void aCopyOfABatchAndAnOvertakenOneAreNotActedOn() {
    registered();
    WorkBatch first = batch(List.of(launch("a")), List.of(), List.of());
    WorkBatch second = batch(List.of(launch("b")), List.of(), List.of());
    assertThat(side.work(second, now()).verdict()).isEqualTo(WorkResponse.Verdict.DONE);
    assertThat(side.work(second, now()).verdict()).isEqualTo(WorkResponse.Verdict.OLD);
    assertThat(side.work(first, now()).verdict()).isEqualTo(WorkResponse.Verdict.OLD);

    assertThat(started).extracting(LaunchSpec::node).containsExactly("b");
  }

  @Test
  void notRunningBindsItToRefuseEveryOlderStart() {
    registered();
    WorkBatch delayed = batch(List.of(launch("a")), List.of(), List.of());
    WorkResponse asked =
        side.work(batch(List.of(), List.of(), List.of(RunId.of(delayed.starts().get(0)))), now());

    assertThat(asked.asked()).containsExactly(RunState.NOT_RUNNING);
    assertThat(side.work(delayed, now()).verdict()).isEqualTo(WorkResponse.Verdict.OLD);
    assertThat(started).isEmpty();
  }

  @Test
  void whatIsMeantForAnotherProcessEpochOrSessionIsNotActedOn() {
    registered();
    LaunchSpec task = launch("a");
    List<WorkBatch> wrong =
        List.of(
            new WorkBatch(
                epoch, session + 1, SELF, 1, List.of(task), List.of(), List.of(), List.of()),
            new WorkBatch(
                epoch - 1, session, SELF, 1, List.of(task), List.of(), List.of(), List.of()),
            new WorkBatch(
                epoch,
                session,
                new WorkerRef("w1", 12),
                1,
                List.of(task),
                List.of(),
                List.of(),
                List.of()));

    assertThat(wrong)
        .allMatch(work -> side.work(work, now()).verdict() == WorkResponse.Verdict.STALE);
    assertThat(started).isEmpty();
  }

  @Test
  void refusalsSayWhyAndWhenToTryAgain() {
    registered();
    starts(launch("a"), launch("b"));
    WorkResponse answer = starts(launch("a"), launch("c"), launch("d"));

    assertThat(answer.starts().get(0).reason()).contains("still running");
    assertThat(answer.starts().get(1).accepted()).isTrue();
    assertThat(answer.starts().get(2).reason()).contains("runs 3 tasks");
    assertThat(answer.starts().get(2).retryAfterMillis()).isPositive();
    side.facts(facts(0));
    side.health(false, "disk full");
    assertThat(starts(launch("e")).starts().get(0).reason()).contains("disk full");
    side.health(true, "");
    side.drain(now());
    assertThat(starts(launch("e")).starts().get(0).reason()).contains("draining");
  }

  @Test
  void aHealthCheckRunsAlsoOnAFullOrDrainingWorker() {
    registered();
    starts(launch("a"), launch("b"), launch("c"));
    side.drain(now());
    LaunchSpec check =
        HealthCheck.launch(
            SELF,
            new Invocation(epoch, 1, now),
            io.espalier.core.config.task.SubprocessOptions.DEFAULT,
            1_000);

    assertThat(starts(check).starts().get(0).accepted()).isTrue();
  }

  @Test
  void w24OrdersAreCarriedOutOnceHoweverOftenTheyCome() {
    registered();
    LaunchSpec a = launch("a");
    starts(a);
    TaskCommand kill = new TaskCommand(RunId.of(a), 1, TERM, 0);
    TaskCommand extend = new TaskCommand(RunId.of(a), 2, null, 500);
    side.work(batch(List.of(), List.of(kill), List.of()), now());
    side.work(batch(List.of(), List.of(kill, extend), List.of()), now());
    side.work(batch(List.of(), List.of(kill, extend), List.of()), now());

    assertThat(done)
        .filteredOn(d -> !d.startsWith("guard"))
        .containsExactly("kill a", "extend a 500");
  }

  @Test
  void aRecallIsCarriedOutOnceAndTheEndItBringsIsReportedLikeAnyOther() {
    registered();
    LaunchSpec a = launch("a");
    starts(a);
    TaskCommand recall = TaskCommand.recall(RunId.of(a), 1);
    side.work(batch(List.of(), List.of(recall), List.of()), now());
    side.work(batch(List.of(), List.of(recall), List.of()), now());
    ends(a, Kind.NOT_STARTED);

    assertThat(done).filteredOn(d -> !d.startsWith("guard")).containsExactly("recall a");
    assertThat(reports).last().satisfies(report -> assertThat(report.ends()).hasSize(1));
    assertThat(side.running()).isZero();
  }

  @Test
  void anotherSchedulerNumbersItsOrdersFromOne() {
    registered();
    LaunchSpec a = launch("a");
    starts(a);
    RunId run = RunId.of(a);
    TaskCommand slower = TaskCommand.throttle(run, 7, new Throttle(0.5, "lag"));
    side.work(batch(List.of(), List.of(slower), List.of()), now());
    epoch++;
    after(TIMERS.heartbeatMillis());
    hears(Verdict.ACCEPTED);
    after(TIMERS.heartbeatMillis());
    hears(Verdict.ACCEPTED);
    side.work(batch(List.of(), List.of(new TaskCommand(run, 1, TERM, 0)), List.of()), now());

    assertThat(done)
        .filteredOn(d -> !d.startsWith("guard"))
        .containsExactly("throttle a 0.5 lag", "kill a");
  }
}
