package io.espalier.core.topology;

import io.espalier.core.config.Partition;
import java.util.Map;

/**
 * Which scheduler has which subtree under the instance: the one that the hash of its name gives,
 * unless the subtree was handed over (docs/sharding.md#subtrees-that-move).
 *
 * @param shard the partition of this scheduler
 * @param moved by name of a subtree, the number of the scheduler that has it now, whatever the hash
 *     says; {@link #NOBODY}: it is between two schedulers
 */
public record Division(Partition shard, Map<String, Integer> moved) {
  /** The owner of a subtree that nobody works on. */
  public static final int NOBODY = -1;

  /** The division of a scheduler that works on everything. */
  public static final Division WHOLE = byHash(Partition.WHOLE);

  public Division {
    moved = Map.copyOf(moved);
  }

  /** The division by hash alone. */
  public static Division byHash(Partition shard) {
    return new Division(shard, Map.of());
  }

  /** Returns true when one scheduler works on everything. */
  public boolean isWhole() {
    return shard.isWhole();
  }

  /** Returns true when this scheduler has the subtree of a child of the instance. */
  public boolean owns(String name) {
    return isWhole() || ownerOf(name) == shard.index();
  }

  /** The number of the scheduler that has the subtree of a child of the instance. */
  public int ownerOf(String name) {
    Integer owner = moved.get(name);
    return owner == null ? Partition.ownerOf(name, shard.count()) : owner;
  }
}
