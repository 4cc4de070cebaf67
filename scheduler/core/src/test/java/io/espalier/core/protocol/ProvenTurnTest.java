package io.espalier.core.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import org.junit.jupiter.api.Test;

/** Whoever is stopped in the middle of a turn goes on with the time as it is then. */
class ProvenTurnTest {
  private final Queue<Runnable> inbox = new ArrayDeque<>();
  private final List<String> done = new ArrayList<>();
  private long clock = 1_000;

  private final ProvenTurn<Long> turn =
      new ProvenTurn<>(
          new ProvenTurn.Half<>() {
            @Override
            public Long now() {
              return clock;
            }

            @Override
            public void handled() {
              done.add("handled");
            }

            @Override
            public long step() {
              done.add("step");
              return 42;
            }

            @Override
            public void failed(RuntimeException mistake) {
              done.add("failed " + mistake.getMessage());
            }
          },
          inbox,
          3);

  private void says(String word) {
    inbox.add(() -> done.add(word + " at " + turn.now()));
  }

  @Test
  void eachMessageIsHandledByTheTimeOfItsHandling() {
    says("a");
    inbox.add(() -> clock += 40_000);
    says("b");

    assertThat(turn.whole()).isEqualTo(42);

    assertThat(done)
        .containsExactly("a at 1000", "handled", "handled", "b at 41000", "handled", "step");
  }

  @Test
  void theStepIsDoneByTheTimeAfterTheLastMessage() {
    inbox.add(() -> clock += 7);

    long unused = turn.whole();

    assertThat(turn.now()).isEqualTo(1_007);
  }

  @Test
  void aMistakeInOneMessageTakesNoOtherWithIt() {
    inbox.add(
        () -> {
          throw new IllegalStateException("oops");
        });
    says("b");

    long unused = turn.whole();

    assertThat(done).containsExactly("failed oops", "handled", "b at 1000", "handled", "step");
  }

  @Test
  void aStepComesAfterEnoughMessages() {
    for (String word : List.of("a", "b", "c", "d")) {
      says(word);
    }
    long unused = turn.whole();

    assertThat(inbox).hasSize(1);
    assertThat(done).last().isEqualTo("step");
  }
}
