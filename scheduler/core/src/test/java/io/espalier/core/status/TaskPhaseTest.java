package io.espalier.core.status;

import static io.espalier.core.status.TaskPhase.CANCELLED;
import static io.espalier.core.status.TaskPhase.FAILED;
import static io.espalier.core.status.TaskPhase.INCOMPLETE;
import static io.espalier.core.status.TaskPhase.PENDING;
import static io.espalier.core.status.TaskPhase.RUNNING;
import static io.espalier.core.status.TaskPhase.SUCCEEDED;
import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.config.task.Backoff;
import io.espalier.core.config.task.RetryPolicy;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The phases of tasks and the moves between them (docs/design/features.md#phases-of-tasks). */
class TaskPhaseTest {
  private static TaskPhase phase(@Nullable TaskStatus status, boolean jobIsOver) {
    return status == null
        ? TaskPhase.of(TaskStatus.Main.UNSTARTED.bit(), 0, jobIsOver)
        : TaskPhase.of(status.bits(), status.attempts(), jobIsOver);
  }

  @Test
  void each_status_has_a_phase() {
    Map<String, TaskPhase> phases = new LinkedHashMap<>();
    TransitionTable.states().forEach((name, s) -> phases.put(name, phase(s.orElse(null), false)));
    assertThat(phases)
        .containsExactlyInAnyOrderEntriesOf(
            Map.ofEntries(
                Map.entry("unstarted", PENDING),
                Map.entry("running", RUNNING),
                Map.entry("running, got on", RUNNING),
                Map.entry("done", SUCCEEDED),
                Map.entry("incomplete", INCOMPLETE),
                Map.entry("incomplete_backoff", INCOMPLETE),
                Map.entry("error", INCOMPLETE),
                Map.entry("error_backoff", INCOMPLETE),
                Map.entry("failed", FAILED),
                Map.entry("never_started", INCOMPLETE),
                Map.entry("was_not_running", INCOMPLETE),
                Map.entry("interrupted", INCOMPLETE),
                Map.entry("lost", INCOMPLETE),
                Map.entry("running, cancelled", RUNNING),
                Map.entry("cancelled", CANCELLED),
                Map.entry("lost, cancelled", CANCELLED),
                Map.entry("lost, failed", FAILED)));
  }

  @Test
  void a_first_start_that_came_to_nothing_leaves_a_task_pending() {
    TaskStatus started = TaskTransitions.firstStart(0);
    Transition refused =
        TaskTransitions.apply(
            started, new TaskEvent.NotStarted("busy"), new Backoff(List.of(), false), 0);
    assertThat(phase(refused.status(), false)).isEqualTo(PENDING);
  }

  @Test
  void views_add_what_keeps_a_task_from_starting() {
    int unstarted = TaskStatus.Main.UNSTARTED.bit();
    int error = TaskStatus.Main.ERROR.bit();
    assertThat(TaskPhase.of(unstarted | TaskStatus.AVOIDED, 0, false)).isEqualTo(CANCELLED);
    assertThat(TaskPhase.of(error | TaskStatus.AVOIDED, 2, false)).isEqualTo(CANCELLED);
    assertThat(TaskPhase.of(TaskStatus.Main.DONE.bit() | TaskStatus.AVOIDED, 1, false))
        .isEqualTo(SUCCEEDED);
    assertThat(TaskPhase.of(TaskStatus.Main.RUNNING.bit() | TaskStatus.AVOIDED, 1, false))
        .isEqualTo(RUNNING);
    assertThat(TaskPhase.of(unstarted | TaskStatus.DISABLED, 0, false)).isEqualTo(PENDING);
    assertThat(TaskPhase.of(error | TaskStatus.DISABLED, 1, false)).isEqualTo(INCOMPLETE);
  }

  @Test
  void when_a_job_is_over_what_has_not_ended_is_cancelled() {
    Map<TaskPhase, Set<TaskPhase>> moves = new EnumMap<>(TaskPhase.class);
    for (Optional<TaskStatus> status : TransitionTable.states().values()) {
      moves
          .computeIfAbsent(phase(status.orElse(null), false), p -> EnumSet.noneOf(TaskPhase.class))
          .add(phase(status.orElse(null), true));
    }
    assertThat(moves)
        .isEqualTo(
            Map.of(
                PENDING, Set.of(CANCELLED),
                INCOMPLETE, Set.of(CANCELLED),
                RUNNING, Set.of(RUNNING),
                SUCCEEDED, Set.of(SUCCEEDED),
                FAILED, Set.of(FAILED),
                CANCELLED, Set.of(CANCELLED)));
  }

  /** Every status under every event, with each way to go on after an error. */
  @Test
  void tasks_move_between_phases_in_these_ways_and_no_others() {
    Map<TaskPhase, Map<TaskPhase, Set<String>>> moves = new EnumMap<>(TaskPhase.class);
    for (Backoff backoff :
        List.of(new Backoff(List.of(1, 2, 4), false), new Backoff(List.of(1, 2), false))) {
      TransitionTable.states()
          .forEach(
              (name, before) ->
                  TransitionTable.named()
                      .forEach(
                          (event, happens) -> {
                            TaskStatus from = before.orElse(null);
                            Transition to =
                                TaskTransitions.apply(
                                    from, happens, RetryPolicy.of(backoff), TransitionTable.NOW);
                            if (to.warning() != null) {
                              assertThat(to.status()).as(name + ", " + event).isEqualTo(from);
                              return;
                            }
                            TaskPhase phase = phase(from, false);
                            TaskPhase next = phase(to.status(), false);
                            if (next != phase) {
                              moves
                                  .computeIfAbsent(phase, p -> new EnumMap<>(TaskPhase.class))
                                  .computeIfAbsent(next, p -> new TreeSet<>())
                                  .add(name.startsWith("lost") ? "a guess replaced" : event);
                            }
                          }));
    }
    Map<TaskPhase, Set<TaskPhase>> which = new EnumMap<>(TaskPhase.class);
    moves.forEach((from, to) -> which.put(from, to.keySet()));
    assertThat(which)
        .isEqualTo(
            Map.of(
                PENDING, Set.of(RUNNING, CANCELLED),
                RUNNING, Set.of(INCOMPLETE, SUCCEEDED, FAILED, CANCELLED),
                INCOMPLETE, Set.of(PENDING, RUNNING, SUCCEEDED, FAILED, CANCELLED),
                FAILED, Set.of(INCOMPLETE, SUCCEEDED, CANCELLED),
                CANCELLED, Set.of(INCOMPLETE, SUCCEEDED)));
    assertThat(events(moves, PENDING, RUNNING)).containsExactly("started");
    // Ends for good are left by an operator, or when a guess about a lost worker was wrong.
    assertThat(events(moves, FAILED, INCOMPLETE)).containsExactly("a guess replaced", "forgiven");
    assertThat(events(moves, FAILED, SUCCEEDED)).containsExactly("a guess replaced");
    assertThat(events(moves, INCOMPLETE, SUCCEEDED))
        .containsExactlyInAnyOrder("a guess replaced", "says done");
    // Of a task that in the end never was started: its attempts are forgotten.
    assertThat(events(moves, INCOMPLETE, PENDING)).containsExactly("forgiven");
    assertThat(events(moves, INCOMPLETE, FAILED)).contains("says failed");
    assertThat(events(moves, INCOMPLETE, RUNNING)).contains("started");
  }

  private static Set<String> events(
      Map<TaskPhase, Map<TaskPhase, Set<String>>> moves, TaskPhase from, TaskPhase to) {
    return moves.getOrDefault(from, Map.of()).getOrDefault(to, Set.of());
  }
}
