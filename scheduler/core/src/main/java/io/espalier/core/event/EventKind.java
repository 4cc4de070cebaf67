package io.espalier.core.event;

import io.espalier.core.problem.Suggestions;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The kinds of events that this version records, and the members that their data may have. Stored
 * events of other versions may be of other kinds. docs/events.md is made from this list.
 */
public enum EventKind {
  TASK_STARTED("A task was started.", Members.INVOCATION, Members.ROW, List.of("role")),
  TASK_PROGRESS(
      "A running task has a newer checkpoint.",
      Members.INVOCATION,
      Members.ROW,
      List.of("data", "checkpoint")),
  TASK_ENDED(
      "An invocation has ended.",
      Members.INVOCATION,
      Members.ROW,
      List.of(
          "status",
          "result_bits",
          "duration_ms",
          "start_ms",
          "stop_reason",
          "got_on",
          "exit_code",
          "signal",
          "backoff_sec",
          "data",
          "checkpoint")),
  TASK_CHANGED(
      "The status of a task changed for another reason.",
      Members.TASK,
      Members.ROW,
      List.of("status", "data", "checkpoint")),
  TASK_EXTENDED(
      "An operator extended the time limits of a running task.",
      Members.INVOCATION,
      List.of("by_ms"),
      Members.COMMAND),
  TASK_KILL_REQUESTED(
      "A running task is asked to end.", Members.TASK, List.of("method"), Members.COMMAND),
  TASK_KILL_REPEATED(
      "A task that should have ended is asked again.", Members.TASK, List.of("method")),
  ORPHAN_KILLED(
      "A running task whose job or node is gone is killed.",
      Members.TASK,
      List.of("method", "survived_signals")),
  OVER_LIMIT_KILLED(
      "A running task is killed because more slots are in use than a limit allows.",
      Members.TASK,
      List.of("method", "level", "over_node", "resource", "used", "limit", "over_since_ms")),
  TASKS_FORGIVEN(
      "Failures and waits of tasks were forgiven; up to 500 tasks.", List.of("job", "tasks")),
  TASKS_CANCELLED(
      "Tasks that do not run were cancelled; up to 500 tasks.",
      List.of("job", "tasks", "exception")),
  TASKS_RERUN("Tasks were reset to run again; up to 500 tasks.", List.of("job", "tasks")),
  FORGIVEN("An operator's forgive is complete.", Members.SELECTION),
  RERUN("An operator's rerun is complete.", Members.SELECTION),
  CANCELLED("An operator's cancel is complete.", Members.SELECTION),
  JOB_STATE("A job has changed its state.", List.of("job", "from", "to", "reason")),
  SET_STATE("A set of jobs has changed its state.", List.of("set", "from", "to", "reason")),
  DEADLINE_AT_RISK(
      "A job may miss its complete_by, with a chance of one in ten or more.",
      List.of("job", "deadline_at_ms", "left", "never", "p90_at_ms", "reason")),
  DEADLINE_SAFE("The complete_by of a job is at risk no more.", List.of("job", "reason")),
  JOB_PAUSED(
      "An operator paused a job.", List.of("job"), Members.COMMAND, List.of("expires_at_ms")),
  JOB_RESUMED("The pause of a job ended.", List.of("job"), Members.COMMAND, List.of("expired")),
  JOB_FORGOTTEN(
      "A job was deleted and made again, or was not configured for so long that its statuses"
          + " expired: the statuses of its tasks are deleted.",
      List.of("job", "reason", "archive")),
  LIMIT_CHANGED(
      "An override of a limit began or ended.",
      List.of("level", "resource", "node", "configured", "limit", "ended", "expired"),
      Members.COMMAND,
      List.of("expires_at_ms")),
  BRAKE_SET(
      "An operator set or changed a brake.",
      Members.BRAKE,
      List.of("throttle_running", "expires_at_ms")),
  BRAKE_RELEASED(
      "A brake was released or has expired.", Members.BRAKE, List.of("throttle_running")),
  WINDOW_OPENED(
      "Windows of a queue, a job, nodes or, without these, of the settings have opened.",
      List.of("queue", "job", "level", "nodes", "closes_at_ms", "reason")),
  WINDOW_CLOSED(
      "Windows of a queue, a job, nodes or, without these, of the settings have closed.",
      List.of("queue", "job", "level", "nodes", "opens_at_ms", "left", "reason")),
  LIMIT_AT_FLOOR(
      "The health of a node, or of several, has lowered a limit to its floor; the first is named.",
      Members.HEALTH,
      List.of("reason")),
  LIMIT_RECOVERED(
      "A limit that follows the health of nodes has left its floor; the first node is named.",
      Members.HEALTH,
      List.of("reason")),
  QUARANTINE_SUGGESTED("The failures of a job concentrate below a node.", Members.QUARANTINE),
  QUARANTINE_SET(
      "A node was closed for a job, or for all: by the scheduler or by an operator.",
      Members.QUARANTINE,
      List.of("author", "trial_at_ms")),
  QUARANTINE_TRIAL(
      "A task was started below a quarantined node, to see whether it succeeds.",
      Members.QUARANTINE,
      List.of("task_job", "task_node", "trial_at_ms")),
  QUARANTINE_LIFTED(
      "A quarantine ended: a trial succeeded, nothing was left to try, or an operator lifted it.",
      Members.QUARANTINE,
      List.of("author")),
  ROLLOUT_STAGE_OPENED(
      "A stage of a roll-out was opened.", Members.ROLLOUT, List.of("tasks", "author", "reason")),
  ROLLOUT_STAGE_PASSED("A stage of a roll-out has passed.", Members.ROLLOUT, Members.SAMPLE),
  ROLLOUT_HALTED(
      "A check of a roll-out has failed, or an operator has halted it.",
      Members.ROLLOUT,
      Members.SAMPLE,
      Members.COMMAND),
  WORKER_CHANGED(
      "A worker came, changed its state, or went.", List.of("worker", "host", "state", "note")),
  WORKER_CORDONED("An operator cordoned a worker.", List.of("worker"), Members.COMMAND),
  WORKER_DRAINED("An operator drains a worker.", List.of("worker"), Members.COMMAND),
  WORKER_UNCORDONED("An operator ended a cordon.", List.of("worker"), Members.COMMAND),
  CONFIG_APPLIED(
      "An operator applied a configuration; it is written to its source.",
      List.of("saved", "deleted", "settings", "kills", "new", "nodes"),
      Members.COMMAND),
  SUBTREE_RELEASED(
      "A subtree and its statuses were let go; the shard named here may take it.",
      List.of("node", "shard", "tasks")),
  SUBTREE_TAKEN(
      "A subtree that another scheduler has released was taken, with its statuses.",
      List.of("node", "shard", "tasks")),
  CONFIG_IN_FORCE("A configuration and its nodes are in force.", List.of("jobs", "nodes")),
  LEADER_CHANGED(
      "A scheduler leads and has its first configuration in force.", List.of("leader", "epoch")),
  PROBLEM_RAISED("The scheduler has had a problem for some seconds.", List.of("source", "message")),
  PROBLEM_CLEARED("A problem has been over for some seconds.", List.of("source"));

