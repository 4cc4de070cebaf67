package io.espalier.testkit.cluster;

import io.espalier.core.protocol.Heartbeat;
import io.espalier.core.protocol.HeartbeatResponse;
import io.espalier.core.protocol.ProtocolTimers;
import io.espalier.core.protocol.RunId;
import io.espalier.core.protocol.WorkBatch;
import io.espalier.core.protocol.WorkResponse;
import io.espalier.core.running.LaunchSpec;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Alters messages as a {@link ProtocolBug} requires. */
final class BuggyMessages {
  private BuggyMessages() {}

  /** Returns a batch with another address, without starts of running tasks. */
  static WorkBatch addressed(
      WorkBatch work, Collection<RunId> running, long epoch, long session, long number) {
    return new WorkBatch(
        epoch,
        session,
        work.worker(),
        number,
        work.starts().stream().filter(launch -> !running.contains(RunId.of(launch))).toList(),
        work.orders(),
        work.asks(),
        work.settled());
  }

  /** Returns a batch with more starts. */
  static WorkBatch withStarts(WorkBatch work, List<LaunchSpec> more) {
    List<LaunchSpec> starts = new ArrayList<>(work.starts());
    starts.addAll(more);
    return new WorkBatch(
        work.epoch(),
        work.session(),
        work.worker(),
        work.number(),
        starts,
        work.orders(),
        work.asks(),
        work.settled());
  }

  /** Returns only the first of its answers to starts. */
  static WorkResponse cutTo(WorkResponse answer, int starts) {
    return new WorkResponse(
        answer.number(),
        answer.verdict(),
        answer.epoch(),
        answer.starts().subList(0, starts),
        answer.asked());
  }

  /** Returns an answer that refuses the last start. */
  static WorkResponse lastRefused(WorkResponse answer) {
    List<WorkResponse.StartAnswer> starts = new ArrayList<>(answer.starts());
    starts.set(starts.size() - 1, WorkResponse.StartAnswer.refused("cut off", 0));
    return new WorkResponse(
        answer.number(), answer.verdict(), answer.epoch(), starts, answer.asked());
  }

  /** Returns an answer that refuses the whole batch. */
  static WorkResponse doneWithNothing(WorkResponse answer, WorkBatch work) {
    return new WorkResponse(
        answer.number(),
        WorkResponse.Verdict.DONE,
        answer.epoch(),
        work.starts().stream()
            .map(start -> WorkResponse.StartAnswer.refused("not acted on", 0))
            .toList(),
        work.asks().stream().map(ask -> WorkResponse.RunState.NOT_RUNNING).toList());
  }

  /** Returns a heartbeat that declares the tasks of those processes dead. */
  static Heartbeat clearing(Heartbeat heartbeat, List<Long> instances) {
    return new Heartbeat(
        heartbeat.worker(),
        heartbeat.number(),
        heartbeat.epoch(),
        heartbeat.session(),
        heartbeat.facts(),
        heartbeat.draining(),
        heartbeat.healthy(),
        heartbeat.note(),
        heartbeat.running(),
        heartbeat.unsettled(),
        heartbeat.runs(),
        instances,
        heartbeat.storeId());
  }

  /** Returns an answer with a lease that is longer by {@code more}. */
  static HeartbeatResponse withLongerLease(HeartbeatResponse answer, long more) {
    Map<String, Long> values = new HashMap<>(answer.timers().values());
    values.merge("lease", more, Long::sum);
    values.merge("margin", more, Long::sum);
    values.merge("takeover", 2 * more, Long::sum);
    return new HeartbeatResponse(
        answer.number(),
        answer.verdict(),
        answer.epoch(),
        answer.session(),
        answer.version(),
        ProtocolTimers.of(values),
        answer.drain(),
        answer.message(),
        answer.storeId());
  }
}
