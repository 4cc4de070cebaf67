package io.espalier.core.config.task;

import io.soabase.recordbuilder.core.RecordBuilder;
import java.util.List;

/**
 * Options for starting and watching task processes (docs/design/bistro.md#subprocess-options).
 *
 * @param pollMillis period of the log quota; values below 1 count as 1
 * @param maxLogLinesPerPollInterval log lines allowed per period; 0 or less: no limit
 * @param parentDeathSignal signal sent to the task when its supervisor dies; 0: none
 * @param limits limits of the control group, in addition to those derived from worker resources
 */
@RecordBuilder
public record SubprocessOptions(
    int pollMillis,
    int maxLogLinesPerPollInterval,
    int parentDeathSignal,
    boolean useCanaryPipe,
    Cgroups cgroups,
    ProcessAttributes attributes,
    TaskVariables variables,
    CgroupLimits limits)
    implements SubprocessOptionsBuilder.With {
  public static final SubprocessOptions DEFAULT =
      asInBistro(10, 50, 9, true, new Cgroups("", "", List.of(), false));

  /** Creates options from those known to Bistro, with defaults for all newer ones. */
  public static SubprocessOptions asInBistro(
      int pollMillis,
      int maxLogLinesPerPollInterval,
      int parentDeathSignal,
      boolean useCanaryPipe,
      Cgroups cgroups) {
    return new SubprocessOptions(
        pollMillis,
        maxLogLinesPerPollInterval,
        parentDeathSignal,
        useCanaryPipe,
        cgroups,
        ProcessAttributes.INHERITED,
        TaskVariables.NONE,
        CgroupLimits.NONE);
  }

  /** A copy with that many log lines allowed in that many milliseconds. */
  public SubprocessOptions withQuota(int millis, int lines) {
    return withPollMillis(millis).withMaxLogLinesPerPollInterval(lines);
  }

  /** A copy with other limits; this object when they are the same. */
  @Override
  public SubprocessOptions withLimits(CgroupLimits newLimits) {
    return newLimits.equals(limits)
        ? this
        : SubprocessOptionsBuilder.With.super.withLimits(newLimits);
  }

  /** Where cgroups of tasks are created; without subsystems there are none. */
  public record Cgroups(
      String root, String slice, List<String> subsystems, boolean killWithoutFreezer) {
    public Cgroups {
      subsystems = List.copyOf(subsystems);
    }
  }
}
