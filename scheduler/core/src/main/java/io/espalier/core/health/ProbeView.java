package io.espalier.core.health;

import java.util.List;

/**
 * A probe and the limits that follow it, as monitors see them.
 *
 * @param probe its name
 * @param level name of the level of its nodes
 * @param source where its values come from
 * @param badAbove a greater value is bad
 * @param goodBelow a smaller value is good
 * @param answeredMillis when values last came, epoch milliseconds; 0: never
 * @param fresh number of nodes with a value that is not too old
 * @param bad number of these whose value is bad
 * @param nodes number of nodes of the level
 * @param resources the limits that follow it
 * @param lowered nodes whose limits are lowered, at most {@link #MOST_NODES}
 * @param problem what is wrong; empty: nothing
 */
public record ProbeView(
    String probe,
    String level,
    String source,
    double badAbove,
    double goodBelow,
    long answeredMillis,
    int fresh,
    int bad,
    int nodes,
    List<Follower> resources,
    List<Lowered> lowered,
    String problem) {
  /** The maximum number of nodes that are listed. */
  public static final int MOST_NODES = 50;

  public ProbeView {
    resources = List.copyOf(resources);
    lowered = List.copyOf(lowered);
  }

  /**
   * A resource whose limits follow the probe, and perhaps others.
   *
   * @param lowered number of nodes whose limit is lowered and that have had a value
   * @param atFloor number of these that have no more than the floor
   */
  public record Follower(String resource, int floor, int lowered, int atFloor) {}

  /**
   * A node whose limit is lowered.
   *
   * @param limit slots that its health leaves
   * @param of slots that it would have otherwise
   * @param reason why
   */
  public record Lowered(String node, String resource, int limit, int of, String reason) {}
}
