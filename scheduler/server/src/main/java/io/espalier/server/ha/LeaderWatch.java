package io.espalier.server.ha;

import io.espalier.server.zk.ZooKeeperException;
import io.espalier.server.zk.ZooKeeperLink;
import io.espalier.worker.thread.PeriodicThread;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.zookeeper.AddWatchMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Follows the leader of an election group without being a member. Its information may be outdated:
 * only the leader itself knows whether it still leads.
 */
public final class LeaderWatch implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(LeaderWatch.class);
  private static final Duration LOOK = Duration.ofSeconds(5);
  private static final int SEQUENCE_DIGITS = 10;

  private final ZooKeeperLink link;
  private final String path;
  private final Consumer<List<Candidate>> news;
  private final Watcher watcher = event -> lookSoon(event.getType() == EventType.NodeDataChanged);
  private final PeriodicThread looking = new PeriodicThread("leader-watch");
  private volatile List<Candidate> candidates = List.of();

  private LeaderWatch(ZooKeeperLink link, Consumer<List<Candidate>> news) {
    this.link = link;
    this.path = ZooKeeperPaths.leader(link.target().path());
    this.news = news;
  }

  /**
   * Starts to follow. Without a connection it keeps the newest known candidates.
   *
   * @param news called on a thread of ours with the candidates, the leader first, whenever they
   *     have changed, and when a leader begins to answer
   */
  static LeaderWatch start(ZooKeeperLink link, Consumer<List<Candidate>> news) {
    LeaderWatch watch = new LeaderWatch(link, news);
    link.client()
        .getConnectionStateListenable()
        .addListener(
            (source, state) -> {
              if (state == ConnectionState.CONNECTED || state == ConnectionState.RECONNECTED) {
                // A new session has no watches, and changes may have been missed.
                watch.setWatches(source);
                watch.lookSoon(false);
              }
            });
    watch.setWatches(link.client());
    // Limits the delay in case a watch is ever lost.
    watch.looking.every(Duration.ZERO, LOOK, () -> watch.look(false));
    return watch;
  }

  private void setWatches(CuratorFramework source) {
    setWatch(source, path);
    setWatch(source, ZooKeeperPaths.opened(link.target().path()));
  }

  private void setWatch(CuratorFramework source, String watched) {
    try {
      source
          .watchers()
          .add()
          .withMode(AddWatchMode.PERSISTENT_RECURSIVE)
          .inBackground(
              (curator, event) -> {
                if (event.getResultCode() != 0) {
                  LOG.debug("{} cannot be watched: {}", watched, event);
                }
              })
          .usingWatcher(watcher)
          .forPath(watched);
    } catch (Exception e) {
      LOG.debug("{} cannot be watched", watched, e);
    }
  }

  private void lookSoon(boolean opened) {
    looking.once(Duration.ZERO, () -> look(opened));
  }

  private void look(boolean opened) {
    List<Candidate> found;
    try {
      found = read(link);
    } catch (ZooKeeperException e) {
      LOG.debug("{}", e.getMessage());
      return;
    }
    if (opened || !found.equals(candidates)) {
      candidates = List.copyOf(found);
      news.accept(candidates);
    }
  }

  /** Returns the newest known candidates, the leader first. */
  List<Candidate> candidates() {
    return candidates;
  }

  Optional<Candidate> leader() {
    return candidates.stream().findFirst();
  }

  /**
   * Reads the candidates once.
   *
   * @return all candidates, the leader first; empty when there is no such group or it has no
   *     members
   */
  static List<Candidate> read(ZooKeeperLink link) throws ZooKeeperException {
    return read(link, link.target().path());
  }

  /** Reads the candidates of a group at another path of the same ensemble once. */
  static List<Candidate> read(ZooKeeperLink link, String group) throws ZooKeeperException {
    String path = ZooKeeperPaths.leader(group);
    try {
      List<String> queue = new ArrayList<>(link.client().getChildren().forPath(path));
      queue.sort(
          Comparator.comparing(
              (String name) -> name.substring(Math.max(0, name.length() - SEQUENCE_DIGITS))));
      List<Candidate> found = new ArrayList<>();
      for (String place : queue) {
        try {
          byte[] data = link.client().getData().forPath(path + "/" + place);
          Candidate.parse(new String(data, StandardCharsets.UTF_8)).ifPresent(found::add);
        } catch (KeeperException.NoNodeException e) {
          LOG.trace("{} has left", place, e);
        }
      }
      return found;
    } catch (KeeperException.NoNodeException e) {
      return List.of();
    } catch (Exception e) {
      throw ZooKeeperException.of("cannot read " + path, link.target(), e);
    }
  }

  /** Watches end with the session, which is not ours. */
  @Override
  public void close() {
    looking.close();
  }
}
