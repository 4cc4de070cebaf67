package io.espalier.server.ha;

import io.espalier.server.app.options.HostPort;
import io.espalier.server.app.options.ProcessOptions;
import io.espalier.server.app.options.StoreOptions;
import io.espalier.server.store.jdbc.mysql.MySqlAddress;
import io.espalier.server.zk.ZooKeeperTarget;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Configures how a scheduler takes part in an election.
 *
 * @param zookeeper of its group; empty: the group elects by the status store that it shares
 * @param advertise the host under which others reach it; empty: the host on which it listens
 * @param hostName of this machine, for a scheduler that listens on all addresses, and for people
 */
public record HaOptions(
    Optional<ZooKeeperTarget> zookeeper, Optional<String> advertise, String hostName) {

  /** Returns the host to advertise to others. */
  String hostFor(String listening) {
    boolean everywhere = listening.equals("0.0.0.0") || listening.equals("::");
    return advertise.orElse(everywhere ? hostName : listening);
  }

  /**
   * Returns the reasons why these options do not make a candidate; empty: they do.
   *
   * @param options of the scheduler itself
   */
  public List<String> problems(ProcessOptions options) {
    String flag = zookeeper.isPresent() ? "--zookeeper" : "--ha store";
    if (options.runner().kind().endsWithScheduler()) {
      return List.of(
          flag
              + " with --runner "
              + options.runner().name()
              + ": its tasks would die with the leader; use --runner"
              + " remote with workers");
    }
    if (options.store().kind() == StoreOptions.Kind.MEMORY) {
      return List.of(
          flag
              + " with --status-store memory: the next leader would know nothing of what runs"
              + " and what is done; name a store that all schedulers share");
    }
    if (zookeeper.isEmpty() && options.store().mysql().isEmpty()) {
      return List.of(
          "--ha store needs --status-store mysql://...: a file cannot elect among hosts; with a"
              + " SQLite store on one machine use --zookeeper");
    }
    if (options.runner().remote().filter(remote -> remote.thrift().port() == 0).isPresent()) {
      return List.of(
          flag
              + " with --thrift port 0: workers are told the port before it is chosen; name"
              + " one");
    }
    if (options.paused()) {
      return List.of(
          flag
              + " with --paused: each fail-over would stop all starts; run espalier brake, which"
              + " lasts over fail-overs");
    }
    return List.of();
  }

  /** Creates the group to join. */
  Group group(ProcessOptions options, Consumer<List<Candidate>> news) throws IOException {
    if (zookeeper.isPresent()) {
      return new ZooKeeperGroup(zookeeper.get(), news);
    }
    return new StoreGroup(
        options.store().mysql().orElseThrow(),
        options.store().owning().chosenProof().orElse(StoreGroup.DEFAULT_PROOF),
        news);
  }

  /**
   * Returns the name of the store and of the partition, which must be the same for all candidates
   * of a group.
   */
  String storeName(ProcessOptions options) {
    String shard = options.source().shard().isWhole() ? "" : " shard " + options.source().shard();
    return placeOfStore(options) + shard;
  }

  private String placeOfStore(ProcessOptions options) {
    if (options.store().mysql().isPresent()) {
      // Without the account, which may differ between candidates.
      MySqlAddress at = options.store().mysql().get();
      return "mysql " + new HostPort(at.host(), at.port()) + "/" + at.schema();
    }
    Path directory = options.store().dataDir().toAbsolutePath().normalize();
    return options.store().kind().label() + " " + hostName + ":" + directory;
  }
}
