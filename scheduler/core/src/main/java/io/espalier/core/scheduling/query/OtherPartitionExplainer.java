package io.espalier.core.scheduling.query;

import io.espalier.core.api.Explanation;
import io.espalier.core.api.Explanation.Kind;
import io.espalier.core.api.Explanation.Reason;
import io.espalier.core.api.RefusedException;
import io.espalier.core.config.Partition;
import java.util.List;

/**
 * Answers for nodes that are not here. Of the nodes of other schedulers not even the names are
 * kept; but which scheduler has a node directly under the instance can be told from its name.
 */
public final class OtherPartitionExplainer {
  private OtherPartitionExplainer() {}

  /**
   * Why a task on an unknown node does not run here.
   *
   * @param level of the job's tasks
   * @throws RefusedException unless the node, if there is one, must belong to another scheduler
   */
  public static Explanation explain(Partition shard, String job, int level, String node) {
    String unknown = "job " + job + " has no task on a node called " + node;
    if (shard.isWhole() || level < 1) {
      throw new RefusedException(RefusedException.Reason.UNKNOWN, unknown);
    }
    String only = unknown + " among the nodes of shard " + shard;
    if (level > 1) {
      // Where it hangs decides; its own name says nothing.
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
            + shard;
    return new Explanation(
        job,
        node,
        false,
        "unstarted",
        List.of(Reason.of(Kind.OTHER_SHARD, node, message)),
        List.of(),
        List.of());
  }
}
