package io.espalier.server.zk;

import io.espalier.nodes.zk.ZooKeeperSecurity;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.regex.Pattern;
import org.apache.zookeeper.common.PathUtils;

/**
 * Locates a znode in ZooKeeper.
 *
 * @param hosts servers as {@code HOST:PORT,HOST:PORT}; the port is optional
 * @param path absolute, not the root
 * @param authFile as {@link ZooKeeperSecurity} reads it; empty: anonymous, in the clear, and
 *     everybody may access what is created
 * @param sessionMillis requested session time-out; the servers may grant another
 */
public record ZooKeeperTarget(
    String hosts, String path, Optional<Path> authFile, int sessionMillis) {
  /** Short enough for a fail-over in 15 s, long enough for a pause of the virtual machine. */
  public static final int DEFAULT_SESSION_MILLIS = 6_000;

  private static final Pattern HOSTS =
      Pattern.compile("(\\[[0-9A-Fa-f:.]+]|[^\\[\\]:/,@\\s]+)(:\\d{1,5})?");

  /**
   * Parses {@code HOSTS/PATH}, with or without a leading {@code zk://}.
   *
   * @throws IllegalArgumentException with the error in the text
   */
  public static ZooKeeperTarget parse(String text) {
    String rest = text.startsWith("zk://") ? text.substring("zk://".length()) : text;
    int slash = rest.indexOf('/');
    String hosts = slash < 0 ? rest : rest.substring(0, slash);
    String path = slash < 0 ? "" : rest.substring(slash);
    for (String host : hosts.split(",", -1)) {
      if (!HOSTS.matcher(host).matches()) {
        throw new IllegalArgumentException(
            "\""
                + host
                + "\" is not HOST:PORT; expected such as zk1:2181,zk2:2181,zk3:2181/espalier");
      }
    }
    while (path.length() > 1 && path.endsWith("/")) {
      path = path.substring(0, path.length() - 1);
    }
    if (path.isEmpty() || path.equals("/")) {
      throw new IllegalArgumentException(
          "the path is missing; expected such as " + hosts + "/espalier");
    }
    try {
      PathUtils.validatePath(path);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException("not a path of ZooKeeper: " + e.getMessage(), e);
    }
    return new ZooKeeperTarget(hosts, path, Optional.empty(), DEFAULT_SESSION_MILLIS);
  }

  public ZooKeeperTarget withAuthFile(Optional<Path> file) {
    return new ZooKeeperTarget(hosts, path, file, sessionMillis);
  }

  public ZooKeeperTarget withSessionMillis(int millis) {
    return new ZooKeeperTarget(hosts, path, authFile, millis);
  }

  /**
   * Reads the account and the certificates.
   *
   * @throws IOException when the file cannot be read or is invalid
   */
  public ZooKeeperSecurity security() throws IOException {
    return authFile.isPresent() ? ZooKeeperSecurity.read(authFile.get()) : ZooKeeperSecurity.NONE;
  }

  /** Returns the form used on a command line. */
  @Override
  public String toString() {
    return hosts + path;
  }
}
