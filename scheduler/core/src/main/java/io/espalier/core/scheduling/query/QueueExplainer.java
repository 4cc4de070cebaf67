package io.espalier.core.scheduling.query;

import io.espalier.core.api.view.Explanation.Kind;
import io.espalier.core.api.view.Explanation.Reason;
import io.espalier.core.scheduling.capacity.RunningCap;
import io.espalier.core.scheduling.gate.Scope;
import io.espalier.core.scheduling.queue.QueueLimit;
import io.espalier.core.scheduling.queue.QueueState;
import io.espalier.core.scheduling.queue.QueueTable;
import io.espalier.core.scheduling.reservation.CapacityReservation;
import io.espalier.core.scheduling.state.SchedulingState;
import java.util.ArrayList;
import java.util.List;

/**
 * Lists the caps of a job's queue that keep the job from starting (docs/design/features.md#queues).
 */
final class QueueExplainer {
  private QueueExplainer() {}

  /** Returns one reason for each resource whose cap blocks the job. */
  static List<Reason> reasons(SchedulingState state, int job) {
    QueueTable queues = state.queues;
    QueueState queue = queues.settled(queues.ofJob(job));
    List<Reason> reasons = new ArrayList<>();
    RunningCap most = queue.isFull() ? state.limitTable.cap(Scope.queue(queue.name)) : null;
    if (most != null) {
      reasons.add(EntryMessages.reason(most, queue.running));
    }
    for (QueueLimit cap : queue.caps()) {
      int need = queues.need(job, cap.resource);
      // This query comes first, because it applies pending changes.
      long total = queues.total(cap.resource);
      long held = queue.held[cap.resource];
      String kept = kept(state, queue);
      boolean isKept = !cap.blocks(need) && queue.holder != job && cap.keepsFrom(need);
      if (cap.blocks(need) || isKept) {
        String resource = state.config().settings().resources().get(cap.resource).name();
        String all = cap.isRelative() ? " of the " + total + " in all" : "";
        reasons.add(
            Reason.of(
                    isKept ? Kind.RESERVED : Kind.QUEUE_LIMIT,
                    null,
                    "needs "
                        + need
                        + " of "
                        + resource
                        + ", the queue "
                        + queue.name
                        + " holds "
                        + held
                        + " and may hold "
                        + cap.cap()
                        + all
                        + (isKept
                            ? "; the rest is " + kept
                            : queue.holder == job ? "; " + kept : ""))
                .lacking(
                    resource,
                    need,
                    (int) Math.max(Integer.MIN_VALUE, cap.cap() - held),
                    (int) cap.cap()));
      }
    }
    return reasons;
  }

  private static String kept(SchedulingState state, QueueState queue) {
    int holder = queue.holder;
    return holder < 0
        ? ""
        : "kept free for job "
            + state.jobs.name(holder)
            + ", since "
            + CapacityReservation.shown(state.rooms.queues().keptSince(holder));
  }
}
