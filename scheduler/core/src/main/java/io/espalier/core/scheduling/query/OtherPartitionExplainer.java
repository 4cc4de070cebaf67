package io.espalier.core.scheduling.query;

import io.espalier.core.api.RefusedException;
import io.espalier.core.api.view.Explanation;
import io.espalier.core.api.view.Explanation.Kind;
import io.espalier.core.api.view.Explanation.Reason;
import io.espalier.core.config.Partition;
import java.util.List;

/**
 * Explains why tasks on nodes of other partitions do not run here. Not even the names of those
 * nodes are stored, but the name of a node directly under the instance determines its partition.
 */
final class OtherPartitionExplainer {
  private OtherPartitionExplainer() {}

  /**
   * Explains why a task on an unknown node does not run here.
   *
   * @param level the level of the job's tasks
   * @throws RefusedException unless the node, if it exists, must belong to another partition
   */
  static Explanation explain(Partition shard, String job, int level, String node) {
    String unknown = "job " + job + " has no task on a node called " + node;
    if (shard.isWhole() || level < 1) {
      throw new RefusedException(RefusedException.Reason.UNKNOWN, unknown);
    }
    String only = unknown + " among the nodes of shard " + shard;
    if (level > 1) {
      // The partition depends on the node's ancestor, not on its own name.
      throw new RefusedException(
          RefusedException.Reason.UNKNOWN,
          only + ": if there is such a node, another scheduler has it");
    }
    int owner = Partition.ownerOf(node, shard.count());
    if (owner == shard.index()) {
      throw new RefusedException(
          RefusedException.Reason.UNKNOWN, only + ", where it would belong: there is no such node");
    }
    String message =
        "nodes called "
            + node
            + " directly under the instance belong to the scheduler with shard "
            + new Partition(owner, shard.count())
            + ", this one has "
            + shard
            + ", unless tags have moved their subtrees";
    return new Explanation(
        job,
        node,
        false,
        "unstarted",
        List.of(Reason.of(Kind.OTHER_SHARD, node, message)),
        List.of(),
        List.of(),
        0,
        null);
  }
}
