package io.espalier.core.protocol;

import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.WorkerInfo;
import io.espalier.core.running.WorkerRef;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** One worker process as seen by the scheduler. */
final class RemoteWorker {
  /** The most starts of a message, apart from the rest of the batch of tasks of the last one. */
  private static final int MOST_STARTS = 256;

  private static final int MOST_OTHERS = 1_000;

  final WorkerRef ref;
  WorkerDescription facts;

  /** The valid session; 0: none. */
  long session;

  /** The number of the newest heartbeat, and of the one that requested the current session. */
  long lastHeartbeat;

  long registeredBy;
  long lastSeen;

  /** The time after which all its tasks are dead. */
  long lostAt;

  boolean draining;
  boolean healthy = true;
  String ownNote = "";

  /** Whether another process has taken its shard name. */
  boolean retired;

  WorkerInfo.State state = WorkerInfo.State.NEW;
  String note = "";
  long since;

  /** Its runs that have not ended. */
  final Set<TrackedRun> runs = new LinkedHashSet<>();

  private final ArrayDeque<TrackedRun> starts = new ArrayDeque<>();
  private final Set<TrackedRun> ordered = new LinkedHashSet<>();
  final TreeSet<TrackedRun> unsure =
      new TreeSet<>(
          Comparator.comparingLong((TrackedRun run) -> run.askAt)
              .thenComparingLong(run -> run.order));
  private final ArrayDeque<RunId> settled = new ArrayDeque<>();
  private final List<TaskCommand> strangers = new ArrayList<>();

  @Nullable Batch underWay;
  int failedCalls;
  long retryAt = Long.MIN_VALUE;

  /** The health check that is queued or running; null: none. */
  @Nullable TrackedRun check;

  long checkedAt;
  long nextCheck;
  long lastGood = Long.MIN_VALUE;
  String checkNote = "";
  String callNote = "";

  /** When its entry in the heap of timers is due. */
  long armedAt = Long.MAX_VALUE;

  /**
   * A batch that was sent and is not answered yet.
   *
   * @param ordered runs whose commands are in the batch, with the number of the last one
   */
  record Batch(
      long number,
      List<TrackedRun> starts,
      Map<TrackedRun, Long> ordered,
      List<TrackedRun> asks,
      List<RunId> settled) {}

  RemoteWorker(WorkerRef ref, WorkerDescription facts) {
    this.ref = ref;
    this.facts = facts;
  }

  boolean isLost() {
    return state == WorkerInfo.State.LOST;
  }

  boolean hasSession() {
    return session != 0 && !retired && !isLost();
  }

  void queue(TrackedRun run) {
    starts.add(run);
  }

  boolean unqueue(TrackedRun run) {
    return starts.remove(run);
  }

  /** Queues the commands for a run, if the worker is known to have it. */
  void deliverOrders(TrackedRun run) {
    if (run.state == TrackedRun.State.RUNNING && !run.orders.isEmpty()) {
      ordered.add(run);
    }
  }

  /** Notes that a run is known to run here. */
  void confirm(TrackedRun run) {
    unsure.remove(run);
    run.state = TrackedRun.State.RUNNING;
    run.wasConfirmed = true;
    deliverOrders(run);
  }

  /**
   * Notes that the worker has carried out the commands of a run up to that number.
   *
   * @return whether it has confirmed a recall
   */
  boolean ordersArrived(TrackedRun run, long upTo) {
    boolean recalled =
        run.orders.stream().anyMatch(order -> order.recall() && order.number() <= upTo);
    run.orders.removeIf(order -> order.number() <= upTo);
    deliverOrders(run);
    return recalled && facts.capabilities().contains(WorkerDescription.RECALL);
  }

  void settle(RunId run) {
    settled.add(run);
  }

  void order(TaskCommand stranger) {
    strangers.add(stranger);
  }

  void forget(TrackedRun run) {
    runs.remove(run);
    ordered.remove(run);
    unsure.remove(run);
  }

  /** Changes the time of the next query for a run, which is part of the order of the set. */
  void ask(TrackedRun run, long at) {
    unsure.remove(run);
    run.state = TrackedRun.State.UNSURE;
    run.askAt = at;
    unsure.add(run);
  }

  /** Returns true when there is anything to send now. */
  boolean hasWork(long now) {
    return !starts.isEmpty()
        || !ordered.isEmpty()
        || !settled.isEmpty()
        || !strangers.isEmpty()
        || (!unsure.isEmpty() && unsure.first().askAt <= now);
  }

  /** Returns whether the next start is of the same batch of tasks as the last one taken. */
  private boolean isCutHere(List<LaunchSpec> taken) {
    TrackedRun next = starts.peek();
    return next != null && next.launch != null && taken.get(taken.size() - 1).isWith(next.launch);
  }

  /** Takes the next batch; its contents count as sent but not answered. */
  WorkBatch take(long epoch, long number, long now) {
    List<TrackedRun> sentStarts = new ArrayList<>();
    List<LaunchSpec> launches = new ArrayList<>();
    while (!starts.isEmpty() && (launches.size() < MOST_STARTS || isCutHere(launches))) {
      TrackedRun run = starts.remove();
      LaunchSpec launch = run.launch;
      if (launch != null && run.state == TrackedRun.State.QUEUED) {
        run.state = TrackedRun.State.SENT;
        run.launch = null;
        launches.add(launch);
        sentStarts.add(run);
      }
    }
    Map<TrackedRun, Long> sentOrders = new LinkedHashMap<>();
    List<TaskCommand> orders = new ArrayList<>(strangers);
    strangers.clear();
    var ofRuns = ordered.iterator();
    while (orders.size() < MOST_OTHERS && ofRuns.hasNext()) {
      TrackedRun run = ofRuns.next();
      ofRuns.remove();
      orders.addAll(run.orders);
      sentOrders.put(run, run.lastOrder);
    }
    List<TrackedRun> sentAsks = new ArrayList<>();
    while (sentAsks.size() < MOST_OTHERS && !unsure.isEmpty() && unsure.first().askAt <= now) {
      sentAsks.add(unsure.pollFirst());
    }
    List<RunId> nowSettled = new ArrayList<>();
    while (nowSettled.size() < MOST_OTHERS && !settled.isEmpty()) {
      nowSettled.add(settled.remove());
    }
    underWay = new Batch(number, sentStarts, sentOrders, sentAsks, nowSettled);
    return new WorkBatch(
        epoch,
        session,
        ref,
        number,
        launches,
        orders,
        sentAsks.stream().map(run -> run.id).toList(),
        nowSettled);
  }

  /** Discards what belongs to a session that has ended. */
  void endSession() {
    session = 0;
    underWay = null;
    settled.clear();
    strangers.clear();
    ordered.clear();
    check = null;
  }

  WorkerInfo info(boolean cordoned) {
    return new WorkerInfo(
        ref,
        facts.host(),
        facts.address(),
        state,
        cordoned,
        facts.physical(),
        facts.labels(),
        facts.maxTasks(),
        since,
        lastSeen,
        note,
        facts.measured(),
        facts.figures());
  }
}
