package io.espalier.core.call;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.config.task.CallSpec;
import io.espalier.core.json.Json;
import io.espalier.core.running.Call;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.InvocationLimits;
import io.espalier.core.running.StopReason;
import io.espalier.core.running.TaskResult;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** A call is sent once, and ends when its service says so, or when nobody can find out. */
class CallCourseTest {
  private static final long HOLD = 60_000;
  private static final CallAnswer GONE = new CallAnswer.NotFound("HTTP 404");
  private static final CallAnswer SILENCE = new CallAnswer.Unknown("no answer in time");

  private final Service service = new Service();

  /** What a service can do; none of its methods that send is called here. */
  private static final class Service implements CallClient {
    boolean polls = true;
    boolean cancels = true;
    boolean proves;

    @Override
    public String executor() {
      return "fake";
    }

    @Override
    public String description(Call call) {
      return "fake";
    }

    @Override
    public CompletionStage<CallAnswer> start(
        Call call, Json.Obj argument, BooleanSupplier maySend) {
      throw new AssertionError("the course decides, it does not send");
    }

    @Override
    public boolean canPoll(Call call) {
      return polls;
    }

    @Override
    public CompletionStage<CallAnswer> poll(Call call, String handle) {
      throw new AssertionError("the course decides, it does not send");
    }

    @Override
    public boolean canCancel(Call call) {
      return cancels;
    }

    @Override
    public CompletionStage<CallAnswer> cancel(Call call, String handle) {
      throw new AssertionError("the course decides, it does not send");
    }

    @Override
    public PollPace pace(Call call) {
      return new PollPace(1_000, 8_000);
    }

    @Override
    public boolean provesAbsence(Call call) {
      return proves;
    }

    @Override
    public void close() {}
  }

  private static Call call(boolean idempotent) {
    return call(idempotent, Optional.empty());
  }

  private static Call call(boolean idempotent, Optional<CallSpec.Callback> callback) {
    return call(idempotent, callback, Duration.ofMillis(HOLD));
  }

  private static Call call(
      boolean idempotent, Optional<CallSpec.Callback> callback, Duration unknownHold) {
    return Call.of(
        new CallSpec("fake", Json.Obj.EMPTY, idempotent, unknownHold, callback),
        "job",
        9,
        new Invocation(1, 2, 3),
        1,
        List.of("instance", "host"),
        List.of("i", "h1"),
        new InvocationLimits(4, 5, 6));
  }

  private static Call callingBack(boolean idempotent) {
    return call(idempotent, Optional.of(new CallSpec.Callback("")))
        .withName(CallSpec.CALLBACK, "http://s/api/v1/callbacks/1");
  }

  private CallCourse sent() {
    return CallCourse.sent(call(false), service);
  }

  private CallCourse adopted() {
    return CallCourse.adopted(call(false), service, 0);
  }

  private static CallCourse.End end(CallCourse course) {
    return Objects.requireNonNull(course.end(), "it has not ended");
  }

  /** Answers every request alike until the call has ended or the time is over. */
  private static TaskResult.@Nullable Kind drive(
      CallCourse course, CallAnswer answer, long untilMillis) {
    for (long at = 0; at <= untilMillis && course.end() == null; at = course.nextMillis()) {
      CallCourse.Request request = course.due(at);
      if (request != null) {
        course.answered(request, answer, at);
      }
    }
    CallCourse.End end = course.end();
    return end == null ? null : end.kind();
  }

  @Test
  void anAdoptedCallThatHadToWaitForItsTurnIsAskedAboutBeforeItIsGivenUp() {
    CallCourse course = adopted();
    assertThat(course.due(3 * HOLD)).isEqualTo(CallCourse.Request.POLL);
    course.answered(CallCourse.Request.POLL, SILENCE, 3 * HOLD + 1);
    assertThat(course.due(course.nextMillis())).isNull();
    assertThat(end(course).kind()).isEqualTo(TaskResult.Kind.OUTCOME_UNKNOWN);
  }

  @Test
  void aCancelThatIsAnsweredWithAFailureEndsTheCall() {
    CallCourse course = sent();
    course.started(CallAnswer.Running.PLAIN, 0);
    course.stop(StopReason.TIMEOUT, 5);
    assertThat(course.due(5)).isEqualTo(CallCourse.Request.CANCEL);
    course.answered(CallCourse.Request.CANCEL, new CallAnswer.Failed("x"), 6);
    assertThat(end(course).kind()).isEqualTo(TaskResult.Kind.CALL_FAILED);
  }

  @Test
  void whatTheServiceSaysIsTheEnd() {
    CallCourse course = sent();
    assertThat(course.due(0)).as("nothing to ask before the answer").isNull();
    course.started(new CallAnswer.Ended("incomplete"), 5);
    assertThat(end(course).kind()).isEqualTo(TaskResult.Kind.EXITED);
    assertThat(end(course).status()).isEqualTo("incomplete");
    assertThat(course.nextMillis()).isEqualTo(CallCourse.NEVER);
  }