  /** Groups of members that several kinds share. */
  private static final class Members {
    static final List<String> TASK = List.of("job", "node", "invocation");
    static final List<String> INVOCATION = List.of("job", "node", "invocation", "attempt", "step");

    /** What {@code StatusRowEvents} encodes of a row. */
    static final List<String> ROW =
        List.of(
            "row",
            "worker",
            "worker_instance",
            "waited_ms",
            "count",
            "fingerprint",
            "failure",
            "retries",
            "step_position");

    static final List<String> BRAKE =
        List.of("target", "level", "queue", "set", "job", "node", "factor", "author", "reason");

    static final List<String> HEALTH = List.of("level", "resource", "node", "nodes", "floor");

    static final List<String> QUARANTINE = List.of("level", "node", "job", "reason");
    static final List<String> ROLLOUT = List.of("job", "stage", "stages", "size");
    static final List<String> SAMPLE = List.of("counted", "failed", "p95_ms");
    static final List<String> COMMAND = List.of("author", "reason");
    static final List<String> SELECTION = List.of("jobs", "tasks", "author", "reason");
  }

  private final String word = name().toLowerCase(Locale.ROOT);
  private final String summary;

  @SuppressWarnings("ImmutableEnumChecker") // Filled by the constructor, and shown unmodifiable.
  private final Set<String> members = new LinkedHashSet<>();

  @SafeVarargs
  EventKind(String summary, List<String>... members) {
    this.summary = summary;
    for (List<String> some : members) {
      this.members.addAll(some);
    }
  }

  /** Returns the kind as it is written in events, such as {@code task_started}. */
  public String word() {
    return word;
  }

  /** Returns one sentence for people. */
  public String summary() {
    return summary;
  }

  /** Returns the names of all members that the data of such an event may have. */
  public Set<String> members() {
    return Collections.unmodifiableSet(members);
  }

  /** Returns the kind of this name, or null. */
  public static @Nullable EventKind of(String word) {
    for (EventKind kind : values()) {
      if (kind.word.equals(word)) {
        return kind;
      }
    }
    return null;
  }

  /** Returns a sentence about a name that is no kind, with the kind that may have been meant. */
  public static String unknown(String word) {
    List<String> words = Arrays.stream(values()).map(EventKind::word).toList();
    String hint = Suggestions.hint(word, words);
    return "there is no kind of event \""
        + word
        + "\"; "
        + (hint == null ? "known: " + String.join(", ", words) : hint);
  }
}
