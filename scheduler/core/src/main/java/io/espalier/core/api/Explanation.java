package io.espalier.core.api;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Why a task is not running: every condition that fails, decided by the same code that starts
 * tasks.
 *
 * @param startable nothing stands in its way; it starts in the next round that reaches it
 * @param status the task's status as a label, such as {@code unstarted} or {@code error_backoff}
 * @param reasons empty if and only if {@code startable}
 * @param path from the instance to the task's node; of several the one on which fewest conditions
 *     fail
 * @param alternatives the node's other places, if it has several; at most {@link Alternative#MOST}
 */
public record Explanation(
    String job,
    String node,
    boolean startable,
    String status,
    List<Reason> reasons,
    List<Step> path,
    List<Alternative> alternatives) {
  public Explanation {
    reasons = List.copyOf(reasons);
    path = List.copyOf(path);
    alternatives = List.copyOf(alternatives);
  }

  /** The same with other reasons. */
  public Explanation withReasons(List<Reason> others) {
    return new Explanation(job, node, startable, status, others, path, alternatives);
  }

  /**
   * A further place of the node, with what stands in the way there beside what is said of the job
   * and the task.
   *
   * @param parent under which it is
   * @param role what the node is there; mostly empty
   * @param messages sentences for people; empty: nothing
   */
  public record Alternative(String parent, String role, List<String> messages) {
    /** So many are told. */
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
   * @param enabled its own flag in that place of the tree
   * @param resources all of its level
   * @param blocks whether a condition fails here: disabled, filtered, no worker, or slots missing
   * @param reserved whom the node is kept free for; absent: nobody
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

    /** Kept free for nobody. */
    public Step(String node, String level, boolean enabled, List<Use> resources, boolean blocks) {
      this(node, level, enabled, resources, blocks, null);
    }
  }

  /**
   * Whom a node is kept free for: a job with a task on it, or below, that has been waiting for
   * slots for longer than its {@code reserve_after_sec}
   * (docs/design/design.md#room-kept-for-heavy-tasks).
   *
   * @param task the node of a task of the job that waits; absent: not known
   * @param sinceMillis since when it has been kept free
   * @param idleSlots free slots of the node that others do not get
   */
  public record Reserved(String job, @Nullable String task, long sinceMillis, long idleSlots) {}

  /**
   * Slots of one resource on one node.
   *
   * @param need of the job; 0: none
   * @param used by all running tasks; may exceed the limit
   */
  public record Use(String resource, int need, int used, int limit) {}

  /** What can stand in a task's way. */
  public enum Kind {
    JOB_DISABLED,
    JOB_INVALID,
    JOB_PAUSED,
    /** The job's {@code complete_by} is over. */
    DEADLINE,
    SCHEDULER_DISABLED,
    ALREADY_RUNNING,
    DONE,
    FAILED,
    BACKOFF,
    DEPENDENCY,
    /** Whole jobs must be done first. */
    JOB_DEPENDENCY,
    NODE_DISABLED,
    FILTERED,
    RESOURCE,
    NO_WORKER,
    /** As many tasks of the job run as it may have. */
    MAX_CONCURRENT,
    /** Tasks of the job, or below a node, have started as often as they may. */
    START_RATE,
    /** The job's queue holds as many slots as it may. */
    QUEUE_LIMIT,
    /** The node is kept free for a task that has been waiting for long. */
    RESERVED,
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
   * @param node where on the path it fails; absent when it is not about a node
   * @param resource for {@code RESOURCE}: which one
   * @param need slots the job needs
   * @param free slots left, negative when over-committed
   * @param limit slots in all
   * @param untilMillis when it is known to end by itself; 0: unknown
   * @param message a sentence for people
   * @param holders for {@code RESOURCE}: running tasks that hold slots, those that are expected to
   *     end first; at most {@link #MOST_HOLDERS}
   * @param holdersTotal how many hold slots
   * @param freeAtMillis when so many of them are expected to have ended that the need is met; 0:
   *     unknown
   */
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
      long freeAtMillis) {
    public static final int MOST_HOLDERS = 20;

    public Reason {
      holders = List.copyOf(holders);
    }

    /** A condition by itself: neither slots nor an end. */
    public static Reason of(Kind kind, @Nullable String node, String message) {
      return new Reason(kind, node, null, 0, 0, 0, 0, message, List.of(), 0, 0);
    }

    /** The same with the slots that are missing, or the starts. */
    public Reason lacking(@Nullable String what, int needed, int left, int of) {
      return new Reason(
          kind,
          node,
          what,
          needed,
          left,
          of,
          untilMillis,
          message,
          holders,
          holdersTotal,
          freeAtMillis);
    }

    /** The same with when it ends by itself; 0: unknown. */
    public Reason until(long millis) {
      return new Reason(
          kind,
          node,
          resource,
          need,
          free,
          limit,
          millis,
          message,
          holders,
          holdersTotal,
          freeAtMillis);
    }

    /** The same with those who hold the slots. */
    public Reason heldBy(List<ResourceHolder> some, long total, long freeAt) {
      return new Reason(
          kind, node, resource, need, free, limit, untilMillis, message, some, total, freeAt);
    }
  }
}
