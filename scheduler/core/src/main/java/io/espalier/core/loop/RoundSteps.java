package io.espalier.core.loop;

import io.espalier.core.loop.state.LoopStats;
import io.espalier.core.loop.state.RoundStep;
import java.util.List;

/** All that the loop does before each round, in order. */
final class RoundSteps {
  private final List<RoundStep> steps;

  RoundSteps(RoundStep... steps) {
    this.steps = List.of(steps);
  }

  void configured(long nowMillis) {
    steps.forEach(step -> step.configured(nowMillis));
  }

  /** Does a slice of each; returns true when there is more to do at once. */
  boolean step(long nowMillis, ViewPublisher views) {
    boolean more = false;
    for (RoundStep step : steps) {
      if (step.step(nowMillis)) {
        step.problems(views::error);
        views.changed();
      }
      more |= step.isBehind();
    }
    return more;
  }

  /** Returns how many tasks may start now. */
  int room() {
    int room = Integer.MAX_VALUE;
    for (RoundStep step : steps) {
      room = Math.min(room, step.room());
    }
    return room;
  }

  boolean isOpening() {
    return steps.stream().anyMatch(RoundStep::isOpening);
  }

  boolean mayOpen() {
    return steps.stream().anyMatch(RoundStep::mayOpen);
  }

  long nextMillis() {
    long next = Long.MAX_VALUE;
    for (RoundStep step : steps) {
      next = Math.min(next, step.nextMillis());
    }
    return next;
  }

  void stats(LoopStats stats) {
    steps.forEach(step -> step.stats(stats));
  }
}
