package io.espalier.nodes;

import io.espalier.core.pace.Jitter;
import io.espalier.nodes.zk.ZooKeeperSecurity;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.AddWatchMode;
import org.apache.zookeeper.Watcher;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A ZooKeeper client that reports every change below a znode. It connects at first use.
 * Thread-safe.
 */
final class ZooKeeperAccess {
  private static final Logger LOG = LoggerFactory.getLogger(ZooKeeperAccess.class);
  private static final int SESSION_MILLIS = 30_000;
  private static final int RETRY_MILLIS = 200;

  private final String connect;
  private final String watched;
  private final @Nullable Path authFile;
  private final Duration timeout;
  private final Watcher watcher = event -> changed();

  private @Nullable CuratorFramework client;
  private volatile @Nullable Runnable listener;

  /**
   * @param watched znode below which changes are reported
   * @param authFile as {@link ZooKeeperSecurity} reads it; null: none is needed
   */
  ZooKeeperAccess(String connect, String watched, @Nullable Path authFile, Duration timeout) {
    this.connect = connect;
    this.watched = watched;
    this.authFile = authFile;
    this.timeout = timeout;
  }

  String connect() {
    return connect;
  }

  void watch(Runnable changed) {
    listener = changed;
  }

  private void changed() {
    Runnable told = listener;
    if (told != null) {
      told.run();
    }
  }

  /** Returns a connected client. */
  CuratorFramework client() throws IOException, InterruptedException {
    CuratorFramework open = open();
    if (!open.blockUntilConnected((int) timeout.toMillis(), TimeUnit.MILLISECONDS)) {
      throw new IOException("no server can be reached");
    }
    return open;
  }

  private synchronized CuratorFramework open() throws IOException {
    if (client != null) {
      return client;
    }
    Jitter jitter = new Jitter(ThreadLocalRandom.current().nextLong());
    int retryMillis = (int) jitter.shorten(RETRY_MILLIS, Jitter.OF_RETRIES);
    CuratorFrameworkFactory.Builder builder =
        CuratorFrameworkFactory.builder()
            .connectString(connect)
            .sessionTimeoutMs(SESSION_MILLIS)
            .connectionTimeoutMs((int) Math.min(timeout.toMillis(), SESSION_MILLIS / 2))
            .retryPolicy(new RetryOneTime(retryMillis));
    if (authFile != null) {
      ZooKeeperSecurity.read(authFile).applyTo(builder);
    }
    CuratorFramework fresh = builder.build();
    fresh
        .getConnectionStateListenable()
        .addListener(
            (source, state) -> {
              if (state == ConnectionState.CONNECTED || state == ConnectionState.RECONNECTED) {
                // A new session has no watch, and changes may have been missed.
                setWatch(source);
                changed();
              }
            });
    fresh.start();
    client = fresh;
    return fresh;
  }

  private void setWatch(CuratorFramework source) {
    if (listener == null) {
      return;
    }
    try {
      source
          .watchers()
          .add()
          .withMode(AddWatchMode.PERSISTENT_RECURSIVE)
          .inBackground(
              (curator, event) -> {
                if (event.getResultCode() != 0) {
                  LOG.warn("{} at {} cannot be watched: {}", watched, connect, event);
                }
              })
          .usingWatcher(watcher)
          .forPath(watched);
    } catch (Exception e) {
      LOG.warn("{} at {} cannot be watched", watched, connect, e);
    }
  }

  synchronized void close() {
    CuratorFramework open = client;
    client = null;
    listener = null;
    if (open != null) {
      open.close();
    }
  }
}
