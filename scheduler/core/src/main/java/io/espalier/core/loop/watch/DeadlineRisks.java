package io.espalier.core.loop.watch;

import io.espalier.core.api.RefusedException;
import io.espalier.core.api.view.JobEta;
import io.espalier.core.config.Job;
import io.espalier.core.event.EventKind;
import io.espalier.core.json.Json;
import io.espalier.core.loop.state.LoopEvents;
import io.espalier.core.loop.state.LoopPorts;
import io.espalier.core.loop.state.RoundStep;
import io.espalier.core.outcome.JobState;
import io.espalier.core.scheduling.SchedulingCore;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Records which jobs are likely to miss their {@code complete_by}: with a chance of one in ten, or
 * because tasks of theirs never end as things are. It looks at one such job after the other, at
 * most every five seconds, and so rarely that the estimates take at most a twentieth of the time.
 * Without a job that has a {@code complete_by} it does nothing.
 */
public final class DeadlineRisks implements RoundStep {
  private static final long PAUSE_MILLIS = 5_000;

  /** An estimate is followed by a pause that is this many times longer. */
  private static final int REST = 20;

  /** A risk is over when this part of the time that is left is to spare. */
  private static final int SPARE = 10;

  private final SchedulingCore core;
  private final LoopEvents events;
  private final JobStateTracker jobStates;
  private final LoopPorts.Warnings warnings;
  private final Function<String, CompletionStage<JobEta>> estimates;

  /** The jobs that have a deadline; the next to be looked at first. */
  private final Deque<String> jobs = new ArrayDeque<>();

  private final Set<String> atRisk = new LinkedHashSet<>();

  /** The jobs whose last estimate has failed; each first failure is logged. */
  private final Set<String> failing = new LinkedHashSet<>();

  private boolean isAsking;
  private boolean isAnswered;
  private long askedMillis;
  private long next = Long.MAX_VALUE;

  /**
   * @param estimates estimates the end of a job, later and in slices, on the thread of the loop
   */
  public DeadlineRisks(
      SchedulingCore core,
      LoopEvents events,
      JobStateTracker jobStates,
      LoopPorts.Warnings warnings,
      Function<String, CompletionStage<JobEta>> estimates) {
    this.core = core;
    this.events = events;
    this.jobStates = jobStates;
    this.warnings = warnings;
    this.estimates = estimates;
  }

  @Override
  public void configured(long nowMillis) {
    jobs.clear();
    for (Job job : core.config().jobs().values()) {
      if (job.timeLimits().completeBy().isPresent()) {
        jobs.add(job.name());
      }
    }
    Set<String> known = new HashSet<>(jobs);
    failing.retainAll(known);
    for (String job : List.copyOf(atRisk)) {
      if (!known.contains(job)) {
        safe(job, "it has none any more", nowMillis);
      }
    }
    next = jobs.isEmpty() ? Long.MAX_VALUE : Math.min(next, nowMillis + PAUSE_MILLIS);
  }

  @Override
  public boolean step(long nowMillis) {
    if (isAnswered) {
      isAnswered = false;
      next = nowMillis + Math.max(PAUSE_MILLIS, REST * (nowMillis - askedMillis));
    }
    if (isAsking || nowMillis < next) {
      return false;
    }
    next = jobs.isEmpty() ? Long.MAX_VALUE : nowMillis + PAUSE_MILLIS;
    for (int left = jobs.size(); left > 0 && !isAsking; left--) {
      String job = jobs.remove();
      jobs.add(job);
      if (isUnderWay(job, nowMillis)) {
        ask(job, nowMillis);
      }
    }
    return false;
  }

  /** Returns whether a job may still miss its deadline. */
  private boolean isUnderWay(String name, long nowMillis) {
    JobState state = jobStates.state(name);
    if (state == JobState.SUCCEEDED) {
      safe(name, "the job has succeeded", nowMillis);
      return false;
    }
    if (state == JobState.FAILED || deadline(name) <= nowMillis) {
      // The state of the job says what has become of it.
      atRisk.remove(name);
      return false;
    }
    return state != JobState.DISABLED && state != JobState.INVALID;
  }

  private long deadline(String name) {
    Job job = core.config().job(name);
    return job == null
        ? Long.MIN_VALUE
        : job.timeLimits().completeBy().map(Instant::toEpochMilli).orElse(Long.MIN_VALUE);
  }

  private void ask(String job, long nowMillis) {
    isAsking = true;
    askedMillis = nowMillis;
    try {
      var unused = estimates.apply(job).whenComplete((eta, failure) -> answered(job, eta, failure));
    } catch (RefusedException e) {
      // Others ask too much at the moment.
      isAsking = false;
    }
  }

  private void answered(String job, @Nullable JobEta eta, @Nullable Throwable failure) {
    isAsking = false;
    isAnswered = true;
    if (!jobs.contains(job)) {
      return;
    }
    if (eta != null) {
      failing.remove(job);
      judge(job, eta);
    } else if (failing.add(job)) {
      warnings.warn(
          "whether its deadline is at risk is unknown, estimating its end has failed: " + failure,
          job,
          "");
    }
  }

  private void judge(String job, JobEta eta) {
    long deadline = deadline(job);
    boolean isKnown = eta.p90Seconds() >= 0;
    long end = eta.atMillis() + (long) Math.ceil(Math.max(0, eta.p90Seconds()) * 1000);
    if (eta.never() > 0 || (isKnown && end > deadline)) {
      if (deadline > eta.atMillis() && atRisk.add(job)) {
        risk(job, eta, end, deadline);
      }
    } else if (isKnown && end <= deadline - (deadline - eta.atMillis()) / SPARE) {
      safe(job, "", eta.atMillis());
    }
  }

  private void risk(String job, JobEta eta, long end, long deadline) {
    Json.Builder said =
        Json.object().put("job", job).put("deadline_at_ms", deadline).put("left", eta.left());
    String why;
    if (eta.never() > 0) {
      said.put("never", eta.never());
      why = eta.never() + " of its tasks do not end as things are";
    } else {
      said.put("p90_at_ms", end);
      why = "with a chance of one in ten it ends after " + instant(end);
    }
    String reason = "it is to be complete by " + instant(deadline) + ", and " + why;
    events.add(eta.atMillis(), EventKind.DEADLINE_AT_RISK, said.put("reason", reason).build());
  }

  private static Instant instant(long millis) {
    return Instant.ofEpochSecond(Math.floorDiv(millis, 1000));
  }

  private void safe(String job, String reason, long nowMillis) {
    if (atRisk.remove(job)) {
      Json.Builder said = Json.object().put("job", job);
      if (!reason.isEmpty()) {
        said.put("reason", reason);
      }
      events.add(nowMillis, EventKind.DEADLINE_SAFE, said.build());
    }
  }

  @Override
  public long nextMillis() {
    return isAnswered ? 0 : isAsking ? Long.MAX_VALUE : next;
  }
}
