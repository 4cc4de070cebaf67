package io.espalier.core.protocol;

import io.espalier.core.config.task.KillRequest;
import io.espalier.core.protocol.HeartbeatResponse.Verdict;
import io.espalier.core.protocol.SchedulerProtocol.Past;
import io.espalier.core.running.WorkerInfo;
import io.espalier.core.running.WorkerRef;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Handles heartbeats: assigns sessions and decides which worker may have which name. */
final class RegistrationHandler {
  private final LeadershipTerm term;
  private final ProtocolTimers timers;
  private final Past past;
  private final WorkerRegistry pool;
  private final TrackedRuns runs;
  private final WorkerHealth states;
  private final SchedulerOutput out;
  private long sessions;
  private long earlierLeasesEnd = Long.MIN_VALUE;

  RegistrationHandler(
      LeadershipTerm term,
      ProtocolTimers timers,
      Past past,
      WorkerRegistry pool,
      TrackedRuns runs,
      WorkerHealth states,
      SchedulerOutput out) {
    this.term = term;
    this.timers = timers;
    this.past = past;
    this.pool = pool;
    this.runs = runs;
    this.states = states;
    this.out = out;
  }

  /** Sets the time at which all leases of earlier leaderships have ended. */
  void earlierLeasesEnd(long millis) {
    earlierLeasesEnd = millis;
  }

  /** Returns true when the worker has served an earlier scheduler that a new store cannot know. */
  boolean showsEarlierScheduler(Heartbeat heartbeat) {
    return !hasServedThisStore(heartbeat)
        && (term.isForeign(heartbeat.storeId())
            || (heartbeat.epoch() != 0 && heartbeat.epoch() != term.epoch())
            || hasUnknownRuns(heartbeat));
  }

  private boolean hasServedThisStore(Heartbeat heartbeat) {
    return !heartbeat.storeId().isEmpty() && heartbeat.storeId().equals(term.storeId());
  }

  private boolean hasUnknownRuns(Heartbeat heartbeat) {
    return heartbeat.runs().stream().anyMatch(run -> !runs.knows(run));
  }

  /**
   * Returns true when a worker has invocations of a leadership that the store does not know. It
   * must stop all its tasks. A new store knows the leaderships that it has had itself.
   */
  private boolean mustStop(Heartbeat heartbeat) {
    return switch (past) {
      case KNOWN -> false;
      case NEW -> !hasServedThisStore(heartbeat) && hasUnknownRuns(heartbeat);
      case UNKNOWN -> hasUnknownRuns(heartbeat);
    };
  }

  /** Handles a heartbeat. To be called only while no newer leader is known. */
  HeartbeatResponse heartbeat(Heartbeat heartbeat, long nowMillis) {
    OptionalInt version = Versions.OURS.common(heartbeat.facts().versions());
    if (version.isEmpty()) {
      String message =
          "no common protocol version: worker "
              + heartbeat.worker().shard()
              + " speaks "
              + heartbeat.facts().versions()
              + ", the scheduler "
              + Versions.OURS;
      out.warn(message);
      return answer(heartbeat, Verdict.REFUSED, message);
    }
    RemoteWorker worker = pool.get(heartbeat.worker());
    if (worker != null && heartbeat.number() < worker.lastHeartbeat) {
      return answer(heartbeat, Verdict.REFUSED, "overtaken by a later heartbeat");
    }
    if (heartbeat.session() == 0) {
      boolean copy =
          worker != null && worker.hasSession() && heartbeat.number() == worker.registeredBy;
      worker = copy ? worker : register(heartbeat, worker, nowMillis);
      if (worker == null) {
        return refusal(heartbeat);
      }
    } else if (worker == null) {
      return answer(heartbeat, Verdict.REGISTER_AGAIN, "not registered here");
    } else if (worker.retired || worker.isLost()) {
      return answer(heartbeat, Verdict.STOP_ALL, "taken for lost or replaced");
    } else if (worker.session != heartbeat.session()) {
      return answer(heartbeat, Verdict.REGISTER_AGAIN, "this session has ended");
    }
    refresh(worker, heartbeat, nowMillis);
    return new HeartbeatResponse(
        heartbeat.number(),
        Verdict.ACCEPTED,
        term.epoch(),
        worker.session,
        version.getAsInt(),
        timers,
        states.drains(worker),
        "",
        term.storeId());
  }

  HeartbeatResponse answer(Heartbeat to, Verdict verdict, String message) {
    return new HeartbeatResponse(
        to.number(), verdict, term.epoch(), 0, 0, timers, false, message, term.storeId());
  }

