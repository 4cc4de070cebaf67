package io.espalier.server.ha;

import io.espalier.server.zk.ZooKeeperLink;
import io.espalier.server.zk.ZooKeeperTarget;
import io.espalier.worker.agent.AgentOptions.Address;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Finds the leader of an election group from outside the group. */
public final class LeaderFinder implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(LeaderFinder.class);
  private static final Duration PATIENCE = Duration.ofSeconds(15);
  private static final long LOOK_MILLIS = 250;

  private final ZooKeeperLink link;
  private final LeaderWatch watch;

  private LeaderFinder(ZooKeeperLink link, LeaderWatch watch) {
    this.link = link;
    this.watch = watch;
  }

  /**
   * Follows the address on which the leader accepts workers, until it is closed. Without ZooKeeper
   * it keeps the newest known address, because the leader may still be there.
   *
   * @param moved gets the address whenever there is a reason to try it at once
   * @throws IOException when the account for ZooKeeper cannot be read
   */
  public static LeaderFinder follow(ZooKeeperTarget group, Consumer<List<Address>> moved)
      throws IOException {
    ZooKeeperLink link = ZooKeeperLink.open(group);
    return new LeaderFinder(
        link,
        LeaderWatch.start(
            link,
            candidates ->
                candidates.stream()
                    .findFirst()
                    .flatMap(leader -> address(leader.thrift()))
                    .ifPresent(
                        address -> {
                          LOG.info("the leader at {} takes calls at {}", group, address);
                          moved.accept(List.of(address));
                        })));
  }

  /**
   * Waits for a leader that serves HTTP.
   *
   * @return its URL, as {@code http://HOST:PORT} or {@code https://HOST:PORT}
   * @throws IOException with the reason when there is none
   */
  public static String http(ZooKeeperTarget group) throws IOException, InterruptedException {
    try (ZooKeeperLink link = ZooKeeperLink.open(group)) {
      link.awaitConnected(PATIENCE);
      long end = System.nanoTime() + PATIENCE.toNanos();
      do {
        Optional<Candidate> leader = LeaderWatch.read(link).stream().findFirst();
        if (leader.isPresent() && !leader.get().http().isEmpty()) {
          return leader.get().url();
        }
        Thread.sleep(LOOK_MILLIS);
      } while (System.nanoTime() < end);
      throw new IOException(
          link.client().checkExists().forPath(ZooKeeperPaths.leader(group.path())) == null
              ? "there is no group of schedulers at " + group + ": is the path right?"
              : "no scheduler leads at " + group);
    } catch (IOException | InterruptedException e) {
      throw e;
    } catch (Exception e) {
      throw new IOException("looking for the leader at " + group + " failed: " + e.getMessage(), e);
    }
  }

  private static Optional<Address> address(String thrift) {
    int colon = thrift.lastIndexOf(':');
    if (colon < 1) {
      return Optional.empty();
    }
    try {
      String host = thrift.substring(0, colon);
      boolean brackets = host.startsWith("[") && host.endsWith("]");
      return Optional.of(
          new Address(
              brackets ? host.substring(1, host.length() - 1) : host,
              Integer.parseInt(thrift.substring(colon + 1))));
    } catch (NumberFormatException e) {
      LOG.warn("the leader says that workers find it at {}", thrift, e);
      return Optional.empty();
    }
  }

  @Override
  public void close() {
    watch.close();
    link.close();
  }

  @Override
  public String toString() {
    return link.target().toString();
  }
}
