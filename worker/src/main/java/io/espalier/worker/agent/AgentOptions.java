package io.espalier.worker.agent;

import io.espalier.thrift.rpc.PeerOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * What a worker is told once.
 *
 * @param shard the name under which it is known and may be replaced
 * @param host as jobs name it for placement
 * @param listen where it answers calls
 * @param advertised where others reach it; empty: where it listens
 * @param schedulers in the order in which they are tried; none: {@link WorkerAgent#schedulers} will
 *     say
 * @param maxTasks how many tasks it runs at once at most; 0: as many as its resources allow
 * @param dataDirectory held by us
 * @param drainWait how long a stop waits for running tasks before it stops them
 */
public record AgentOptions(
    String shard,
    String host,
    Address listen,
    String advertised,
    List<Address> schedulers,
    PeerOptions peer,
    int maxTasks,
    Path dataDirectory,
    Duration drainWait) {
  public AgentOptions {
    schedulers = List.copyOf(schedulers);
  }

  /** Host and port, looked up at each use. */
  public record Address(String host, int port) {
    @Override
    public String toString() {
      return host.contains(":") ? "[" + host + "]:" + port : host + ":" + port;
    }
  }
}