  @Test
  void aServiceThatCallsBackIsAskedAtTheLongestWait() {
    CallCourse course = CallCourse.sent(callingBack(false), service);
    course.started(CallAnswer.Running.PLAIN, 0);
    assertThat(course.nextMillis()).isBetween(6_400L, 9_600L);
    course.letGo("its service has reported its end");
    assertThat(end(course).kind()).isEqualTo(TaskResult.Kind.LOST);
    assertThat(course.due(100_000)).isNull();
  }

  @Test
  void withoutPollTheCallbackIsWaitedForAsLongAsTheCallMayRun() {
    service.polls = false;
    service.cancels = false;
    CallCourse course = CallCourse.sent(callingBack(false), service);
    course.started(CallAnswer.Running.PLAIN, 0);
    assertThat(course.nextMillis()).isEqualTo(CallCourse.NEVER);
    assertThat(course.due(1_000_000)).isNull();
    assertThat(course.stop(StopReason.TIMEOUT, 1_000_000)).isFalse();
    assertThat(course.nextMillis()).isEqualTo(1_000_000 + HOLD);
    assertThat(drive(course, SILENCE, 1_000_000 + HOLD - 1)).isNull();
    assertThat(course.due(1_000_000 + HOLD)).isNull();
    assertThat(end(course).kind()).isEqualTo(TaskResult.Kind.OUTCOME_UNKNOWN);
    assertThat(end(course).stop()).isEqualTo(StopReason.TIMEOUT);
  }

  @Test
  void aTakenOverCallWaitsForItsCallbackLikeAnyOther() {
    service.polls = false;
    CallCourse course = CallCourse.adopted(callingBack(true), service, 0);
    assertThat(course.nextMillis()).isEqualTo(CallCourse.NEVER);
    assertThat(course.stop(StopReason.REQUESTED, 5)).isTrue();
    assertThat(course.due(5)).isEqualTo(CallCourse.Request.CANCEL);
    course.answered(CallCourse.Request.CANCEL, CallAnswer.Running.PLAIN, 6);
    assertThat(course.end()).as("it is being cancelled").isNull();
    assertThat(course.due(6 + HOLD)).isNull();
    assertThat(end(course).kind())
        .as("it may be sent again")
        .isEqualTo(TaskResult.Kind.CALL_FAILED);
  }

  @Test
  void aLostAnswerIsOnlyInDoubtAsLongAsItIsHeld() {
    service.polls = false;
    CallCourse course = CallCourse.sent(callingBack(true), service);
    course.started(SILENCE, 0);
    assertThat(course.end()).as("the callback may still come").isNull();
    assertThat(course.due(HOLD)).isNull();
    assertThat(end(course).kind()).isEqualTo(TaskResult.Kind.CALL_FAILED);
  }

  @Test
  void aCancelledCallThatNobodyCanAskAboutIsHeldAndThenGivenUp() {
    service.polls = false;
    CallCourse course = sent();
    course.stop(StopReason.REQUESTED, 0);
    course.started(CallAnswer.Running.PLAIN, 1);
    assertThat(course.due(1)).isEqualTo(CallCourse.Request.CANCEL);
    course.answered(CallCourse.Request.CANCEL, CallAnswer.Running.PLAIN, 2);
    assertThat(course.nextMillis()).as("it is not waited for for ever").isEqualTo(2 + HOLD);
    assertThat(course.due(2 + HOLD)).isNull();
    assertThat(end(course).kind()).isEqualTo(TaskResult.Kind.OUTCOME_UNKNOWN);
  }

  @Test
  void aRefusalIsNoAttemptAndWaitsAsLongAsAsked() {
    CallCourse course = sent();
    course.started(new CallAnswer.NotStarted("HTTP 503", 7_000), 5);
    assertThat(end(course).kind()).isEqualTo(TaskResult.Kind.NOT_STARTED);
    assertThat(end(course).retryAfterMillis()).isEqualTo(7_000);

    CallCourse wrong = sent();
    wrong.started(new CallAnswer.NotStarted("no such host", 0), 5);
    assertThat(end(wrong).kind()).as("an attempt").isEqualTo(TaskResult.Kind.START_FAILED);
  }

