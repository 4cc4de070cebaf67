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

/** One worker process as the scheduler's side knows it. */
final class RemoteWorker {
  private static final int MOST_STARTS = 256;
  private static final int MOST_OTHERS = 1_000;

  final WorkerRef ref;
  WorkerDescription facts;

  /** 0: none is valid. */
  long session;

  /** The newest heartbeat seen, and the one that asked for the present session. */
  long lastHeartbeat;

  long registeredBy;
  long lastSeen;

  /** After it all its tasks are dead. */
  long lostAt;

  boolean draining;
  boolean healthy = true;
  String ownNote = "";

  /** Another process has taken its shard name. */
  boolean retired;

  WorkerInfo.State state = WorkerInfo.State.NEW;
  String note = "";
  long since;

  /** What is on it and has not ended. */
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

  /** The health check that was sent or is to be; null: none is. */
  @Nullable TrackedRun check;

  long checkedAt;
  long nextCheck;
  long lastGood = Long.MIN_VALUE;
  String checkNote = "";
  String callNote = "";

  /** When its entry in the heap of timers comes up. */
  long armedAt = Long.MAX_VALUE;

  /**
   * What was sent and is not answered.
   *
   * @param ordered whose orders, and up to which of their numbers
   */
  record Batch(
      long number, List<TrackedRun> starts, Map<TrackedRun, Long> ordered, List<TrackedRun> asks) {}

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

  /** Has the orders for a run sent, if it is known to be there. */
  void deliverOrders(TrackedRun run) {
    if (run.state == TrackedRun.State.RUNNING && !run.orders.isEmpty()) {
      ordered.add(run);
    }
  }

  /** It is known to run here. */
  void confirm(TrackedRun run) {
    unsure.remove(run);
    run.state = TrackedRun.State.RUNNING;
    run.wasConfirmed = true;
    deliverOrders(run);
  }

  /** The orders of a run up to that number have been heeded. */
  void ordersArrived(TrackedRun run, long upTo) {
    run.orders.removeIf(order -> order.number() <= upTo);
    deliverOrders(run);
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

  /** Changes the time of the next question, which is part of the order of the set. */
  void ask(TrackedRun run, long at) {
    unsure.remove(run);
    run.state = TrackedRun.State.UNSURE;
    run.askAt = at;
    unsure.add(run);
  }

  /** Whether there is anything to send at this instant. */
  boolean hasWork(long now) {
    return !starts.isEmpty()
        || !ordered.isEmpty()
        || !settled.isEmpty()
        || !strangers.isEmpty()
        || (!unsure.isEmpty() && unsure.first().askAt <= now);
  }

  /** Takes the next batch; what was taken is under way. */
  WorkBatch take(long epoch, long number, long now) {
    List<TrackedRun> sentStarts = new ArrayList<>();
    List<LaunchSpec> launches = new ArrayList<>();
    while (launches.size() < MOST_STARTS && !starts.isEmpty()) {
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
    underWay = new Batch(number, sentStarts, sentOrders, sentAsks);
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

  /** Forgets what belongs to a session that has ended. */
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
        facts.maxTasks(),
        since,
        lastSeen,
        note);
  }
}
