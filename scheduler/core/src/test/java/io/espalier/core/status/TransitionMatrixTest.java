package io.espalier.core.status;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.config.task.Backoff;
import io.espalier.core.config.task.ProgressRetryRules;
import io.espalier.core.config.task.RetryPolicy;
import io.espalier.core.status.TaskStatus.Main;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Every state under every event: what must hold always, and the table of the documentation. */
class TransitionMatrixTest {
  private static final Backoff LEFT = new Backoff(List.of(1, 2, 4), false);
  private static final Backoff EXHAUSTED = new Backoff(List.of(1, 2), false);

  private static final ProgressRetryRules RULES = ProgressRetryRules.DEFAULT;
  private static final RetryPolicy COUNTED = new RetryPolicy(LEFT, Optional.of(RULES));
  private static final RetryPolicy STRICT =
      new RetryPolicy(LEFT, Optional.of(new ProgressRetryRules(1, 1, 1, List.of(7), 3)));

  static Stream<Arguments> matrix() {
    return TransitionTable.states().entrySet().stream()
        .flatMap(
            state ->
                TransitionTable.named().entrySet().stream()
                    .flatMap(
                        event ->
                            Stream.of(
                                    RetryPolicy.of(LEFT),
                                    RetryPolicy.of(EXHAUSTED),
                                    RetryPolicy.of(new Backoff(List.of(), false)),
                                    COUNTED,
                                    STRICT)
                                .map(
                                    retrying ->
                                        Arguments.of(state.getKey(), event.getKey(), retrying))));
  }

  @ParameterizedTest
  @MethodSource("matrix")
  void invariants(String stateName, String eventName, RetryPolicy retrying) {
    TaskStatus before =
        Objects.requireNonNull(TransitionTable.states().get(stateName)).orElse(null);
    TaskEvent event = Objects.requireNonNull(TransitionTable.named().get(eventName));
    Transition to = TaskTransitions.apply(before, event, retrying, TransitionTable.NOW);
    if (!to.changed()) {
      assertThat(to.status()).isSameAs(before);
      return;
    }
    TaskStatus after = Objects.requireNonNull(to.status());
    assertThat(to.warning()).isNull();
    assertThat(after).isNotEqualTo(before);
    assertThat(after.main()).isNotEqualTo(Main.UNSTARTED);
    assertThat(TaskStatus.ofBits(after.bits(), 0, 0, 0, 0, null).bits()).isEqualTo(after.bits());
    if (before != null && before.isFinal() && !before.overwriteable()) {
      assertThat(event)
          .as("only forgiveness ends a final status")
          .isInstanceOf(TaskEvent.Forgiven.class);
      assertThat(before.main()).as("done is for ever").isEqualTo(Main.FAILED);
    }
    if (before != null && before.main() == Main.RUNNING) {
      assertThat(after.main()).isNotEqualTo(Main.RUNNING);
    } else if (event instanceof TaskEvent.Started) {
      assertThat(after.main()).isEqualTo(Main.RUNNING);
    }
    assertThat(after.backoffSeconds()).isNotNegative();
    assertThat(after.attempts()).isNotNegative();
    if (after.isFinal() && !after.overwriteable()) {
      assertThat(after.usesBackoff()).isFalse();
    }
    int expectedAttempts = before == null ? 1 : before.attempts();
    if (event instanceof TaskEvent.Started && before != null) {
      expectedAttempts++;
    } else if (event instanceof TaskEvent.NotStarted) {
      expectedAttempts--;
    } else if (event instanceof TaskEvent.Forgiven && !after.equals(before)) {
      expectedAttempts = 0;
    }
    assertThat(after.attempts()).isEqualTo(expectedAttempts);
    countsAreRight(before, event, after, retrying);
  }

  /** Nothing but an end counts, no end counts twice, and only forgiving or being done uncounts. */
  private static void countsAreRight(
      @Nullable TaskStatus before, TaskEvent event, TaskStatus after, RetryPolicy retrying) {
    RetryCounts was = before == null ? RetryCounts.NONE : before.retries();
    RetryCounts is = after.retries();
    assertThat(is.gotOn()).as("known of what runs only").isFalse();
    if (event instanceof TaskEvent.Forgiven || after.main() == Main.DONE) {
      assertThat(is).isEqualTo(RetryCounts.NONE);
      return;
    }
    int more = is.noProgress() - was.noProgress() + is.progress() - was.progress();
    boolean ends = event instanceof TaskEvent.Ended || event instanceof TaskEvent.WorkerLost;
    assertThat(more).isBetween(0, ends && retrying.rules().isPresent() ? 1 : 0);
    if (is.progress() > was.progress()) {
      assertThat(is.successive()).isZero();
      assertThat(was.gotOn()).isTrue();
    }
    if (is.noProgress() > was.noProgress()) {
      assertThat(is.successive()).isEqualTo(was.successive() + 1);
      assertThat(was.gotOn()).isFalse();
    }
  }

  @Test
  void the_documented_table_is_the_real_one() throws IOException {
    Path file = Path.of("../../docs/task-status.md");
    String document = Files.readString(file);
    String expected = document;
    expected = withTable(expected, "left", TransitionTable.markdown(RetryPolicy.of(LEFT)));
    expected =
        withTable(expected, "exhausted", TransitionTable.markdown(RetryPolicy.of(EXHAUSTED)));
    expected = withTable(expected, "retry", TransitionTable.markdown(COUNTED));
    if (System.getenv("ESPALIER_WRITE_DOCS") != null) {
      Files.writeString(file, expected);
    } else {
      assertThat(document)
          .as("docs/task-status.md is old; run this test once with ESPALIER_WRITE_DOCS=1")
          .isEqualTo(expected);
    }
  }

  private static String withTable(String document, String name, String table) {
    String begin = "<!-- table " + name + " -->\n";
    String end = "<!-- end -->\n";
    int from = document.indexOf(begin) + begin.length();
    int to = document.indexOf(end, from);
    assertThat(document).contains(begin);
    return document.substring(0, from) + table + document.substring(to);
  }
}
