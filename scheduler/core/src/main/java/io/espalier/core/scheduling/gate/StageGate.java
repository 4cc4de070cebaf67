package io.espalier.core.scheduling.gate;

import io.espalier.core.rollout.RolloutMembers;
import java.util.List;

/**
 * A gate in front of the later stages of a job's roll-out: the tasks of these stages do not start.
 * It names the job, so it outlives changes of the configuration and of the nodes.
 *
 * @param open the last open stage, from 0
 * @param apart nodes; the stages do not wait for the tasks of the job below them
 * @param reason when the next stage opens, without an end of sentence
 */
public record StageGate(RolloutMembers members, int open, List<Scope> apart, String reason) {
  public StageGate {
    apart = List.copyOf(apart);
  }

  /** Returns the name of the job. */
  public String job() {
    return members.job();
  }
}
