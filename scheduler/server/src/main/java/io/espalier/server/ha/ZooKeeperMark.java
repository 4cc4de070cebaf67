package io.espalier.server.ha;

import io.espalier.core.status.store.StoreException;
import io.espalier.server.app.ownership.GroupMark;
import io.espalier.server.store.EventMark;
import io.espalier.server.zk.ZooKeeperException;
import io.espalier.server.zk.ZooKeeperLink;
import java.nio.charset.StandardCharsets;
import java.util.function.Function;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.data.Stat;

/**
 * The mark of a group in ZooKeeper, beside its election. One znode has a line with the epoch and
 * the duration of leases, and a second one while a store that was set back is waited for. Another
 * one has the newest event.
 */
final class ZooKeeperMark implements GroupMark {
  private final ZooKeeperLink link;
  private final String path;
  private final String eventPath;

  ZooKeeperMark(ZooKeeperLink link) {
    this.link = link;
    this.path = ZooKeeperPaths.epoch(link.target().path());
    this.eventPath = ZooKeeperPaths.event(link.target().path());
  }

  @Override
  public Known read() {
    return read(path, Known.NOTHING, this::parse, new Stat());
  }

  @Override
  public void write(Known known) {
    Stat stat = new Stat();
    Known before = read(path, Known.NOTHING, this::parse, stat);
    if (before.epoch() > known.epoch()) {
      throw new StoreException(
          "the epoch in ZooKeeper is "
              + before.epoch()
              + ": a scheduler with a later epoch than "
              + known.epoch()
              + " has led",
          true,
          null);
    }
    if (!before.equals(known)) {
      write(path, known.epoch() + " " + known.leaseMillis() + "\n" + known.setBack(), stat);
    }
  }

  @Override
  public EventMark newestEvent() {
    return read(eventPath, EventMark.NONE, this::parseEvent, new Stat());
  }

  @Override
  public void newestEvent(EventMark mark) {
    Stat stat = new Stat();
    EventMark before = read(eventPath, EventMark.NONE, this::parseEvent, stat);
    if (before.epoch() <= mark.epoch() && !before.equals(mark)) {
      write(eventPath, mark.text(), stat);
    }
  }

  private EventMark parseEvent(byte[] data) {
    return EventMark.parse(new String(data, StandardCharsets.UTF_8), "the znode " + eventPath);
  }

  private <T> T read(String znode, T none, Function<byte[], T> parser, Stat stat) {
    try {
      return parser.apply(link.client().getData().storingStatIn(stat).forPath(znode));
    } catch (KeeperException.NoNodeException e) {
      return none;
    } catch (StoreException e) {
      throw e;
    } catch (Exception e) {
      throw failed("read", znode, e);
    }
  }

  /** Writes a znode unless it was changed since it was read. */
  private void write(String znode, String text, Stat read) {
    byte[] data = text.getBytes(StandardCharsets.UTF_8);
    try {
      // No znode has the transaction 0.
      if (read.getCzxid() == 0) {
        String unused = link.client().create().creatingParentsIfNeeded().forPath(znode, data);
      } else {
        Stat unused = link.client().setData().withVersion(read.getVersion()).forPath(znode, data);
      }
    } catch (Exception e) {
      throw failed("write", znode, e);
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

  private StoreException failed(String what, String znode, Exception e) {
    return new StoreException(
        String.valueOf(
            ZooKeeperException.of("cannot " + what + " " + znode, link.target(), e).getMessage()),
        true,
        e);
  }
}