  @Test
  void whatTheServiceAcceptsIsAskedAboutMoreAndMoreRarely() {
    CallCourse course = sent();
    course.started(CallAnswer.Running.PLAIN, 0);
    long before = 0;
    long last = 0;
    for (int i = 0; i < 10; i++) {
      long at = course.nextMillis();
      assertThat(course.due(at - 1)).isNull();
      assertThat(course.due(at)).isEqualTo(CallCourse.Request.POLL);
      assertThat(course.due(at)).as("one question at a time").isNull();
      last = at - before;
      before = at;
      course.answered(CallCourse.Request.POLL, CallAnswer.Running.PLAIN, at);
    }
    assertThat(last).isBetween(6_400L, 9_600L);
    course.answered(CallCourse.Request.POLL, new CallAnswer.Failed("out of space"), before);
    assertThat(end(course).kind()).isEqualTo(TaskResult.Kind.CALL_FAILED);
  }

  @Test
  void aLostAnswerIsFoundOutByAskingAndNeverSentAgain() {
    CallCourse course = sent();
    course.started(SILENCE, 10);
    assertThat(course.end()).isNull();
    assertThat(course.trouble()).contains("no answer");
    assertThat(course.due(10)).isEqualTo(CallCourse.Request.POLL);
    course.answered(CallCourse.Request.POLL, CallAnswer.Running.PLAIN, 20);
    assertThat(course.trouble()).isEmpty();
    assertThat(course.due(course.nextMillis())).isEqualTo(CallCourse.Request.POLL);
    course.answered(CallCourse.Request.POLL, new CallAnswer.Ended("done"), 30);
    assertThat(end(course).status()).isEqualTo("done");
  }

  @Test
  void whatNobodyConfirmsIsUnknownAfterTheHold() {
    CallCourse course = sent();
    course.started(SILENCE, 0);
    assertThat(drive(course, SILENCE, HOLD - 1)).isNull();
    assertThat(drive(course, SILENCE, HOLD)).isEqualTo(TaskResult.Kind.OUTCOME_UNKNOWN);
  }

  @Test
  void aServiceThatFailsForAnHourIsAskedNowAndThenAndItsEndCounts() {
    long hour = 3_600_000;
    CallCourse course =
        CallCourse.sent(call(false, Optional.empty(), Duration.ofMillis(2 * hour)), service);
    course.started(CallAnswer.Running.PLAIN, 0);
    int asked = 0;
    for (long at = course.nextMillis(); at < hour; at = course.nextMillis()) {
      assertThat(course.due(at)).isEqualTo(CallCourse.Request.POLL);
      course.answered(CallCourse.Request.POLL, new CallAnswer.Unknown("HTTP 500: no"), at);
      asked++;
    }
    assertThat(course.end()).isNull();
    assertThat(course.trouble()).contains("HTTP 500");
    assertThat(asked).as("about every 8 seconds").isBetween(375, 600);
    assertThat(course.due(course.nextMillis())).isEqualTo(CallCourse.Request.POLL);
    course.answered(CallCourse.Request.POLL, new CallAnswer.Ended("done"), hour + 1);
    assertThat(end(course).kind()).isEqualTo(TaskResult.Kind.EXITED);
  }

  @Test
  void aServiceThatForgetsACallProvesNothing() {
    CallCourse course = sent();
    course.started(CallAnswer.Running.PLAIN, 0);
    service.proves = true;
    assertThat(drive(course, GONE, 2 * HOLD)).isEqualTo(TaskResult.Kind.OUTCOME_UNKNOWN);
  }

  @Test
  void aServiceThatNeverHadACallMayProveIt() {
    assertThat(drive(adopted(), GONE, HOLD)).isEqualTo(TaskResult.Kind.OUTCOME_UNKNOWN);
    service.proves = true;
    assertThat(drive(adopted(), GONE, HOLD)).isEqualTo(TaskResult.Kind.START_FAILED);
  }

  @Test
  void withoutAWayToAskTheHoldIsAllThereIs() {
    service.polls = false;
    service.cancels = false;
    CallCourse course = adopted();
    assertThat(course.due(HOLD - 1)).isNull();
    assertThat(course.nextMillis()).isEqualTo(HOLD);
    assertThat(course.due(HOLD)).isNull();
    assertThat(end(course).kind()).isEqualTo(TaskResult.Kind.OUTCOME_UNKNOWN);
  }

  @Test
  void anIdempotentCallOfUnknownOutcomeMayBeTriedAgain() {
    service.polls = false;
    CallCourse course = CallCourse.sent(call(true), service);
    course.started(SILENCE, 0);
    assertThat(end(course).kind()).isEqualTo(TaskResult.Kind.CALL_FAILED);
    assertThat(end(course).message()).startsWith("outcome unknown");
  }

