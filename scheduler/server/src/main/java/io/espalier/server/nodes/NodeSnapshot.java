package io.espalier.server.nodes;

import io.espalier.core.topology.Topology;
import java.time.Instant;

/**
 * The node tree of one successful refresh.
 *
 * @param nodesHash of the settings to which the tree belongs; it fits no others
 *     (docs/design/design.md#nodes-belong-to-their-settings)
 * @param fetchedAt the instant for which the nodes were fetched
 */
public record NodeSnapshot(Topology topology, String nodesHash, Instant fetchedAt) {}
