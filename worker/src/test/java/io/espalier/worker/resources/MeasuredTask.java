package io.espalier.worker.resources;

import io.espalier.core.running.Invocation;
import io.espalier.core.running.ResourceUsage;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;

/**
 * A task identified only by its first process and its control groups.
 *
 * @param reader measures it
 * @param pid of its first process
 * @param cgroups its own groups, one per version 1 controller or the one of version 2; empty: it
 *     has none and is measured through {@code /proc}
 */
record MeasuredTask(
    TaskUsageReader reader,
    String job,
    String node,
    Invocation invocation,
    long pid,
    List<Path> cgroups)
    implements SampledTask {
  MeasuredTask {
    cgroups = List.copyOf(cgroups);
  }

  @Override
  public ResourceUsage usage() {
    return cgroups.isEmpty() ? reader.ofProcesses(pid) : TaskUsageReader.ofCgroups(cgroups);
  }

  @Override
  public Collection<Long> pids() {
    return cgroups.isEmpty() ? reader.family(pid) : TaskUsageReader.pidsOf(cgroups);
  }
}
