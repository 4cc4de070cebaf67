package io.espalier.worker.process.kill;

import java.util.List;

/**
 * The remains of an earlier run that were found when the data directory was taken over. Every
 * process that was searched for is dead: the take-over fails where that could not be verified.
 *
 * @param invocations those without an end in the journal, as {@code EPOCH.SEQUENCE.START_MILLIS}
 * @param killedProcesses number of processes that were still alive
 * @param removedGroups number of control group directories that were left
 * @param looked false when its processes are not visible from here (another machine, boot or
 *     container)
 */
public record RecoveryReport(
    List<String> invocations, int killedProcesses, int removedGroups, boolean looked) {

  public RecoveryReport {
    invocations = List.copyOf(invocations);
  }
}
