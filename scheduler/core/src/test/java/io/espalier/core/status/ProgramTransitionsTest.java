package io.espalier.core.status;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.config.task.Backoff;
import io.espalier.core.config.task.Program;
import io.espalier.core.config.task.Step;
import io.espalier.core.status.StepPosition.Phase;
import io.espalier.core.status.TaskStatus.Main;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What follows the end of a step, for every position and every end. */
class ProgramTransitionsTest {
  private static final Backoff BACKOFF = new Backoff(List.of(3), true);

  /** Of steps a, b and c; b fails for good at once; a and c can be undone. */
  private static final Program PROGRAM = program("a", "b!", "c");

  private static Step step(String name) {
    return new Step(
        name.substring(0, 1),
        List.of("x"),
        Optional.empty(),
        name.endsWith("!"),
        Optional.empty(),
        Optional.empty());
  }

  private static Program program(String... steps) {
    return new Program(
        Arrays.stream(steps).map(ProgramTransitionsTest::step).toList(),
        true,
        false,
        List.of(step("a"), step("c")),
        Optional.empty());
  }

  private static StepPosition position(String step, String begun) {
    return step.startsWith("-")
        ? StepPosition.compensation(step.substring(1), begun)
        : StepPosition.step(step, begun, false);
  }

  private static TaskStatus running(StepPosition at) {
    return TaskStatus.of(Main.RUNNING, 0, 1).withStep(at);
  }

  private static TaskEvent event(String end) {
    return switch (end) {
      case "done" -> new TaskEvent.Ended(ParsedStatus.DONE);
      case "error" -> new TaskEvent.Ended(ParsedStatus.ERROR_BACKOFF);
      case "failed" -> new TaskEvent.Ended(ParsedStatus.FAILED);
      case "incomplete" -> new TaskEvent.Ended(ParsedStatus.INCOMPLETE);
      case "killed" -> new TaskEvent.Ended(ParsedStatus.killed("by hand"));
      case "lost" -> new TaskEvent.WorkerLost("w", "gone", 9);
      case "refused" -> new TaskEvent.NotStarted("full");
      default -> new TaskEvent.Interrupted("restart");
    };
  }

  private static TaskStatus after(StepPosition at, String end, @Nullable Program now) {
    TaskStatus running = running(at);
    TaskStatus plain =
        Objects.requireNonNull(
            TaskTransitions.apply(running, event(end), BACKOFF, 10).status(), "no status");
    return ProgramTransitions.ended(running, plain, now, true);
  }

  private static String word(TaskStatus status) {
    StepPosition at = status.step();
    return status.label().word()
        + (at == null ? "" : " " + (at.isCompensation() ? "-" : "") + at.step())
        + (at != null && at.follows() ? " follows" : "")
        + (at != null && at.tries() > 0 ? " tries " + at.tries() : "")
        + (status.data() != null && status.data().get(ProgramTransitions.COMPENSATED) != null
            ? " " + status.data().get(ProgramTransitions.COMPENSATED)
            : "");
  }

  @ParameterizedTest(name = "{0} {1}: {2}")
  @CsvSource({
    "a, done, incomplete b follows",
    "b, done, incomplete c follows",
    "c, done, done",
    "a, error, error_backoff a",
    "b, error, error -a follows",
    "a, failed, error -a follows",
    "c, failed, error -c follows",
    "b, incomplete, incomplete b",
    "b, killed, incomplete_backoff b",
    "b, lost, lost b",
    "b, refused, never_started b",
    "b, interrupted, interrupted b",
    "-c, done, error -a follows",
    "-a, done, failed true",
    "-a, error, error_backoff -a follows tries 1",
    "-a, failed, failed false",
    "-a, killed, incomplete_backoff -a follows",
    "-a, lost, lost -a follows",
    "-a, refused, never_started -a follows",
  })
  void theTable(String step, String end, String expected) {
    StepPosition at = position(step, step.replace("-", ""));
    assertThat(word(after(at, end, PROGRAM))).isEqualTo(expected);
  }

