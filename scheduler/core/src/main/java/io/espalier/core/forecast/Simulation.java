package io.espalier.core.forecast;

import io.espalier.core.config.Job;
import io.espalier.core.scheduling.Replay;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.scheduling.SchedulingPolicy;
import io.espalier.core.scheduling.gate.Gate;
import io.espalier.core.scheduling.gate.GateKind;
import io.espalier.core.scheduling.gate.Scope;
import io.espalier.core.scheduling.spi.WorkerSelector;
import io.espalier.core.status.ParsedStatus;
import io.espalier.core.status.TaskEvent;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.TaskStatus.Main;
import io.espalier.core.status.TaskTransitions;
import io.espalier.core.status.store.LimitOverride;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Runs the production core from a snapshot in virtual time. Only the tasks are simulated: each
 * invocation is an end that comes after a drawn duration. A draw depends on the seed, the task and
 * the attempt alone, so that two runs with one seed differ only by what was changed.
 *
 * <p>Windows of jobs and nodes open and close, brakes end and ramp up, and jobs that are paused for
 * a time resume; roll-outs have no stages. Jobs do not fail as a whole, and nodes and configuration
 * do not change. Not thread-safe; single use.
 */
public final class Simulation {
  private static final int STARTS_PER_ROUND = 4_096;

  /** The maximum number of jobs that a message names. */
  private static final int MOST_NAMED = 10;

  /** More invocations than that are not simulated: it would take minutes. */
  private static final long MOST_STARTS = 30_000_000;

  private static final TaskEvent STARTED = new TaskEvent.Started();
  private static final TaskEvent DONE = new TaskEvent.Ended(ParsedStatus.DONE);
  private static final TaskEvent FAILED = new TaskEvent.Ended(ParsedStatus.ERROR_BACKOFF);

  private final SchedulerSnapshot snapshot;
  private final SchedulingCore core;
  private final SchedulingPolicy policy;
  private final long seed;
  private final JobPace[] paces;
  private final ForecastMeter meter;
  private final ForecastWindows windows;
  private final ForecastBrakes brakes;
  private final EndQueue ends = new EndQueue(1_024);
  private final long[] left;
  private final long[] starts;
  private final long[] lastEnd;
  private long now;
  private long started;

  /** Jobs have tasks left, and nothing tells how long those take. */
  public static final class NoDurationsException extends RuntimeException {
    private static final long serialVersionUID = 1;

    NoDurationsException(String jobs) {
      super(jobs);
    }
  }

  /**
   * Brings a new core into the state of the snapshot.
   *
   * @param paces of every job that has tasks left
   * @param policies by name
   * @param selectors by name
   * @throws NoDurationsException when a pace is missing, with the names of such jobs
   * @throws IllegalArgumentException when the policy is missing
   */
  public Simulation(
      SchedulerSnapshot snapshot,
      Map<String, JobPace> paces,
      WhatIf change,
      Map<String, ? extends SchedulingPolicy> policies,
      Map<String, WorkerSelector> selectors,
      long seed) {
    this.snapshot = snapshot;
    this.seed = seed;
    now = snapshot.atMillis();
    core = new SchedulingCore(seed, selectors);
    new Replay(core, policies, snapshot.events().iterator()).run();
    snapshot.pauses().forEach(this::pause);
    change.applyTo(core);
    SchedulingPolicy known = policies.get(core.config().settings().policy());
    if (known == null) {
      throw new IllegalArgumentException("no policy " + core.config().settings().policy());
    }
    policy = known;
    windows = new ForecastWindows(core, paces);
    brakes = new ForecastBrakes(core, snapshot.brakes(), change.brakes());
    int jobs = core.jobCount();
    this.paces = new JobPace[jobs];
    left = new long[jobs];
    starts = new long[jobs];
    lastEnd = new long[jobs];
    List<String> unknown = new ArrayList<>();
    for (int job = 0; job < jobs; job++) {
      JobPace pace = paces.get(core.jobName(job));
      left[job] = core.tasks().progress(job).left();
      if (pace == null && left[job] > 0) {
        unknown.add(core.jobName(job));
      }
      this.paces[job] = pace == null ? JobPace.constant(0) : pace;
    }
    if (!unknown.isEmpty()) {
      throw new NoDurationsException(named(unknown));
    }
    meter = new ForecastMeter(core, now);
  }

  private static String named(Collection<String> jobs) {
    int more = jobs.size() - MOST_NAMED;
    return jobs.stream().limit(MOST_NAMED).collect(Collectors.joining(", "))
        + (more > 0 ? " and " + more + " more" : "");
  }

  /** Closes the gate of a paused job again, now with its end, which events do not tell. */
  private void pause(String job, long untilMillis) {
    core.gates().close(new Gate(GateKind.PAUSE, Scope.job(job), "", "", 0, untilMillis));
  }

