package io.espalier.core.scheduling;

import io.espalier.core.scheduling.spi.SplitMix64;
import io.espalier.core.scheduling.state.SchedulingState;
import io.espalier.core.scheduling.task.RunningTasks;
import io.espalier.core.scheduling.update.LiveState;
import org.jspecify.annotations.Nullable;

/**
 * The round under way, its waits for batches, and whose turn was last. A round ends with the state
 * in which it began. {@link SchedulingCore} is the only user, on its thread; it records the calls.
 */
final class Rounds {
  private final LiveState live;
  private final RunningTasks runs;
  private final SplitMix64 random;
  private final Round.Turns turns = new Round.Turns();
  private final Round.Starter starter =
      new Round.Starter() {
        @Override
        public int start(int job) {
          return live.start(job);
        }

        @Override
        public int startBeside(int first, int under) {
          return live.startBeside(first, under);
        }
      };

  private @Nullable Round latest;

  Rounds(LiveState live, RunningTasks runs, SplitMix64 random) {
    this.live = live;
    this.runs = runs;
    this.random = random;
  }

  /** See {@link SchedulingCore#round}. */
  boolean slice(SchedulingPolicy policy, int maxStarts, PlacementListener sink) {
    SchedulingState state = live.state();
    Round round = current();
    if (round == null) {
      round = new Round(state, runs, random, turns, starter);
      latest = round;
    }
    round.slice(maxStarts, sink);
    state.rooms.roundBegins();
    round.beginWaits(live.now());
    policy.schedule(round);
    state.roundOver();
    boolean complete = round.isComplete() && !state.wakeMembers(maxStarts);
    if (complete) {
      round.batchWaits().end();
    }
    return complete;
  }

  private @Nullable Round current() {
    Round round = latest;
    return round != null && round.state() == live.state() ? round : null;
  }

  /** Follows a new numbering of jobs: the turn stays at its place in the order of names. */
  void renumbered(SchedulingState before) {
    if (turns.last >= 0) {
      turns.last = live.state().jobs.lastUpTo(before.jobs.name(turns.last));
    }
  }

  /** Handles a task that is about to end. */
  void ending(int run) {
    Round round = current();
    if (round != null) {
      round.ending(run);
    }
  }

  /** Ends the waits for batches that are over. */
  void advance() {
    Round round = current();
    if (round != null) {
      round.batchWaits().advance(live.now());
    }
  }

  /** Returns when the next wait for a batch is over; {@link Long#MAX_VALUE}: none. */
  long nextMillis() {
    Round round = current();
    return round == null ? Long.MAX_VALUE : round.batchWaits().nextMillis();
  }

  /** See {@link SchedulingCore#awaitsBatches}. */
  boolean awaitsBatches() {
    Round round = current();
    return round != null && round.batchWaits().isPending();
  }

  /**
   * See {@link SchedulingCore#batchAwaitedUntil}.
   *
   * @param job -1: unknown
   */
  long batchAwaitedUntil(int job) {
    Round round = current();
    return round == null || job < 0 ? 0 : round.batchWaits().until(job);
  }
}
