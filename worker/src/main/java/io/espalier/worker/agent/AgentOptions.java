package io.espalier.worker.agent;

import io.espalier.thrift.rpc.PeerOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The settings of a worker, fixed at its start.
 *
 * @param shard the name by which the scheduler knows the worker and by which it can be replaced
 * @param host host name that jobs use for placement
 * @param listen address on which the worker accepts calls of schedulers of the release before;
 *     usually empty: schedulers call on the connection that the worker opens
 * @param advertised address at which others reach the worker; empty: the listen address
 * @param schedulers addresses in the order in which they are tried; empty: {@link
 *     WorkerAgent#schedulers} supplies them
 * @param labels what the worker says about itself, for jobs that choose workers by it
 * @param maxTasks maximum number of concurrent tasks; 0: as many as the worker's resources allow
 * @param dataDirectory already locked by this process
 * @param drainWait how long a stop waits for running tasks before it stops them
 */
public record AgentOptions(
    String shard,
    String host,
    Optional<Address> listen,
    String advertised,
    List<Address> schedulers,
    PeerOptions peer,
    Map<String, String> labels,
    int maxTasks,
    Path dataDirectory,
    Duration drainWait) {
  public AgentOptions {
    schedulers = List.copyOf(schedulers);
    labels = Map.copyOf(labels);
  }

  /** A host and port, resolved at each use. */
  public record Address(String host, int port) {
    @Override
    public String toString() {
      return host.contains(":") ? "[" + host + "]:" + port : host + ":" + port;
    }
  }
}
