package io.espalier.core.api;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * By what right a scheduler leads, as of one moment.
 *
 * @param elected whether several schedulers elect one; else this is the only one
 * @param epoch of this leadership, from the status store
 * @param certainMillis for how long it is certain that no other leads; 0: it is not certain now;
 *     {@link Long#MAX_VALUE}: for ever, without an election
 * @param candidates where all that could lead serve HTTP, this one first; empty without an election
 * @param problem what endangers it; null: nothing
 */
public record LeadershipView(
    boolean elected,
    long epoch,
    long certainMillis,
    List<String> candidates,
    @Nullable String problem) {
  public LeadershipView {
    candidates = List.copyOf(candidates);
  }
}
