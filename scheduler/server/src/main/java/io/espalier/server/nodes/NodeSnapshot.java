package io.espalier.server.nodes;

import io.espalier.core.topology.Topology;
import java.time.Instant;

/**
 * The node tree of one good refresh.
 *
 * @param nodesHash of the settings it belongs to: the tree fits no others
 *     (docs/design/design.md#nodes-belong-to-their-settings)
 * @param fetchedAt the instant the nodes were asked for
 */
public record NodeSnapshot(Topology topology, String nodesHash, Instant fetchedAt) {}
