package io.espalier.server.app.loop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.espalier.core.api.Command;
import io.espalier.core.api.view.BrakeView;
import io.espalier.core.api.view.SchedulerView;
import io.espalier.core.loop.LoopInput;
import io.espalier.core.status.store.Brake;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;

/** Answers to commands while the status store fails. */
class AnswersWithoutStoreTest {
  private static final SchedulerView FULL =
      SchedulerView.EMPTY
          .with()
          .errors(Map.of(SchedulerView.STORE, "the disk is full: cannot write status file x"))
          .build();

  @Test
  void aCommandThatCannotBeStoredFailsWithTheReason() {
    CompletableFuture<String> answer =
        LoopSchedulerApi.unlessStoreFails(
            new CompletableFuture<>(), () -> FULL, Duration.ofMillis(1));
    assertThatThrownBy(() -> answer.get(30, TimeUnit.SECONDS))
        .isInstanceOf(ExecutionException.class)
        .cause()
        .isInstanceOf(TimeoutException.class)
        .hasMessageContaining("not known whether this takes effect")
        .hasMessageContaining("the disk is full: cannot write status file x");
  }

  @Test
  @SuppressWarnings({"NullAway", "unchecked"}) // No more is needed of it here.
  void aBrakeThatIsInForceAndNotDurableIsAnsweredAllTheSame() throws Exception {
    Brake brake = Brake.of(Brake.Key.all(), 0).build();
    BrakeView inForce = new BrakeView(brake, 0, false, List.of());
    LoopSchedulerApi api =
        new LoopSchedulerApi(
            input -> {
              // The view is never published, as nothing can be stored.
              if (input instanceof LoopInput.Execute<?> command) {
                ((CompletableFuture<BrakeView>) command.answer()).complete(inForce);
              }
            },
            null,
            new CurrentView(),
            null,
            null,
            null,
            null,
            null,
            null,
            null);
    assertThat(
            api.run(new Command.SetBrake(brake, 0)).toCompletableFuture().get(30, TimeUnit.SECONDS))
        .isEqualTo(inForce);
  }

  @Test
  void withAStoreThatWorksACommandMayTakeLonger() throws Exception {
    CountDownLatch looked = new CountDownLatch(1);
    CompletableFuture<String> answer =
        LoopSchedulerApi.unlessStoreFails(
            new CompletableFuture<>(),
            () -> {
              looked.countDown();
              return SchedulerView.EMPTY;
            },
            Duration.ofMillis(1));
    assertThat(looked.await(30, TimeUnit.SECONDS)).isTrue();
    assertThat(answer.complete("done")).isTrue();
    assertThat(answer.get()).isEqualTo("done");
  }
}