  /**
   * Runs until nothing can happen any more.
   *
   * @param horizonMillis the longest virtual time
   */
  public Forecast run(long horizonMillis) {
    long end = snapshot.atMillis() + horizonMillis;
    resume();
    boolean complete = false;
    while (!complete && now < end && started < MOST_STARTS) {
      while (ends.nextTime() <= now) {
        end(ends.remove());
      }
      core.advance(now, Integer.MAX_VALUE);
      windows.step(now);
      brakes.step(now);
      core.gates()
          .due(GateKind.PAUSE, now)
          .forEach(gate -> core.gates().open(GateKind.PAUSE, gate.scope()));
      boolean rounds = true;
      while (rounds) {
        rounds = !core.round(policy, STARTS_PER_ROUND, this::placed);
      }
      meter.sample(now, left);
      long next = Math.min(Math.min(ends.nextTime(), core.nextTimerMillis()), nextOverrideEnd());
      long opens = Math.min(windows.nextMillis(), brakes.nextMillis());
      opens = Math.min(opens, core.gates().nextMillis(GateKind.PAUSE));
      complete = next == Long.MAX_VALUE && (opens == Long.MAX_VALUE || isOver());
      next = Math.min(next, opens);
      now = complete ? now : Math.min(end, Math.max(next, now + 1));
      endOverrides();
    }
    meter.finish(now, left);
    long millis = now - snapshot.atMillis();
    return new Forecast(
        millis,
        complete,
        started,
        meter.jobs(left, starts, lastEnd, windows::missed),
        meter.use(),
        meter.hot(now));
  }

  private boolean isOver() {
    return Arrays.stream(left).allMatch(tasks -> tasks == 0);
  }

  /** Lets the tasks go on that run in the snapshot. */
  private void resume() {
    for (int i = 0; i < snapshot.startedMillis().size(); i++) {
      long run = SchedulerSnapshot.run(i);
      long began = Math.min(now, snapshot.startedMillis().get(i));
      begin(run, began);
      ends.add(now + rest(run, now - began), run);
    }
  }

  private long rest(long run, long elapsed) {
    long millis = paces[core.running().job(run)].drawRest(elapsed, chance(run, 0));
    meter.occupied(core.running().job(run), core.running().node(run), millis);
    return millis;
  }

  private void begin(long run, long atMillis) {
    TaskStatus before = core.running().status(run);
    TaskStatus status =
        TaskTransitions.apply(before, STARTED, job(run).retrying(), atMillis).status();
    core.setRunStatus(run, Objects.requireNonNull(status));
    meter.started(core.running().job(run));
  }

  private void placed(long run) {
    begin(run, now);
    int job = core.running().job(run);
    long millis = Math.max(1, paces[job].draw(chance(run, 0)));
    meter.occupied(job, core.running().node(run), millis);
    ends.add(now + millis, run);
    starts[job]++;
    started++;
  }

  private Job job(long run) {
    return Objects.requireNonNull(core.job(core.running().job(run)));
  }

  private void end(long run) {
    int job = core.running().job(run);
    boolean finishes = chance(run, 1) < paces[job].finishing();
    TaskStatus after =
        TaskTransitions.apply(
                core.running().status(run), finishes ? DONE : FAILED, job(run).retrying(), now)
            .status();
    core.finish(run, after);
    meter.ended(job);
    if (after != null && after.isFinal()) {
      lastEnd[job] = now - snapshot.atMillis();
      if (--left[job] == 0) {
        admitNext();
      }
    }
  }

  /** A job that is over makes place for one that waits for the scheduler's capacity. */
  private void admitNext() {
    Optional<Gate> waiting = core.gates().of(GateKind.CAPACITY).stream().findFirst();
    waiting.ifPresent(gate -> core.gates().open(GateKind.CAPACITY, gate.name()));
  }

  private long nextOverrideEnd() {
    return core.capacity().overrides().stream()
        .mapToLong(LimitOverride::untilMillis)
        .filter(until -> until > 0)
        .min()
        .orElse(Long.MAX_VALUE);
  }

  private void endOverrides() {
    for (LimitOverride override : core.capacity().overrides()) {
      if (override.untilMillis() > 0 && override.untilMillis() <= now) {
        core.limits().endOverride(override.key());
        while (!core.stepLimits(Integer.MAX_VALUE)) {
          // Each call brings more of it into effect.
        }
      }
    }
  }

  /** Returns a random number from 0 to below 1 that depends on the task and its attempt alone. */
  private double chance(long run, int purpose) {
    TaskStatus status = core.running().status(run);
    int attempt = status == null || status.main() != Main.RUNNING ? 0 : status.attempts();
    long z = seed * 0x9e3779b97f4a7c15L + core.running().job(run);
    z = mixed(z * 0xbf58476d1ce4e5b9L + core.running().node(run));
    z = mixed(z + attempt * 2L + purpose);
    return (z >>> 11) * 0x1.0p-53;
  }

  private static long mixed(long value) {
    long z = (value ^ (value >>> 30)) * 0xbf58476d1ce4e5b9L;
    z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
    return z ^ (z >>> 31);
  }
}
