package io.espalier.worker.process;

import java.util.List;

/**
 * What was found of an earlier run when the data directory was taken over. What was looked for is
 * dead: the take-over fails where that could not be verified.
 *
 * @param invocations that had no end in the journal, as {@code EPOCH.SEQUENCE.START_MILLIS}
 * @param killedProcesses how many were still alive
 * @param removedGroups how many directories of control groups were left
 * @param looked false: its processes cannot be seen from here (another machine, boot or container)
 */
public record RecoveryReport(
    List<String> invocations, int killedProcesses, int removedGroups, boolean looked) {

  public RecoveryReport {
    invocations = List.copyOf(invocations);
  }
}
