package io.espalier.core.api.view;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A scheduler's leadership at one moment.
 *
 * @param elected whether several schedulers elect a leader; otherwise this is the only one
 * @param epoch epoch of this leadership, from the status store
 * @param certainMillis how long it is certain that no other scheduler leads; 0: it is not certain
 *     now; {@link Long#MAX_VALUE}: forever, without an election
 * @param candidates HTTP addresses of all candidates, this one first; empty without an election
 * @param problem what endangers the leadership; null when nothing does
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
