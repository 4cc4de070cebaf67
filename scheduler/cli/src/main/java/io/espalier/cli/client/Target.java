package io.espalier.cli.client;

import io.espalier.server.CommandException;
import io.espalier.server.ExitCode;
import io.espalier.server.security.ClientAccess;
import io.espalier.server.zk.ZooKeeperTarget;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Says which scheduler a command talks to and with which files. It contains paths of credentials,
 * never credentials.
 *
 * @param server URL as the user wrote it
 * @param zookeeper group of schedulers whose leader is meant, as {@code HOSTS/PATH}
 * @param zookeeperAuth file with the account for ZooKeeper
 * @param tokenFile file with the token
 * @param tlsCa authority that has signed the scheduler's certificate
 * @param tlsCert certificate of the user
 * @param tlsKey its key
 */
public record Target(
    @Nullable String server,
    @Nullable String zookeeper,
    @Nullable Path zookeeperAuth,
    @Nullable Path tokenFile,
    @Nullable Path tlsCa,
    @Nullable Path tlsCert,
    @Nullable Path tlsKey) {
  /** The scheduler of commands that name none. */
  public static final String DEFAULT_SERVER = "http://127.0.0.1:8080";

  public static final Target NONE = new Target(null, null, null, null, null, null, null);

  /** Returns true if it names a scheduler or a group of schedulers. */
  public boolean hasAddress() {
    return server != null || zookeeper != null;
  }

  /** Returns the address as a user names it. */
  public String address() {
    return zookeeper != null ? zookeeper : server != null ? server : DEFAULT_SERVER;
  }

  /** Returns the address of a context with the files of the context that are not named here. */
  Target at(Target context) {
    return new Target(
        context.server,
        context.zookeeper,
        zookeeperAuth == null ? context.zookeeperAuth : zookeeperAuth,
        tokenFile == null ? context.tokenFile : tokenFile,
        tlsCa == null ? context.tlsCa : tlsCa,
        // A certificate and its key belong together.
        tlsCert == null && tlsKey == null ? context.tlsCert : tlsCert,
        tlsCert == null && tlsKey == null ? context.tlsKey : tlsKey);
  }

  /**
   * Reads the files of credentials.
   *
   * @throws CommandException naming the file that cannot be used
   */
  public ClientAccess access() {
    return ClientAccess.of(
        Optional.ofNullable(tokenFile),
        Optional.ofNullable(tlsCa),
        Optional.ofNullable(tlsCert),
        Optional.ofNullable(tlsKey));
  }

  /** Returns the same with absolute paths. */
  public Target absolute() {
    return new Target(
        server,
        zookeeper,
        absolute(zookeeperAuth),
        absolute(tokenFile),
        absolute(tlsCa),
        absolute(tlsCert),
        absolute(tlsKey));
  }

  private static @Nullable Path absolute(@Nullable Path path) {
    return path == null ? null : path.toAbsolutePath().normalize();
  }

  /**
   * Checks the address and the files, without a connection.
   *
   * @throws CommandException naming what cannot be used
   */
  public void check() {
    if (server != null) {
      new HttpSchedulerClient(server, access()).close();
    } else {
      try {
        ZooKeeperTarget.parse(address())
            .withAuthFile(Optional.ofNullable(zookeeperAuth))
            .security();
      } catch (IllegalArgumentException | IOException e) {
        throw new CommandException(
            ExitCode.USAGE, "--zookeeper " + address() + ": " + e.getMessage(), e);
      }
      access();
    }
  }

  Client open(Client.Opener opener) {
    return zookeeper == null
        ? opener.server(address(), access())
        : opener.leader(zookeeper, zookeeperAuth, access());
  }
}
