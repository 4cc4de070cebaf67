package io.espalier.server.ha;

import io.espalier.server.zk.ZooKeeperFailure;
import io.espalier.server.zk.ZooKeeperLink;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.apache.zookeeper.KeeperException;

/**
 * Which status store a group has. Epochs grow in the store: two candidates with stores of their own
 * would both be right, and tasks would run twice.
 */
final class SharedStore {
  private SharedStore() {}

  /**
   * Writes the name down when there is none yet.
   *
   * @throws IOException when the group has another store, or ZooKeeper does not answer
   */
  static void require(ZooKeeperLink link, String name) throws IOException {
    String path = Znodes.store(link.target().path());
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
      throw ZooKeeperFailure.of("cannot read or write " + path, link.target(), e);
    }
    if (!known.equals(name)) {
      throw new ZooKeeperFailure(
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
