package io.espalier.core.config;

import java.util.List;

/**
 * How task processes are started and watched (behaviour 2.3.1).
 *
 * @param pollMillis period of the log quota; values below 1 act as 1
 * @param maxLogLinesPerPollInterval log lines allowed per period; 0 or less: no limit
 * @param parentDeathSignal signal the task gets when its supervisor dies; 0: none
 * @param limits of the control group, beside those that come from worker resources
 */
public record SubprocessOptions(
    int pollMillis,
    int maxLogLinesPerPollInterval,
    int parentDeathSignal,
    boolean processGroupLeader,
    boolean useCanaryPipe,
    Cgroups cgroups,
    ProcessAttributes attributes,
    TaskVariables variables,
    CgroupLimits limits) {
  public static final SubprocessOptions DEFAULT =
      new SubprocessOptions(10, 50, 9, false, true, new Cgroups("", "", List.of(), false));

  /** The options that Bistro knows, and nothing of what came after it. */
  public SubprocessOptions(
      int pollMillis,
      int maxLogLinesPerPollInterval,
      int parentDeathSignal,
      boolean processGroupLeader,
      boolean useCanaryPipe,
      Cgroups cgroups) {
    this(
        pollMillis,
        maxLogLinesPerPollInterval,
        parentDeathSignal,
        processGroupLeader,
        useCanaryPipe,
        cgroups,
        ProcessAttributes.INHERITED,
        TaskVariables.NONE,
        CgroupLimits.NONE);
  }

  /** The same with other limits. */
  public SubprocessOptions withLimits(CgroupLimits newLimits) {
    return newLimits.equals(limits)
        ? this
        : new SubprocessOptions(
            pollMillis,
            maxLogLinesPerPollInterval,
            parentDeathSignal,
            processGroupLeader,
            useCanaryPipe,
            cgroups,
            attributes,
            variables,
            newLimits);
  }

  /** Where task cgroups are made; no subsystems: no cgroups. */
  public record Cgroups(
      String root, String slice, List<String> subsystems, boolean killWithoutFreezer) {
    public Cgroups {
      subsystems = List.copyOf(subsystems);
    }
  }
}
