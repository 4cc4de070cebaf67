package io.espalier.core.loop.watch;

import io.espalier.core.config.Config;
import io.espalier.core.config.Job;
import io.espalier.core.event.EventKind;
import io.espalier.core.json.Json;
import io.espalier.core.loop.state.LoopEvents;
import io.espalier.core.outcome.JobState;
import io.espalier.core.scheduling.SchedulingCore;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Records changes of the states of sets: a set has succeeded when all its jobs have, it has failed
 * when all have ended and some have failed, and otherwise it runs. Jobs that are disabled do not
 * count. The state follows from those of the jobs, so it is stored nowhere; after a restart it is
 * what it was.
 */
final class SetStates {
  private static final int NAMED = 3;

  private final SchedulingCore core;
  private final LoopEvents events;
  private final Function<String, @Nullable JobState> latest;
  private final Map<String, Tally> tallies = new HashMap<>();
  private final Set<String> moved = new LinkedHashSet<>();
  private @Nullable Config config;

  /** The jobs of a set. */
  private static final class Tally {
    private int jobs;
    private int succeeded;
    private int failed;

    /** The state that was recorded last, or that the set had when it became known. */
    private String known = "";

    void count(@Nullable JobState state, int by) {
      jobs += state == JobState.DISABLED ? 0 : by;
      succeeded += state == JobState.SUCCEEDED ? by : 0;
      failed += state == JobState.FAILED ? by : 0;
    }

    String state() {
      if (succeeded + failed < jobs || jobs == 0) {
        return JobState.RUNNING.word();
      }
      return (failed > 0 ? JobState.FAILED : JobState.SUCCEEDED).word();
    }
  }

  /**
   * @param latest returns the state of a job; null: it has none yet
   */
  SetStates(SchedulingCore core, LoopEvents events, Function<String, @Nullable JobState> latest) {
    this.core = core;
    this.events = events;
    this.latest = latest;
  }

  /** A job of a set has changed its state. */
  void moved(String set, @Nullable JobState before, JobState now) {
    Tally tally = tallies.get(set);
    if (tally != null) {
      tally.count(before, -1);
      tally.count(now, 1);
      moved.add(set);
    }
  }

  /** Records what has changed; costs nothing when no job of a set has moved. */
  @SuppressWarnings("ReferenceEquality") // Each configuration is a new object.
  void step(long nowMillis) {
    if (config != core.config()) {
      config = core.config();
      count(config);
    }
    for (String set : moved) {
      Tally tally = tallies.get(set);
      if (tally != null && !tally.known.equals(tally.state())) {
        record(set, tally.known, tally.state(), nowMillis);
        tally.known = tally.state();
      }
    }
    moved.clear();
  }

  private void count(Config counted) {
    Map<String, String> known = new HashMap<>();
    tallies.forEach((set, tally) -> known.put(set, tally.known));
    tallies.clear();
    for (Job job : counted.jobs().values()) {
      if (!job.set().isEmpty()) {
        tallies
            .computeIfAbsent(job.set(), set -> new Tally())
            .count(job.enabled() ? latest.apply(job.name()) : JobState.DISABLED, 1);
      }
    }
    tallies.forEach((set, tally) -> tally.known = known.getOrDefault(set, tally.state()));
    moved.addAll(tallies.keySet());
  }

  private void record(String set, String from, String to, long nowMillis) {
    Json.Builder said = Json.object().put("set", set).put("from", from).put("to", to);
    List<String> failed = new ArrayList<>();
    for (Job job : core.config().jobs().values()) {
      if (job.set().equals(set) && latest.apply(job.name()) == JobState.FAILED) {
        failed.add(job.name());
      }
    }
    if (!failed.isEmpty() && to.equals(JobState.FAILED.word())) {
      String named = String.join(", ", failed.subList(0, Math.min(NAMED, failed.size())));
      int more = failed.size() - NAMED;
      said.put("reason", "failed: " + named + (more > 0 ? " and " + more + " more jobs" : ""));
    }
    events.add(nowMillis, EventKind.SET_STATE, said.build());
  }
}