  private void refresh(RemoteWorker worker, Heartbeat heartbeat, long nowMillis) {
    worker.lastHeartbeat = heartbeat.number();
    worker.lastSeen = nowMillis;
    worker.lostAt = nowMillis + timers.lostMillis();
    if (heartbeat.session() == 0) {
      // It has heard nothing from us yet. If our answer is lost, too, its lease is still that of an
      // earlier leader, which may be longer than ours.
      worker.lostAt = Math.max(worker.lostAt, earlierLeasesEnd);
    }
    worker.draining = heartbeat.draining();
    worker.healthy = heartbeat.healthy();
    worker.ownNote = heartbeat.note();
    if (!worker.facts.equals(heartbeat.facts())) {
      boolean isMeasurement = worker.facts.isSameButMeasured(heartbeat.facts());
      worker.facts = heartbeat.facts();
      if (isMeasurement) {
        pool.measured();
      } else {
        pool.changed();
      }
    }
    states.review(worker, nowMillis);
  }

  /** Registers a worker and gives it a new session; null when it cannot be registered. */
  private @Nullable RemoteWorker register(
      Heartbeat heartbeat, @Nullable RemoteWorker known, long nowMillis) {
    WorkerRef ref = heartbeat.worker();
    RemoteWorker holder = pool.ofShard(ref.shard());
    if ((known != null && known.retired) || mustStop(heartbeat)) {
      return null;
    }
    if (holder != null && holder != known && !mayReplace(holder, heartbeat, nowMillis)) {
      return null;
    }
    for (long instance : heartbeat.cleared()) {
      clear(new WorkerRef(ref.shard(), instance), nowMillis);
    }
    if (holder != null && holder != known && pool.get(holder.ref) == holder && !holder.isLost()) {
      holder.retired = true;
      holder.endSession();
      out.warn("worker " + ref.shard() + " is replaced; its tasks are waited for");
      states.review(holder, nowMillis);
    }
    RemoteWorker worker = known != null ? known : new RemoteWorker(ref, heartbeat.facts());
    pool.put(worker);
    worker.endSession();
    worker.session = ++sessions;
    worker.registeredBy = heartbeat.number();
    worker.failedCalls = 0;
    worker.retryAt = Long.MIN_VALUE;
    worker.nextCheck = nowMillis;
    worker.lastGood = Long.MIN_VALUE;
    worker.checkNote = "";
    states.set(worker, WorkerInfo.State.NEW, "", nowMillis);
    takeStock(worker, heartbeat, nowMillis);
    return worker;
  }

  /** Returns true when a newcomer may take the shard name of a registered worker. */
  private boolean mayReplace(RemoteWorker holder, Heartbeat newcomer, long nowMillis) {
    return holder.isLost()
        || newcomer.cleared().contains(holder.ref.instance())
        || nowMillis >= holder.lastSeen + timers.unhealthyMillis();
  }

  private HeartbeatResponse refusal(Heartbeat heartbeat) {
    if (!heartbeat.runs().isEmpty()) {
      return answer(heartbeat, Verdict.STOP_ALL, "its tasks are not known here, or it is replaced");
    }
    RemoteWorker holder = pool.ofShard(heartbeat.worker().shard());
    return answer(
        heartbeat,
        Verdict.REFUSED,
        holder == null
            ? "it was replaced"
            : "worker "
                + holder.ref.shard()
                + " is another process, on "
                + holder.facts.host()
                + ": give this one a name of its own with --shard-id, or wait until that one has"
                + " been silent for "
                + timers.unhealthyMillis() / 1000
                + " s");
  }

  /** Marks a worker process as ended and its tasks as dead. */
  private void clear(WorkerRef gone, long nowMillis) {
    String why = "its worker was restarted";
    for (TrackedRun run : runs.resumedOn(gone)) {
      runs.lost(run, why, nowMillis);
    }
    RemoteWorker worker = pool.get(gone);
    if (worker != null) {
      states.lose(worker, why, nowMillis);
      pool.remove(worker);
    }
  }

  /**
   * Reconciles the runs of the old session: a run that the worker does not list must be asked
   * about.
   */
  private void takeStock(RemoteWorker worker, Heartbeat heartbeat, long nowMillis) {
    worker.runs.addAll(runs.resumedOn(worker.ref));
    Set<RunId> said = Set.copyOf(heartbeat.runs());
    for (TrackedRun run : List.copyOf(worker.runs)) {
      if (run.state == TrackedRun.State.QUEUED) {
        continue;
      }
      if (said.contains(run.id)) {
        runs.confirm(worker, run);
      } else {
        run.askPause = timers.askFirstMillis();
        worker.ask(run, nowMillis);
      }
    }
    for (RunId stranger : heartbeat.runs()) {
      if (!runs.isLiveOn(stranger, worker.ref) && !HealthCheck.is(stranger.job())) {
        out.warn("worker " + worker.ref.shard() + " runs what it should not: " + stranger);
        worker.order(
            new TaskCommand(
                stranger, Long.MAX_VALUE, new KillRequest(KillRequest.Method.KILL, 0), 0));
      }
    }
    pool.dirty(worker);
  }
}
