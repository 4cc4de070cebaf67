package io.espalier.server.nodes;

import io.espalier.core.topology.Topology;
import java.time.Instant;

public record NodeSnapshot(Topology topology, String nodesHash, Instant fetchedAt) {}
