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
          .as("only commands end a final status")
          .isInstanceOfAny(TaskEvent.Forgiven.class, TaskEvent.Cancelled.class);
      assertThat(before.main()).as("done is for ever").isIn(Main.FAILED, Main.CANCELLED);
    }
    if (before != null && before.isCancelled() && !(event instanceof TaskEvent.Forgiven)) {
      assertThat(after.main()).as("cancelled or done").isIn(Main.CANCELLED, Main.DONE);
    }
    if (event instanceof TaskEvent.Cancelled) {
      assertThat(after.isCancelled()).isTrue();
    } else if (before != null && before.main() == Main.RUNNING) {
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
    if (event instanceof TaskEvent.Cancelled && before == null) {
      expectedAttempts = 0;
    } else if (event instanceof TaskEvent.Started && before != null) {
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
    assertThat(is.gotOn() && after.main() != Main.RUNNING).as("known of what runs only").isFalse();
    boolean over = after.main() == Main.DONE || after.main() == Main.CANCELLED;
    if (event instanceof TaskEvent.Forgiven || over) {
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
  void a_task_that_was_cancelled_before_it_was_tried_is_unstarted_once_it_is_forgiven() {
    TaskEvent cancel = new TaskEvent.Cancelled("cancelled by ann: scrapped");
    RetryPolicy retrying = RetryPolicy.of(LEFT);
    TaskStatus cancelled =
        Objects.requireNonNull(TaskTransitions.apply(null, cancel, retrying, 5).status());
    assertThat(cancelled.label()).isEqualTo(StatusLabel.CANCELLED);
    assertThat(String.valueOf(cancelled.data())).contains("cancelled by ann: scrapped");
    TaskEvent forgive = new TaskEvent.Forgiven();
    assertThat(TaskTransitions.apply(cancelled, forgive, retrying, 7).status())
        .isEqualTo(TaskStatus.unstarted(7));
  }

  @Test
  void what_a_cancelled_task_says_is_kept_but_not_believed_unless_it_is_done() {
    TaskEvent cancel = new TaskEvent.Cancelled("cancelled");
    RetryPolicy retrying = RetryPolicy.of(LEFT);
    TaskStatus running =
        Objects.requireNonNull(
            TaskTransitions.apply(TaskTransitions.firstStart(1), cancel, retrying, 5).status());
    TaskEvent failed = new TaskEvent.Ended(ParsedStatus.FAILED);
    TaskStatus ended =
        Objects.requireNonNull(TaskTransitions.apply(running, failed, retrying, 9).status());
    assertThat(ended.main()).isEqualTo(Main.CANCELLED);
    assertThat(ended.attempts()).isEqualTo(1);
    assertThat(ended.sinceMillis()).isEqualTo(9);
    TaskEvent done = new TaskEvent.Ended(ParsedStatus.DONE);
    assertThat(TaskTransitions.apply(running, done, retrying, 9).status())
        .isEqualTo(TaskStatus.of(Main.DONE, 9, 1));
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
