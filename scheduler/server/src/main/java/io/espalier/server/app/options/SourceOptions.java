package io.espalier.server.app.options;

import io.espalier.core.config.Partition;
import java.time.Duration;

/**
 * What a scheduler process schedules: its configuration and the nodes of its partition.
 *
 * @param configUri file, directory or URI of the configuration
 * @param configDirectory the directory against which relative paths in the configuration are
 *     resolved
 * @param shard the partition of the nodes that the process schedules
 * @param instanceNodeName the name of the root node, which is also the name of the process as a
 *     worker
 * @param hostName the name of this machine, which tasks get as that of their host
 * @param nodesUpdate period of node refreshes
 * @param nodesRetry pause after a failed refresh
 */
public record SourceOptions(
    String configUri,
    String configDirectory,
    Partition shard,
    String instanceNodeName,
    String hostName,
    Duration nodesUpdate,
    Duration nodesRetry) {}