  @Test
  void theProgramIsTheOneOfNow() {
    StepPosition b = position("b", "b");
    assertThat(word(after(b, "done", program("a", "b", "x", "c"))))
        .isEqualTo("incomplete x follows");
    assertThat(word(after(b, "done", program("a", "b")))).isEqualTo("done");
    TaskStatus gone = after(b, "done", program("a", "c"));
    assertThat(word(gone)).as("it is none of the program's").isEqualTo("incomplete b follows");
    StepPosition again = ProgramTransitions.begin(gone.step(), program("a", "c"));
    assertThat(Objects.requireNonNull(again).step()).isEqualTo("a");
    assertThat(again.note()).contains("\"b\" is gone");
    assertThat(word(after(position("-a", "a"), "done", Program.NONE))).isEqualTo("failed false");
  }

  @Test
  void aStepThatEndedWithoutItsJobIsNotRunAgain() {
    TaskStatus behind = after(position("b", "b"), "done", null);
    assertThat(word(behind)).isEqualTo("incomplete b follows");
    StepPosition next = ProgramTransitions.begin(behind.step(), PROGRAM);
    assertThat(Objects.requireNonNull(next).step()).isEqualTo("c");
    TaskStatus last = after(position("c", "c"), "done", null);
    StepPosition none = ProgramTransitions.begin(last.step(), PROGRAM);
    assertThat(Objects.requireNonNull(none).phase()).isEqualTo(Phase.ENDED);
    assertThat(word(after(none, "done", PROGRAM))).isEqualTo("done");
  }

  @Test
  void onlyBeginningsCountAsAttempts() {
    TaskStatus before = TaskStatus.of(Main.INCOMPLETE, 0, 4);
    for (StepPosition at :
        List.of(StepPosition.step("b", "b", true), StepPosition.compensation("a", "b"))) {
      TaskStatus started = started(before.withStep(at));
      assertThat(started.attempts()).isEqualTo(4);
      TaskStatus refused =
          Objects.requireNonNull(
              TaskTransitions.apply(started, event("refused"), BACKOFF, 10).status());
      assertThat(refused.attempts()).isEqualTo(4);
      assertThat(refused.step()).isEqualTo(at);
    }
    assertThat(started(before.withStep(position("b", "b"))).attempts()).isEqualTo(5);
  }

  private static TaskStatus started(TaskStatus before) {
    return Objects.requireNonNull(
        TaskTransitions.apply(before, new TaskEvent.Started(), BACKOFF, 5).status());
  }

  @Test
  void forgivingKeepsThePositionAndNeverInterruptsACompensation() {
    TaskStatus failed = TaskStatus.of(Main.FAILED, 0, 4).withStep(position("b", "b"));
    TaskStatus forgiven =
        TaskTransitions.apply(failed, new TaskEvent.Forgiven(), BACKOFF, 10).status();
    assertThat(Objects.requireNonNull(forgiven).step()).isEqualTo(position("b", "b"));
    TaskStatus undoing = TaskStatus.waiting(0, 9, 4).withStep(StepPosition.compensation("a", "b"));
    assertThat(TaskTransitions.apply(undoing, new TaskEvent.Forgiven(), BACKOFF, 10).changed())
        .isFalse();
  }

  @ParameterizedTest
  @CsvSource({"STEP, true, 0, ''", "COMPENSATION, true, 3, ''", "STEP, false, 0, a note"})
  void positionsAreStoredWithTheStatus(Phase phase, boolean follows, int tries, String note) {
    TaskStatus status =
        TaskStatus.of(Main.ERROR, 5, 2)
            .withStep(new StepPosition(phase, "b", "c", follows, tries, note));
    assertThat(
            TaskStatus.ofBits(
                status.bits(),
                status.sinceMillis(),
                status.backoffSeconds(),
                status.position(),
                status.attempts(),
                status.storedData()))
        .isEqualTo(status);
  }
}
