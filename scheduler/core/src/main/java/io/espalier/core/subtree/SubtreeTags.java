package io.espalier.core.subtree;

import io.espalier.core.config.Partition;
import io.espalier.core.topology.Topology;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * To which scheduler each subtree of a tree is to belong: the one that a tag of its top names, or
 * else the one that the hash gives.
 *
 * @param wanted by name of the top, the number of the scheduler; a subtree whose tags contradict
 *     each other is missing
 * @param contradicted the names of those, in order
 */
public record SubtreeTags(Map<String, Integer> wanted, Set<String> contradicted) {
  private static final int SAMPLES = 5;

  /**
   * Reads the tags of the nodes directly under the instance.
   *
   * @param byTag the number of a scheduler by tag
   * @param count how many schedulers there are
   */
  public static SubtreeTags of(Topology nodes, Map<String, Integer> byTag, int count) {
    Map<String, TreeSet<Integer>> named = new TreeMap<>();
    for (int slot = nodes.childStart(0); slot < nodes.childEnd(0); slot++) {
      TreeSet<Integer> shards =
          named.computeIfAbsent(nodes.name(nodes.node(slot)), name -> new TreeSet<>());
      for (String tag : nodes.tags(slot)) {
        Integer shard = byTag.get(tag);
        if (shard != null) {
          shards.add(shard);
        }
      }
    }
    Map<String, Integer> wanted = new HashMap<>();
    Set<String> contradicted = new TreeSet<>();
    named.forEach(
        (name, shards) -> {
          if (shards.size() > 1) {
            contradicted.add(name);
          } else {
            wanted.put(name, shards.isEmpty() ? Partition.ownerOf(name, count) : shards.first());
          }
        });
    return new SubtreeTags(wanted, contradicted);
  }

  /** Says which tags contradict each other; null: none do. */
  public @Nullable String problem() {
    if (contradicted.isEmpty()) {
      return null;
    }
    String more = contradicted.size() > SAMPLES ? ", …" : "";
    return "the tags of "
        + String.join(", ", contradicted.stream().limit(SAMPLES).toList())
        + more
        + " name several schedulers (shard_tags), so they stay with this one";
  }
}
