package io.espalier.worker.process;

import java.util.List;

/**
 * What was found of an earlier run when the data directory was taken over. All of it is dead: the
 * take-over fails where that could not be verified.
 *
 * @param invocations that had no end in the journal, as {@code EPOCH.SEQUENCE.START_MILLIS}
 * @param killedProcesses how many were still alive
 * @param removedGroups how many directories of control groups were left
 */
public record Recovery(List<String> invocations, int killedProcesses, int removedGroups) {
  static final Recovery NOTHING = new Recovery(List.of(), 0, 0);

  public Recovery {
    invocations = List.copyOf(invocations);
  }
}