  @Test
  void aStopIsARequestToTheServiceAndNotAnEnd() {
    CallCourse course = sent();
    course.started(CallAnswer.Running.PLAIN, 0);
    assertThat(course.stop(StopReason.TIMEOUT, 100)).isTrue();
    assertThat(course.due(100)).isEqualTo(CallCourse.Request.CANCEL);
    course.answered(CallCourse.Request.CANCEL, SILENCE, 200);
    assertThat(course.end()).as("the service was not heard").isNull();
    assertThat(course.due(course.nextMillis())).isEqualTo(CallCourse.Request.CANCEL);
    course.answered(CallCourse.Request.CANCEL, CallAnswer.Running.PLAIN, 300);
    assertThat(course.due(course.nextMillis()))
        .as("the service cancels it, and is asked when it has")
        .isEqualTo(CallCourse.Request.POLL);
    course.answered(CallCourse.Request.POLL, new CallAnswer.Cancelled(), 400);
    assertThat(end(course).kind()).isEqualTo(TaskResult.Kind.KILLED);
    assertThat(end(course).stop()).isEqualTo(StopReason.TIMEOUT);
  }

  @Test
  void aCallThatMayStillArriveIsCancelledAgain() {
    CallCourse course = sent();
    course.stop(StopReason.REQUESTED, 10);
    assertThat(course.due(10)).isEqualTo(CallCourse.Request.CANCEL);
    course.answered(CallCourse.Request.CANCEL, new CallAnswer.Cancelled(), 20);
    assertThat(course.end()).as("it was not there yet").isNull();
    course.started(CallAnswer.Running.PLAIN, 30);
    assertThat(course.due(course.nextMillis())).isEqualTo(CallCourse.Request.CANCEL);
    course.answered(CallCourse.Request.CANCEL, new CallAnswer.Cancelled(), 9_000);
    assertThat(end(course).kind()).isEqualTo(TaskResult.Kind.KILLED);
  }

  @Test
  void notToKnowWhatIsToBeCancelledProvesNothing() {
    service.proves = true;
    CallCourse course = sent();
    course.started(SILENCE, 0);
    course.stop(StopReason.REQUESTED, 0);
    assertThat(course.due(0)).isEqualTo(CallCourse.Request.CANCEL);
    course.answered(CallCourse.Request.CANCEL, GONE, 1);
    assertThat(course.end()).isNull();
  }

  @Test
  void aServiceIsAskedBeforeItIsGivenUp() {
    // A request may take longer than the hold, and so may the pauses between two questions.
    CallCourse late = sent();
    late.started(SILENCE, 10 * HOLD);
    assertThat(late.due(10 * HOLD)).isEqualTo(CallCourse.Request.POLL);
    CallCourse slow = sent();
    slow.started(CallAnswer.Running.PLAIN, 0);
    assertThat(slow.due(100 * HOLD)).isEqualTo(CallCourse.Request.POLL);
    slow.answered(CallCourse.Request.POLL, CallAnswer.Running.PLAIN, 101 * HOLD);
    assertThat(slow.end()).isNull();
    long next = slow.nextMillis();
    assertThat(slow.due(next)).isEqualTo(CallCourse.Request.POLL);
    slow.answered(
        CallCourse.Request.POLL, new CallAnswer.NotStarted("HTTP 503", 5 * HOLD), next + 1);
    assertThat(slow.nextMillis()).as("once more before the end").isLessThan(next + HOLD);
  }

  @Test
  void anIdempotentCallIsAskedAboutBeforeItIsSentAgain() {
    CallCourse course = CallCourse.adopted(call(true), service, 0);
    assertThat(course.due(0)).isEqualTo(CallCourse.Request.POLL);
    course.answered(CallCourse.Request.POLL, CallAnswer.Running.PLAIN, 1);
    assertThat(course.end()).isNull();
    CallCourse gone = CallCourse.adopted(call(true), service, 0);
    assertThat(drive(gone, GONE, HOLD)).isEqualTo(TaskResult.Kind.START_FAILED);
  }

  @Test
  void aCallThatCannotBeCancelledGoesOn() {
    service.cancels = false;
    CallCourse course = sent();
    course.started(CallAnswer.Running.PLAIN, 0);
    assertThat(course.stop(StopReason.REQUESTED, 10)).isFalse();
    assertThat(course.due(course.nextMillis())).isEqualTo(CallCourse.Request.POLL);
    course.answered(CallCourse.Request.POLL, new CallAnswer.Ended("done"), 30);
    assertThat(end(course).kind()).isEqualTo(TaskResult.Kind.EXITED);
  }

  @Test
  void aRunnerThatLetsGoLeavesTheServiceAlone() {
    CallCourse course = sent();
    course.letGo("stopped");
    assertThat(end(course).kind()).isEqualTo(TaskResult.Kind.LOST);
    assertThat(course.due(0)).isNull();
  }

  @Test
  void aCallSurvivesItsStorage() {
    Call call = call(true);
    assertThat(Call.of(call.json())).isEqualTo(call);
    assertThat(call.name("host")).isEqualTo("h1");
    assertThat(call.name(CallSpec.TOKEN)).isEqualTo("1.2");
    assertThat(call.name(CallSpec.KEY)).isNotEqualTo(call.name(CallSpec.INVOCATION));
  }
}
