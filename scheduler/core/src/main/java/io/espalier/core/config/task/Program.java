package io.espalier.core.config.task;

import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What a task of a job does besides, or instead of, the job's own command or call.
 *
 * @param steps in order; empty: the job's command or call is the only step
 * @param holds whether a task keeps its slots and its worker between two steps
 * @param restartsFromFirst whether each attempt begins with the first step, instead of the first
 *     one that is not done
 * @param compensations by the steps that they undo, at most one for each, in the order of the steps
 * @param verification how tasks that are done are verified; empty: not at all
 */
public record Program(
    List<Step> steps,
    boolean holds,
    boolean restartsFromFirst,
    List<Step> compensations,
    Optional<Verification> verification) {
  /** The program of a job with one command or call. */
  public static final Program NONE =
      new Program(List.of(), true, false, List.of(), Optional.empty());

  public Program {
    steps = List.copyOf(steps);
    compensations = List.copyOf(compensations);
  }

  /** Returns the place of a step of that name, or -1. */
  public int find(String name) {
    for (int i = 0; i < steps.size(); i++) {
      if (steps.get(i).name().equals(name)) {
        return i;
      }
    }
    return -1;
  }

  /** Returns the compensation of a step; null when it has none. */
  public @Nullable Step compensation(String name) {
    for (Step each : compensations) {
      if (each.name().equals(name)) {
        return each;
      }
    }
    return null;
  }

  /**
   * Returns the first compensation to run, backwards.
   *
   * @param last place of the last step that may have to be undone
   * @return null when there is none
   */
  public @Nullable Step compensationFrom(int last) {
    for (int i = last; i >= 0; i--) {
      Step found = compensation(steps.get(i).name());
      if (found != null) {
        return found;
      }
    }
    return null;
  }
}
