package io.espalier.server.ha;

import io.espalier.server.zk.ZooKeeperException;
import io.espalier.server.zk.ZooKeeperLink;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.data.Stat;

/**
 * Ensures that all candidates of a group use the same status store. The store assigns the epochs:
 * two candidates with stores of their own would both consider themselves right, and tasks would run
 * twice.
 */
final class SharedStore {
  private SharedStore() {}

  /**
   * Returns the creation id and time of the znode that names the store. They distinguish this group
   * from others.
   *
   * @throws IOException when ZooKeeper does not answer
   */
  static String made(ZooKeeperLink link) throws IOException {
    String path = ZooKeeperPaths.store(link.target().path());
    try {
      Stat stat = link.client().checkExists().forPath(path);
      if (stat == null) {
        throw new ZooKeeperException("there is no znode " + path);
      }
      return Long.toHexString(stat.getCzxid()) + " " + stat.getCtime();
    } catch (ZooKeeperException e) {
      throw e;
    } catch (Exception e) {
      throw ZooKeeperException.of("cannot read " + path, link.target(), e);
    }
  }

  /**
   * Writes the name of the store when there is none yet.
   *
   * @throws IOException when the group has another store, or ZooKeeper does not answer
   */
  static void require(ZooKeeperLink link, String name) throws IOException {
    String path = ZooKeeperPaths.store(link.target().path());
    String known;
    try {
      try {
        String unused =
            link.client()
                .create()
                .creatingParentsIfNeeded()
                .forPath(path, name.getBytes(StandardCharsets.UTF_8));
        return;
      } catch (KeeperException.NodeExistsException e) {
        known = new String(link.client().getData().forPath(path), StandardCharsets.UTF_8);
      }
    } catch (Exception e) {
      throw ZooKeeperException.of("cannot read or write " + path, link.target(), e);
    }
    if (!known.equals(name)) {
      throw new ZooKeeperException(
          "the schedulers at "
              + link.target()
              + " share the status store \""
              + known
              + "\", and this one was started with \""
              + name
              + "\". All of them need the same one. If the group has moved to another store: stop"
              + " all its schedulers and delete the znode "
              + path);
    }
  }
}
