package io.espalier.server.zk;

import io.espalier.core.pace.Jitter;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.framework.state.SessionConnectionStateErrorPolicy;
import org.apache.curator.retry.RetryOneTime;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One session with an ensemble, and its state. Thread-safe. */
public final class ZooKeeperLink implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ZooKeeperLink.class);
  private static final int RETRY_MILLIS = 300;
  private static final int CONNECT_AT_MOST_MILLIS = 5_000;

  private final ZooKeeperTarget target;
  private final CuratorFramework client;
  private volatile @Nullable ConnectionState state;
  private volatile long changedAtNanos = System.nanoTime();

  private ZooKeeperLink(ZooKeeperTarget target, CuratorFramework client) {
    this.target = target;
    this.client = client;
  }

  /**
   * Starts to connect, without waiting for the connection.
   *
   * @throws IOException when account or certificates cannot be read
   */
  public static ZooKeeperLink open(ZooKeeperTarget target) throws IOException {
    Jitter jitter = new Jitter(ThreadLocalRandom.current().nextLong());
    int retryMillis = (int) jitter.shorten(RETRY_MILLIS, Jitter.OF_RETRIES);
    CuratorFrameworkFactory.Builder builder =
        CuratorFrameworkFactory.builder()
            .connectString(target.hosts())
            .sessionTimeoutMs(target.sessionMillis())
            .connectionTimeoutMs(Math.min(CONNECT_AT_MOST_MILLIS, target.sessionMillis() / 2))
            // A broken connection does not end the session: leadership survives it.
            .connectionStateErrorPolicy(new SessionConnectionStateErrorPolicy())
            .retryPolicy(new RetryOneTime(retryMillis));
    target.security().applyTo(builder);
    ZooKeeperLink link = new ZooKeeperLink(target, builder.build());
    link.client
        .getConnectionStateListenable()
        .addListener((source, newState) -> link.changed(newState));
    link.client.start();
    return link;
  }

  private void changed(ConnectionState newState) {
    state = newState;
    changedAtNanos = System.nanoTime();
    switch (newState) {
      case CONNECTED, RECONNECTED -> LOG.info("connected to ZooKeeper at {}", target.hosts());
      case SUSPENDED -> LOG.warn("the connection to ZooKeeper at {} is broken", target.hosts());
      case LOST -> LOG.warn("the session with ZooKeeper at {} is over", target.hosts());
      case READ_ONLY -> LOG.warn("ZooKeeper at {} answers read-only", target.hosts());
    }
  }

  /** Returns the client, for recipes. */
  public CuratorFramework client() {
    return client;
  }

  public ZooKeeperTarget target() {
    return target;
  }

  /** Describes the problem of the connection, for people; empty: none. */
  public Optional<String> problem() {
    ConnectionState known = state;
    if (known != null && known.isConnected() && known != ConnectionState.READ_ONLY) {
      return Optional.empty();
    }
    long seconds = (System.nanoTime() - changedAtNanos) / 1_000_000_000L;
    return Optional.of(
        "no connection to ZooKeeper at "
            + target.hosts()
            + " for "
            + seconds
            + " s: are its servers up, and do more than half of them run?");
  }

  /**
   * Waits for a connection.
   *
   * @throws ZooKeeperException when there is none in that time
   */
  public void awaitConnected(Duration atMost) throws ZooKeeperException, InterruptedException {
    if (!client.blockUntilConnected((int) atMost.toMillis(), TimeUnit.MILLISECONDS)) {
      throw new ZooKeeperException(
          "no ZooKeeper server answers at "
              + target.hosts()
              + "; are they up, and do more than half of the ensemble run?");
    }
  }

  /**
   * Returns the session time-out that the servers granted, in milliseconds.
   *
   * @throws ZooKeeperException without a session
   */
  public int sessionMillis() throws ZooKeeperException {
    try {
      int given = client.getZookeeperClient().getZooKeeper().getSessionTimeout();
      return given > 0 ? given : target.sessionMillis();
    } catch (Exception e) {
      throw ZooKeeperException.of("there is no session", target, e);
    }
  }

  /** Ends the session: ephemeral znodes disappear at once. */
  @Override
  public void close() {
    client.close();
  }
}
