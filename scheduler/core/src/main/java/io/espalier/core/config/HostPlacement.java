package io.espalier.core.config;

import io.espalier.core.config.FilterEvaluator.PathNode;
import java.util.List;
import java.util.Optional;

/** Determines the host on which a task must run (docs/design/bistro.md#host-placement). */
public final class HostPlacement {
  private HostPlacement() {}

  /**
   * The host to which a task is bound.
   *
   * @param nodeToInstance the task's node first, the instance last
   * @return the job's {@code host_placement}; otherwise the name of the node on its {@code
   *     level_for_host_placement}; empty when any host is allowed or the path has no such node
   */
  public static Optional<String> requiredHost(Job job, List<PathNode> nodeToInstance) {
    if (!job.hostPlacement().isEmpty()) {
      return Optional.of(job.hostPlacement());
    }
    return job.levelForHostPlacement()
        .flatMap(
            level ->
                nodeToInstance.stream()
                    .filter(node -> node.level() == level)
                    .map(PathNode::name)
                    .findFirst());
  }
}
