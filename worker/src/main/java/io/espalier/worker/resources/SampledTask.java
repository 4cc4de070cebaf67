package io.espalier.worker.resources;

import io.espalier.core.running.Invocation;
import java.nio.file.Path;
import java.util.List;

/**
 * A live task as the sampler needs to know it.
 *
 * @param pid of its first process
 * @param cgroups its own groups, one per version 1 controller or the one of version 2; empty: it
 *     has none and is measured through {@code /proc}
 */
public record SampledTask(
    String job, String node, Invocation invocation, long pid, List<Path> cgroups) {
  public SampledTask {
    cgroups = List.copyOf(cgroups);
  }
}
