package io.espalier.testkit.running;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.call.CallAnswer;
import io.espalier.core.call.CallClient;
import io.espalier.core.config.task.CallSpec;
import io.espalier.core.json.Json;
import io.espalier.core.running.Call;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.InvocationLimits;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The contract of every {@link CallClient}, against a real service that the subclass brings along
 * (docs/calls.md#other-kinds-of-calls).
 */
public abstract class CallClientContract {
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private CallClient client;

  /** What the service does with every request, until it is told otherwise. */
  public enum Behaviour {
    /** Answers that the call has ended, with the status {@code {"result": "incomplete"}}. */
    ENDS,
    /** Answers that it goes on, with the progress {@code {"done": 1}}. */
    GOES_ON,
    /** Answers that it has failed, because of {@code no space}. */
    FAILS,
    /** Refuses to begin, and asks to wait for 7 seconds. */
    REFUSES,
    /** Answers that it does not know the call. */
    KNOWS_NOTHING,
    /** Answers that it has cancelled the call. */
    CANCELS,
    /** Reads the request and closes the connection. */
    LOSES_THE_CONNECTION,
    /** Answers with what nobody can read. */
    ANSWERS_GARBAGE,
    /** Answers with 10 MB, or says that it will. */
    ANSWERS_TOO_MUCH,
    /** Reads the request and does nothing. */
    IS_SILENT
  }

  /** Creates the client under test. */
  protected abstract CallClient create() throws Exception;

  /** Sets what the service does from now on, and starts it if necessary. */
  protected abstract void behaves(Behaviour behaviour) throws Exception;

  /** Returns how many requests have reached the service. */
  protected abstract int requests();

  /**
   * Returns the options of a call of the service that can be asked about and cancelled, and whose
   * requests may take about a second.
   */
  protected abstract Json.Obj options();

  /** Returns the options of a call of a service that does not listen. */
  protected abstract Json.Obj optionsOfNobody();

  /** Returns options that cannot be used. */
  protected abstract Json.Obj wrongOptions();

  /** Stops the service. */
  protected abstract void stop() throws Exception;

  @SuppressWarnings("NullAway.Init")
  protected CallClientContract() {}

  @BeforeEach
  void open() throws Exception {
    client = create();
  }

  @AfterEach
  void close() throws Exception {
    client.close();
    stop();
  }

  private Call call(Json.Obj options) {
    return Call.of(
        new CallSpec(client.executor(), options, false, Duration.ofMinutes(1)),
        "job \u00e9",
        0,
        new Invocation(7, 1, 1_000),
        1,
        List.of("instance", "host"),
        List.of("i", "n/1"),
        InvocationLimits.NONE);
  }

  private static CallAnswer answer(CompletionStage<CallAnswer> stage) throws Exception {
    return stage.toCompletableFuture().get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
  }

  private CallAnswer start(Json.Obj options, BooleanSupplier maySend) throws Exception {
    return answer(client.start(call(options), Json.object().put("id", "job").build(), maySend));
  }

  private CallAnswer start() throws Exception {
    return start(options(), () -> true);
  }

  private CallAnswer poll() throws Exception {
    return answer(client.poll(call(options()), ""));
  }

  private CallAnswer cancel() throws Exception {
    return answer(client.cancel(call(options()), ""));
  }

  @Test
  void itSaysWhatItCanDoAndWhatItCalls() {
    Call call = call(options());
    assertThat(client.executor()).isNotBlank();
    assertThat(client.description(call)).isNotBlank();
    assertThat(client.canPoll(call)).isTrue();
    assertThat(client.canCancel(call)).isTrue();
    assertThat(client.pace(call).firstMillis()).isPositive();
  }

  @Test
  void optionsThatCannotBeUsedAreToldBeforeAnythingIsSent() {
    assertThat(
            org.assertj.core.api.Assertions.catchThrowable(
                () -> client.description(call(wrongOptions()))))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void anEndIsTheStatusThatTheServiceGives() throws Exception {
    behaves(Behaviour.ENDS);
    for (CallAnswer answer : List.of(start(), poll(), cancel())) {
      assertThat(answer).isInstanceOf(CallAnswer.Ended.class);
      assertThat(answer.toString()).contains("incomplete");
    }
  }

  @Test
  void aCallThatGoesOnMayTellItsProgress() throws Exception {
    behaves(Behaviour.GOES_ON);
    for (CallAnswer answer : List.of(start(), poll())) {
      assertThat(answer)
          .isEqualTo(new CallAnswer.Running("", Json.object().put("done", 1).build()));
    }
    assertThat(cancel()).as("it is being cancelled").isInstanceOf(CallAnswer.Running.class);
  }

  @Test
  void aFailureSaysWhy() throws Exception {
    behaves(Behaviour.FAILS);
    CallAnswer answer = start();
    assertThat(answer).isInstanceOf(CallAnswer.Failed.class);
    assertThat(answer.toString()).contains("no space");
  }

  @Test
  void aRefusalIsNoStartAndSaysWhenToTryAgain() throws Exception {
    behaves(Behaviour.REFUSES);
    CallAnswer answer = start();
    assertThat(answer).isInstanceOf(CallAnswer.NotStarted.class);
    assertThat(((CallAnswer.NotStarted) answer).retryAfterMillis()).isEqualTo(7_000);
  }

  @Test
  void aServiceThatKnowsNothingSaysSo() throws Exception {
    behaves(Behaviour.KNOWS_NOTHING);
    assertThat(poll()).isInstanceOf(CallAnswer.NotFound.class);
    assertThat(cancel()).isInstanceOf(CallAnswer.NotFound.class);
  }

  @Test
  void aCancellationIsConfirmed() throws Exception {
    behaves(Behaviour.CANCELS);
    assertThat(cancel()).isInstanceOf(CallAnswer.Cancelled.class);
  }

  /** Whatever happens after the request was handed over, nobody may believe that it never came. */
  @ParameterizedTest
  @EnumSource(names = {"LOSES_THE_CONNECTION", "IS_SILENT"})
  void aLostAnswerIsUnknownAndTheCallWasSentOnce(Behaviour behaviour) throws Exception {
    behaves(behaviour);
    assertThat(start()).isInstanceOf(CallAnswer.Unknown.class);
    assertThat(requests()).isEqualTo(1);
    assertThat(poll()).isInstanceOf(CallAnswer.Unknown.class);
    assertThat(cancel()).isInstanceOf(CallAnswer.Unknown.class);
  }

  @ParameterizedTest
  @EnumSource(names = {"ANSWERS_GARBAGE", "ANSWERS_TOO_MUCH"})
  void anAnswerThatCannotBeReadIsNeitherAnEndNorARefusal(Behaviour behaviour) throws Exception {
    behaves(behaviour);
    for (CallAnswer answer : List.of(start(), poll(), cancel())) {
      assertThat(answer).isInstanceOfAny(CallAnswer.Failed.class, CallAnswer.Unknown.class);
      assertThat(answer.toString()).as("it is not quoted at length").hasSizeLessThan(1_000);
    }
    assertThat(requests()).isEqualTo(3);
  }

  @Test
  void whatNobodyListensToIsNotStarted() throws Exception {
    CallAnswer answer = start(optionsOfNobody(), () -> true);
    assertThat(answer).isInstanceOf(CallAnswer.NotStarted.class);
    assertThat(((CallAnswer.NotStarted) answer).retryAfterMillis()).isZero();
  }

  @Test
  void whoMayNotSendSendsNothing() throws Exception {
    behaves(Behaviour.ENDS);
    CallAnswer answer = start(options(), () -> false);
    assertThat(answer).isInstanceOf(CallAnswer.NotStarted.class);
    assertThat(((CallAnswer.NotStarted) answer).retryAfterMillis()).as("no attempt").isPositive();
    assertThat(requests()).isZero();
    assertThat(start()).isInstanceOf(CallAnswer.Ended.class);
  }
}
