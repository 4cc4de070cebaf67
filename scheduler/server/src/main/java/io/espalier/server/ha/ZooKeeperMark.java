package io.espalier.server.ha;

import io.espalier.core.status.store.StoreException;
import io.espalier.server.app.ownership.GroupMark;
import io.espalier.server.zk.ZooKeeperException;
import io.espalier.server.zk.ZooKeeperLink;
import java.nio.charset.StandardCharsets;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.data.Stat;

/**
 * The mark of a group in ZooKeeper, beside its election. The znode has one line with the epoch and
 * the duration of leases, and a second one while a store that was set back is waited for.
 */
final class ZooKeeperMark implements GroupMark {
  private final ZooKeeperLink link;
  private final String path;

  ZooKeeperMark(ZooKeeperLink link) {
    this.link = link;
    this.path = ZooKeeperPaths.epoch(link.target().path());
  }

  @Override
  public Known read() {
    try {
      return parse(link.client().getData().forPath(path));
    } catch (KeeperException.NoNodeException e) {
      return Known.NOTHING;
    } catch (StoreException e) {
      throw e;
    } catch (Exception e) {
      throw failed("read", e);
    }
  }

  @Override
  public void write(Known known) {
    String text = known.epoch() + " " + known.leaseMillis() + "\n" + known.setBack();
    byte[] data = text.getBytes(StandardCharsets.UTF_8);
    try {
      try {
        String unused = link.client().create().creatingParentsIfNeeded().forPath(path, data);
        return;
      } catch (KeeperException.NodeExistsException e) {
        Stat stat = new Stat();
        Known before = parse(link.client().getData().storingStatIn(stat).forPath(path));
        if (before.epoch() > known.epoch()) {
          throw new StoreException(
              "the epoch in ZooKeeper is "
                  + before.epoch()
                  + ": a scheduler with a later epoch than "
                  + known.epoch()
                  + " has led",
              true,
              e);
        }
        if (!before.equals(known)) {
          Stat unused = link.client().setData().withVersion(stat.getVersion()).forPath(path, data);
        }
      }
    } catch (StoreException e) {
      throw e;
    } catch (Exception e) {
      throw failed("write", e);
    }
  }

  private Known parse(byte[] data) {
    String[] lines = new String(data, StandardCharsets.UTF_8).split("\n", 2);
    String[] numbers = lines[0].split(" ", -1);
    try {
      if (numbers.length == 2) {
        return new Known(
            Long.parseLong(numbers[0]),
            Long.parseLong(numbers[1]),
            lines.length == 2 ? lines[1].strip() : "");
      }
    } catch (NumberFormatException ignored) {
      // Reported below.
    }
    throw new StoreException(
        "the znode "
            + path
            + " is damaged; put the highest epoch used and the longest lease in milliseconds into"
            + " it, such as \"40 90000\"",
        false,
        null);
  }

  private StoreException failed(String what, Exception e) {
    return new StoreException(
        String.valueOf(
            ZooKeeperException.of("cannot " + what + " " + path, link.target(), e).getMessage()),
        true,
        e);
  }
}
