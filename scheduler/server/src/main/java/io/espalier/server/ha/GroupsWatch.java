package io.espalier.server.ha;

import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Result;
import io.espalier.server.zk.ZooKeeperException;
import io.espalier.server.zk.ZooKeeperLink;
import io.espalier.server.zk.ZooKeeperTarget;
import io.espalier.webui.fleet.SchedulerListListener;
import io.espalier.webui.fleet.SchedulerLists;
import io.espalier.webui.fleet.poll.SchedulerAddress;
import io.espalier.worker.thread.PeriodicThread;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.zookeeper.AddWatchMode;
import org.apache.zookeeper.KeeperException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Follows the schedulers below a path in ZooKeeper: the leader of each election group there, or of
 * the group at the path itself, and plain znodes that contain {@code HOST:PORT}. Changes nothing in
 * ZooKeeper. Without a connection it keeps the newest known schedulers. It keeps a group without a
 * leader for a day, with its last leader, so that people see what died.
 */
public final class GroupsWatch implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(GroupsWatch.class);
  private static final Duration LOOK = Duration.ofSeconds(30);
  private static final Duration SOON = Duration.ofMillis(200);
  private static final int LONGEST_TEXT = 300;
  private static final Duration REMEMBERED = Duration.ofDays(1);

  private final ZooKeeperLink link;
  private final SchedulerListListener news;
  private final InstantSource clock;
  private final String base;
  private final Map<String, Led> led = new TreeMap<>();
  private final Set<String> watched = new HashSet<>();
  private final AtomicBoolean soon = new AtomicBoolean();
  private final PeriodicThread looking = new PeriodicThread("groups-watch");
  private List<SchedulerAddress> latest = List.of();
  private boolean told;

  /** The last leader of a group, and the time when it was last seen leading. */
  private record Led(String http, long atMillis) {}

  /**
   * The result of one reading.
   *
   * @param without names of groups without a leader
   * @param leaders by group
   */
  private record Found(StringBuilder list, Set<String> without, Map<String, String> leaders) {}

  private GroupsWatch(ZooKeeperLink link, SchedulerListListener news, InstantSource clock) {
    this.link = link;
    this.news = news;
    this.clock = clock;
    this.base = link.target().path();
  }

  /**
   * Starts to follow; the first list arrives once there is a connection.
   *
   * @param news called on a thread of ours
   * @throws IOException when the account for ZooKeeper cannot be read
   */
  public static GroupsWatch follow(ZooKeeperTarget target, SchedulerListListener news)
      throws IOException {
    return follow(target, news, InstantSource.system());
  }

  static GroupsWatch follow(ZooKeeperTarget target, SchedulerListListener news, InstantSource clock)
      throws IOException {
    ZooKeeperLink link = ZooKeeperLink.open(target);
    GroupsWatch watch = new GroupsWatch(link, news, clock);
    link.client()
        .getConnectionStateListenable()
        .addListener(
            (source, state) -> {
              if (state == ConnectionState.RECONNECTED || state == ConnectionState.CONNECTED) {
                // A new session has no watches.
                watch.looking.once(Duration.ZERO, watch.watched::clear);
                watch.lookSoon();
              }
            });
    watch.looking.every(Duration.ZERO, LOOK, watch::look);
    return watch;
  }

  /** Schedules a reading. Many changes arrive at once; one reading handles them all. */
  private void lookSoon() {
    if (soon.compareAndSet(false, true)) {
      looking.once(
          SOON,
          () -> {
            soon.set(false);
            look();
          });
    }
  }

  private void look() {
    try {
      Found found = new Found(new StringBuilder(), new TreeSet<>(), new TreeMap<>());
      read(found);
      remember(found);
      Result<List<SchedulerAddress>> read = SchedulerLists.parse(found.list().toString());
      List<SchedulerAddress> schedulers = read.value() == null ? List.of() : read.value();
      if (!told || !schedulers.equals(latest)) {
        told = true;
        latest = schedulers;
        news.follow("zk://" + link.target(), schedulers);
      }
      List<Problem> problems = new ArrayList<>(read.problems());
      found
          .without()
          .forEach(
              name ->
                  problems.add(Problem.warning(name, "no scheduler that serves HTTP leads there")));
      news.complain(problems);
    } catch (ZooKeeperException e) {
      LOG.debug("{}", e.getMessage());
      news.complain(List.of(Problem.error(base, String.valueOf(e.getMessage()))));
    }
  }

  /**
   * Remembers the leaders found. The znodes of a group may disappear with its last scheduler; its
   * last description is still needed.
   */
  private void remember(Found found) {
    long now = clock.millis();
    found.leaders().forEach((name, http) -> led.put(name, new Led(http, now)));
    led.values().removeIf(last -> now - last.atMillis() > REMEMBERED.toMillis());
    led.forEach(
        (name, last) -> {
          if (!found.leaders().containsKey(name)) {
            found.without().add(name);
            if (!found.leaders().containsValue(last.http())) {
              found.list().append(named(name)).append(last.http()).append('\n');
            }
          }
        });
  }

  private void read(Found found) throws ZooKeeperException {
    watch(base);
    List<String> children = children(base);
    if (children.contains("leader")) {
      group(base, base.substring(base.lastIndexOf('/') + 1), found);
      return;
    }
    for (String child : new TreeSet<>(children)) {
      String path = base + "/" + child;
      watch(path);
      if (children(path).contains("leader")) {
        group(path, child, found);
      } else {
        plain(path, child, found.list());
      }
    }
  }

  private void group(String path, String name, Found found) throws ZooKeeperException {
    watch(ZooKeeperPaths.leader(path));
    List<Candidate> candidates = LeaderWatch.read(link, path);
    if (candidates.isEmpty() || candidates.get(0).http().isEmpty()) {
      found.without().add(name);
    } else {
      found.leaders().put(name, candidates.get(0).http());
      found.list().append(named(name)).append(candidates.get(0).http()).append('\n');
    }
  }

  private void plain(String path, String name, StringBuilder list) throws ZooKeeperException {
    try {
      byte[] data = link.client().getData().forPath(path);
      String text = data == null ? "" : new String(data, StandardCharsets.UTF_8).strip();
      if (!text.isEmpty() && text.length() <= LONGEST_TEXT) {
        list.append(text.contains("=") ? "" : named(name)).append(text).append('\n');
      }
    } catch (KeeperException.NoNodeException e) {
      LOG.trace("{} is gone", path, e);
    } catch (Exception e) {
      throw ZooKeeperException.of("cannot read " + path, link.target(), e);
    }
  }

  /** Returns the name, or nothing for an invalid one; the address then replaces it. */
  private static String named(String znode) {
    return znode.matches("[A-Za-z0-9][A-Za-z0-9._-]{0,99}") ? znode + "=" : "";
  }

  private List<String> children(String path) throws ZooKeeperException {
    try {
      return link.client().getChildren().forPath(path);
    } catch (KeeperException.NoNodeException e) {
      return List.of();
    } catch (Exception e) {
      throw ZooKeeperException.of("cannot read " + path, link.target(), e);
    }
  }

  private void watch(String path) {
    if (!watched.add(path)) {
      return;
    }
    try {
      link.client()
          .watchers()
          .add()
          .withMode(AddWatchMode.PERSISTENT)
          .inBackground(
              (curator, event) -> {
                if (event.getResultCode() != 0) {
                  LOG.debug("{} cannot be watched: {}", path, event);
                  looking.once(Duration.ZERO, () -> watched.remove(path));
                }
              })
          .usingWatcher((org.apache.zookeeper.Watcher) event -> lookSoon())
          .forPath(path);
    } catch (Exception e) {
      LOG.debug("{} cannot be watched", path, e);
      watched.remove(path);
    }
  }

  @Override
  public void close() {
    looking.close();
    link.close();
  }
}
