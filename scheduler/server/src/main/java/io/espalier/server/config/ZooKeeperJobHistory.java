package io.espalier.server.config;

import io.espalier.core.config.source.JobVersion;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.apache.curator.framework.CuratorFramework;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Stores the versions of jobs below {@code PATH/history}: a znode for each job with a child for
 * each version, numbered by ZooKeeper. It keeps only the newest hundred. Stateless.
 */
final class ZooKeeperJobHistory {
  private static final Logger LOG = LoggerFactory.getLogger(ZooKeeperJobHistory.class);
  private static final int VERSIONS_KEPT = 100;
  private static final int SEQUENCE_DIGITS = 10;

  private final String path;

  /**
   * @param path of the configuration
   */
  ZooKeeperJobHistory(String path) {
    this.path = path + "/history";
  }

  private String of(String job) {
    return path + "/" + ConfigText.segment(job);
  }

  /**
   * Adds a version.
   *
   * @param entry in the format of {@link JobVersionText}
   * @throws Exception as the client does
   */
  void add(CuratorFramework client, String job, byte[] entry) throws Exception {
    String made =
        client
            .create()
            .creatingParentsIfNeeded()
            .withMode(CreateMode.PERSISTENT_SEQUENTIAL)
            .forPath(of(job) + "/v-", entry);
    LOG.debug("remembered as {}", made);
    forgetOldest(client, of(job));
  }

  private static void forgetOldest(CuratorFramework client, String of) throws Exception {
    List<String> entries = inOrder(client.getChildren().forPath(of));
    for (String entry : entries.subList(0, Math.max(0, entries.size() - VERSIONS_KEPT))) {
      client.delete().quietly().forPath(of + "/" + entry);
    }
  }

  private static List<String> inOrder(List<String> entries) {
    List<String> sorted = new ArrayList<>(entries);
    sorted.sort(
        Comparator.comparing(
            (String name) -> name.substring(Math.max(0, name.length() - SEQUENCE_DIGITS))));
    return sorted;
  }

  /** Reads the bytes of a znode. */
  interface Reader {
    /**
     * @return null when the znode does not exist
     */
    byte @Nullable [] read(String znode) throws Exception;
  }

  /**
   * Returns the versions of a job, oldest first, without those that cannot be parsed.
   *
   * @throws Exception as the client or the reader does
   */
  List<JobVersion> read(CuratorFramework client, String job, Reader reader) throws Exception {
    List<String> entries;
    try {
      entries = inOrder(client.getChildren().forPath(of(job)));
    } catch (KeeperException.NoNodeException e) {
      return List.of();
    }
    List<JobVersion> versions = new ArrayList<>();
    for (String entry : entries) {
      byte[] bytes = reader.read(of(job) + "/" + entry);
      if (bytes != null) {
        JobVersionText.read(bytes)
            .filter(version -> version.name().equals(job))
            .ifPresent(versions::add);
      }
    }
    return versions;
  }
}
