package io.espalier.core.scheduling.task;

import io.espalier.core.api.view.FailureGroups;
import io.espalier.core.status.Failure;
import io.espalier.core.status.TaskStatus;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Groups the failed tasks of one job by the fingerprint of their failure. It is updated with every
 * status, so a query costs the number of causes, not the number of tasks.
 */
public final class FailureIndex {
  /**
   * The maximum number of groups. Beyond it, messages probably differ by task, and causes are no
   * longer distinguished.
   */
  static final int MOST_GROUPS = 10_000;

  private static final String OTHER = "other";
  private static final int NEWEST = 16;

  private final Map<String, Group> groups = new HashMap<>();

  /** The tasks that fit into no group. While there are any, no group is added. */
  private final Group others = new Group(new Failure(OTHER, "other causes"));

  private long total;

  private static final class Group {
    /** The failure, as one object shared by all statuses. */
    final Failure failure;

    String message;
    long newestMillis;

    /** The task of the message; negative: none. */
    int newestNode = -1;

    long count;
    long failed;
    final int[] newest = new int[NEWEST];
    int next;

    Group(Failure failure) {
      this.failure = failure;
      message = failure.message();
      Arrays.fill(newest, -1);
    }
  }

  /**
   * Adds a task with this status, which has a failure.
   *
   * @return the status to store, which shares its failure with the others of the group
   */
  TaskStatus add(int node, TaskStatus status, Failure failure) {
    Group group = groups.get(failure.fingerprint());
    if (group == null && groups.size() < MOST_GROUPS && others.count == 0) {
      group = new Group(failure);
      groups.put(failure.fingerprint(), group);
    }
    total++;
    Group into = group == null ? others : group;
    into.count++;
    into.failed += status.main() == TaskStatus.Main.FAILED ? 1 : 0;
    into.newest[into.next++ % NEWEST] = node;
    if (status.sinceMillis() >= into.newestMillis) {
      into.newestMillis = status.sinceMillis();
      into.newestNode = node;
      into.message = into == others ? into.message : failure.message();
    }
    return group == null || group.failure.equals(failure)
        ? status
        : status.withFailure(group.failure);
  }

  /** Removes a task that no longer has this status. */
  void remove(TaskStatus status, Failure failure) {
    Group group = groups.get(failure.fingerprint());
    Group from = group == null ? others : group;
    total--;
    from.count--;
    from.failed -= status.main() == TaskStatus.Main.FAILED ? 1 : 0;
    if (group != null && group.count == 0) {
      groups.remove(failure.fingerprint());
    }
  }

  boolean isEmpty() {
    return total == 0;
  }

  public long total() {
    return total;
  }

  public int size() {
    return groups.size() + (others.count > 0 ? 1 : 0);
  }

  /**
   * Returns the largest groups in descending order of size.
   *
   * @param samples the maximum number of names of nodes per group
   * @param statusOf the status of a node's task, to check samples
   * @param nameOf the name of a node
   */
  public List<FailureGroups.Group> largest(
      int limit,
      int samples,
      IntFunction<@Nullable TaskStatus> statusOf,
      IntFunction<String> nameOf) {
    Comparator<Group> order =
        Comparator.comparingLong((Group g) -> g.count)
            .thenComparingLong(g -> g.newestMillis)
            .thenComparing(g -> g.failure.fingerprint());
    PriorityQueue<Group> smallestFirst = new PriorityQueue<>(order);
    for (Group group : groups.values()) {
      smallestFirst.add(group);
      if (smallestFirst.size() > limit) {
        smallestFirst.remove();
      }
    }
    List<Group> sorted = new ArrayList<>(smallestFirst);
    sorted.sort(order.reversed());
    if (others.count > 0 && sorted.size() < limit) {
      sorted.add(others);
    }
    List<FailureGroups.Group> answer = new ArrayList<>();
    for (Group group : sorted) {
      answer.add(
          new FailureGroups.Group(
              group.failure.fingerprint(),
              group.message,
              group.count,
              group.failed,
              group.count - group.failed,
              names(group, samples, statusOf, nameOf),
              group.newestMillis));
    }
    return answer;
  }

  /** Returns the names of some tasks that belong to a group, that of its message first. */
  private List<String> names(
      Group group,
      int samples,
      IntFunction<@Nullable TaskStatus> statusOf,
      IntFunction<String> nameOf) {
    List<String> names = new ArrayList<>();
    // Stored statuses are not added in the order of their times: the task of the message is first.
    if (samples > 0) {
      addName(group.newestNode, group, statusOf, nameOf, names);
    }
    for (int i = 1; i <= NEWEST && names.size() < samples; i++) {
      int node = group.newest[Math.floorMod(group.next - i, NEWEST)];
      addName(node, group, statusOf, nameOf, names);
    }
    return names;
  }

  private void addName(
      int node,
      Group group,
      IntFunction<@Nullable TaskStatus> statusOf,
      IntFunction<String> nameOf,
      List<String> names) {
    TaskStatus status = node < 0 ? null : statusOf.apply(node);
    Failure failure = status == null ? null : status.failure();
    if (failure != null
        && (group == others
            ? !groups.containsKey(failure.fingerprint())
            : failure.fingerprint().equals(group.failure.fingerprint()))) {
      String name = nameOf.apply(node);
      if (!names.contains(name)) {
        names.add(name);
      }
    }
  }
}
