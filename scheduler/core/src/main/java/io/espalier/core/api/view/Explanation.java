package io.espalier.core.api.view;

import io.soabase.recordbuilder.core.RecordBuilder;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Why a task is not running: every failing condition, as evaluated by the same code that starts
 * tasks. Of a task that runs or is done, nothing is listed but that.
 *
 * @param startable whether no condition fails; the task then starts in the next round that reaches
 *     it
 * @param status label of the task's status, such as {@code unstarted} or {@code error_backoff}
 * @param reasons failing conditions; empty if and only if {@code startable}
 * @param path path from the instance to the task's node; if there are several, the one with the
 *     fewest failing conditions
 * @param alternatives the node's other parents, if any, of a task that neither runs nor is done; at
 *     most {@link Alternative#MOST}
 * @param eligibleMillis as in {@link TaskView}
 * @param running the live invocation; null: the task does not run
 */
@RecordBuilder
public record Explanation(
    String job,
    String node,
    boolean startable,
    String status,
    List<Reason> reasons,
    List<Step> path,
    List<Alternative> alternatives,
    long eligibleMillis,
    @Nullable RunningTaskView running)
    implements ExplanationBuilder.With {
  public Explanation {
    reasons = List.copyOf(reasons);
    path = List.copyOf(path);
    alternatives = List.copyOf(alternatives);
  }

  /** A copy with other reasons; the task is startable when there are none. */
  @Override
  public Explanation withReasons(List<Reason> others) {
    return with(copy -> copy.startable(others.isEmpty()).reasons(others));
  }

  /**
   * Another parent of the node, with the conditions that fail only there, apart from those of the
   * job and the task.
   *
   * @param parent name of the parent
   * @param role role of the node under this parent; usually empty
   * @param messages sentences for people; empty when no condition fails
   */
  public record Alternative(String parent, String role, List<String> messages) {
    /** The maximum number of listed alternatives. */
    public static final int MOST = 10;

    public Alternative {
      messages = List.copyOf(messages);
    }

    /** A reason in words, with its node. */
    public static String shown(Reason reason) {
      return reason.node() == null ? reason.message() : reason.node() + ": " + reason.message();
    }
  }

  /**
   * A node of the path.
   *
   * @param enabled its own enabled flag under this parent
   * @param resources all resources of its level
   * @param blocks whether a condition fails here: disabled, filtered, no worker, or slots missing
   * @param reserved reservation of the node; absent: none
   */
  public record Step(
      String node,
      String level,
      boolean enabled,
      List<Use> resources,
      boolean blocks,
      @Nullable Reserved reserved) {
    public Step {
      resources = List.copyOf(resources);
    }

    /** A copy for a task that nothing blocks, because nobody would start it. */
    public Step unblocked() {
      return new Step(node, level, enabled, resources, false, reserved);
    }
  }

  /**
   * The reservation of a node for a job that has a task on it, or below, that has been waiting for
   * slots for longer than its {@code reserve_after_sec}
   * (docs/design/design.md#room-kept-for-heavy-tasks).
   *
   * @param task node of the waiting task; absent: unknown
   * @param sinceMillis start of the reservation
   * @param idleSlots free slots of the node that other tasks do not get
   */
  public record Reserved(String job, @Nullable String task, long sinceMillis, long idleSlots) {}

  /**
   * Slots of one resource on one node.
   *
   * @param need need of the job; 0: none
   * @param used slots used by all running tasks; may exceed the limit
   */
  public record Use(String resource, int need, int used, int limit) {}

  /** The conditions that can keep a task from starting. */
  public enum Kind {
    JOB_DISABLED,
    JOB_INVALID,
    JOB_PAUSED,
    /** The job waits until fewer jobs run. */
    CAPACITY,
    /** The job's {@code complete_by} has passed. */
    DEADLINE,
    SCHEDULER_DISABLED,
    ALREADY_RUNNING,
    DONE,
    FAILED,
    /** An operator has cancelled the task. */
    CANCELLED,
    BACKOFF,
    DEPENDENCY,
    /** Whole jobs must be done first. */
    JOB_DEPENDENCY,
    NODE_DISABLED,
    FILTERED,
    RESOURCE,
    NO_WORKER,
    /** The job has the maximum number of running tasks. */
    MAX_CONCURRENT,
    /** The start rate of the job, or of a node, is exhausted. */
    START_RATE,
    /** As many starts are in flight as may be. */
    STARTING,
    /** The task could start, and waits for others to fill its batch. */
    BATCH,
    /** The job's queue uses its maximum number of slots. */
    QUEUE_LIMIT,
    /** A redundancy group lets no further member be busy. */
    GROUP,
    /** The node is reserved for a task that has been waiting for long. */
    RESERVED,
    /** An operator brakes the node, the job or its queue to a standstill. */
    BRAKE,
    /** The roll-out of the job is halted, or the task waits for a later stage of it. */
    ROLLOUT,
    /** A window of the node, the job, its queue or the settings is closed. */
    WINDOW,
    /** The node is quarantined, because tasks fail there. */
    QUARANTINE,
    /** The job as a whole has failed. */
    JOB_FAILED,
    /** The job as a whole has succeeded. */
    JOB_SUCCEEDED,
    /** The node belongs to another scheduler. */
    OTHER_SHARD
  }

  /**
   * One failing condition.
   *
   * @param node node of the path where it fails; absent when it does not concern a node
   * @param resource for {@code RESOURCE}: name of the resource
   * @param need slots that the job needs
   * @param free remaining slots, negative when over-committed
   * @param limit total slots
   * @param untilMillis when it is known to end by itself; 0: unknown
   * @param message sentence for people
   * @param holders for {@code RESOURCE}: running tasks that use the slots, those expected to end
   *     first; at most {@link #MOST_HOLDERS}
   * @param holdersTotal total number of such tasks
   * @param freeAtMillis when enough of them are expected to have ended to meet the need; 0: unknown
   */
  @RecordBuilder
  public record Reason(
      Kind kind,
      @Nullable String node,
      @Nullable String resource,
      int need,
      int free,
      int limit,
      long untilMillis,
      String message,
      List<ResourceHolder> holders,
      long holdersTotal,
      long freeAtMillis)
      implements ExplanationReasonBuilder.With {
    public static final int MOST_HOLDERS = 20;

    public Reason {
      holders = List.copyOf(holders);
    }

    /** Creates a condition without slots and without a known end. */
    public static Reason of(Kind kind, @Nullable String node, String message) {
      return new Reason(kind, node, null, 0, 0, 0, 0, message, List.of(), 0, 0);
    }

    /** A copy with the missing slots, or starts. */
    public Reason lacking(@Nullable String what, int needed, int left, int of) {
      return with(reason -> reason.resource(what).need(needed).free(left).limit(of));
    }

    /** A copy with the time when it ends by itself; 0: unknown. */
    public Reason until(long millis) {
      return withUntilMillis(millis);
    }

    /** A copy with the tasks that use the slots. */
    public Reason heldBy(List<ResourceHolder> some, long total, long freeAt) {
      return with(reason -> reason.holders(some).holdersTotal(total).freeAtMillis(freeAt));
    }
  }
}
