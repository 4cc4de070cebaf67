package io.espalier.server.config;

import io.espalier.core.config.source.JobVersion;
import io.espalier.core.config.source.WritableConfigSource;
import io.espalier.server.zk.ZooKeeperException;
import io.espalier.server.zk.ZooKeeperLink;
import io.espalier.server.zk.ZooKeeperTarget;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.api.transaction.CuratorOp;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.zookeeper.AddWatchMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A configuration in ZooKeeper, {@code zk://HOSTS/PATH}: the text of the znode PATH and, if there
 * is a znode PATH/jobs, the texts of its children, treated like the files of a directory. The
 * history of jobs is below PATH/history. The source uses watches: fetching costs nothing while
 * nothing changes.
 *
 * <p>Every write also sets PATH, conditional on its version, so that one of two concurrent writers
 * detects the conflict. Thread-safe.
 */
final class ZooKeeperConfigSource implements WritableConfigSource {
  private static final Logger LOG = LoggerFactory.getLogger(ZooKeeperConfigSource.class);

  /** The default limit of servers and clients is 1 MiB, overhead included. */
  static final int MAX_BYTES = 1_000_000;

  private static final int SESSION_MILLIS = 30_000;
  private static final Duration PATIENCE = Duration.ofSeconds(5);
  private static final Duration FIRST_PATIENCE = Duration.ofSeconds(15);
  private static final long TRUST_NANOS = Duration.ofSeconds(30).toNanos();
  private static final int TRIES = 20;

  private final ZooKeeperTarget target;
  private final String path;
  private final ZooKeeperJobHistory history;
  private final Watcher watcher = event -> changed();
  private @Nullable ZooKeeperLink link;
  private @Nullable Text known;
  private long knownAtNanos;
  private volatile boolean dirty = true;

  private ZooKeeperConfigSource(ZooKeeperTarget target) {
    this.target = target.withSessionMillis(SESSION_MILLIS);
    this.path = target.path();
    this.history = new ZooKeeperJobHistory(path);
  }

  /**
   * Creates a source from its URI. Does not connect yet.
   *
   * @param uri {@code zk://HOSTS/PATH}, with {@code ?auth_file=FILE} where an account is needed
   * @throws IllegalArgumentException with the error in the URI
   */
  static ZooKeeperConfigSource of(String uri) {
    int question = uri.indexOf('?');
    ZooKeeperTarget target = ZooKeeperTarget.parse(question < 0 ? uri : uri.substring(0, question));
    if (question < 0) {
      return new ZooKeeperConfigSource(target);
    }
    String parameter = uri.substring(question + 1);
    if (!parameter.startsWith("auth_file=") || parameter.contains("&")) {
      throw new IllegalArgumentException("the only parameter is auth_file=FILE");
    }
    return new ZooKeeperConfigSource(
        target.withAuthFile(Optional.of(Path.of(parameter.substring("auth_file=".length())))));
  }

  @Override
  public String name() {
    return "zk://" + target;
  }

  /** Returns the working directory, because the source has no directory of its own. */
  @Override
  public String directory() {
    return Path.of("").toAbsolutePath().toString();
  }

  private void changed() {
    dirty = true;
  }

  private String jobs() {
    return path + "/jobs";
  }

  // ---- reading

  @Override
  public synchronized Text fetch() throws Unavailable, InterruptedException {
    CuratorFramework client = client();
    Text newest = known;
    if (newest != null && !dirty && System.nanoTime() - knownAtNanos < TRUST_NANOS) {
      return newest;
    }
    return read(client).text();
  }

  /** One reading: the text, and the state of the znodes from which it was read. */
  private record Reading(Text text, Stat root, List<Part> parts, boolean directory) {
    @Nullable Part part(String document) {
      return parts.stream()
          .filter(part -> part.document.name().equals(document))
          .findFirst()
          .orElse(null);
    }
  }

  /** A znode, under its own path, and its state when it was read. */
  private record Part(Document document, Stat stat) {}

  private Reading read(CuratorFramework client) throws Unavailable, InterruptedException {
    try {
      for (int i = 0; i < TRIES; i++) {
        dirty = false;
        long began = System.nanoTime();
        Reading first = readOnce(client);
        // Only a reading of several znodes can mix old and new texts.
        Reading second = first.directory ? readOnce(client) : first;
        if (first.text.hash().equals(second.text.hash())) {
          known = second.text;
          knownAtNanos = began;
          return second;
        }
      }
      throw unavailable("the text changes faster than it can be read", null);
    } catch (Unavailable | InterruptedException e) {
      dirty = true;
      throw e;
    } catch (Exception e) {
      dirty = true;
      throw failed("cannot read " + path, e);
    }
  }

  private Reading readOnce(CuratorFramework client) throws Exception {
    List<Part> parts = new ArrayList<>();
    Part root = part(client, path);
    if (root == null) {
      throw unavailable(
          "there is no such znode",
          "create it with the text of the configuration, for example with zkCli.sh");
    }
    boolean directory = client.checkExists().forPath(jobs()) != null;
    if (root.document.bytes().length > 0 || !directory) {
      parts.add(root);
    }
    if (directory) {
      List<String> names = new ArrayList<>(client.getChildren().forPath(jobs()));
      names.sort(null);
      for (String name : names) {
        Part part = part(client, jobs() + "/" + name);
        if (part != null) {
          parts.add(part);
        }
      }
    }
    List<Document> documents = new ArrayList<>();
    for (Part part : parts) {
      documents.add(part.document);
    }
    return new Reading(ConfigText.of(documents), root.stat, parts, directory);
  }

  private @Nullable Part part(CuratorFramework client, String znode) throws Exception {
    try {
      Stat before = client.checkExists().forPath(znode);
      if (before != null && before.getDataLength() > MAX_BYTES) {
        // A client that requests more than it accepts loses its connection, again and again.
        throw unavailable(
            "the znode "
                + znode
                + " has "
                + before.getDataLength()
                + " bytes; at most "
                + MAX_BYTES
                + " are read",
            "keep each job in a znode of its own, below " + jobs());
      }
      Stat stat = new Stat();
      byte[] bytes = client.getData().storingStatIn(stat).forPath(znode);
      return new Part(new Document(znode, bytes == null ? new byte[0] : bytes), stat);
    } catch (KeeperException.NoNodeException e) {
      return null;
    }
  }

  // ---- writing

  /**
   * Returns the job's own znode where jobs have their own, else the znode of the whole
   * configuration.
   */
  @Override
  public synchronized String documentFor(String job) {
    try {
      boolean directory = client().checkExists().forPath(jobs()) != null;
      return directory ? jobs() + "/" + ConfigText.segment(job) : path;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return path;
    } catch (Exception e) {
      LOG.debug("reading comes next, and says it better", e);
      return path;
    }
  }

  @Override
  public synchronized boolean write(Text expected, SortedMap<String, Optional<byte[]>> documents)
      throws Unavailable, InterruptedException {
    refuseTooLarge(documents);
    CuratorFramework client = client();
    Reading now = read(client);
    if (!now.text.hash().equals(expected.hash())) {
      return false;
    }
    try {
      List<CuratorOp> changes = new ArrayList<>();
      Optional<byte[]> root = documents.getOrDefault(path, Optional.of(rootText(now)));
      changes.add(setRoot(client, now, root.orElse(new byte[0])));
      for (Map.Entry<String, Optional<byte[]>> document : documents.entrySet()) {
        if (!document.getKey().equals(path)) {
          changes.add(
              change(
                  client,
                  document.getKey(),
                  now.part(document.getKey()),
                  document.getValue().orElse(null)));
        }
      }
      boolean done = !client.transaction().forOperations(changes).isEmpty();
      dirty = true;
      return done;
    } catch (KeeperException.BadVersionException
        | KeeperException.NoNodeException
        | KeeperException.NodeExistsException e) {
      LOG.debug("another was faster", e);
      dirty = true;
      return false;
    } catch (InterruptedException e) {
      throw e;
    } catch (Exception e) {
      dirty = true;
      throw failed("cannot write " + String.join(", ", documents.keySet()), e);
    }
  }

  private void refuseTooLarge(SortedMap<String, Optional<byte[]>> documents) throws Unavailable {
    long all = 0;
    for (Map.Entry<String, Optional<byte[]>> document : documents.entrySet()) {
      int length = document.getValue().map(text -> text.length).orElse(0);
      all += length;
      if (length > MAX_BYTES) {
        throw unavailable(
            "the znode "
                + document.getKey()
                + " would have "
                + length
                + " bytes; ZooKeeper takes at most "
                + MAX_BYTES,
            document.getKey().equals(path)
                ? "create the znode " + jobs() + ": then each new job has one of its own"
                : "make the job smaller");
      }
    }
    if (all > MAX_BYTES) {
      throw unavailable(
          documents.size()
              + " znodes would be written at once, "
              + all
              + " bytes; ZooKeeper takes at most "
              + MAX_BYTES,
          "apply fewer jobs at once");
    }
  }

  private byte[] rootText(Reading now) {
    Part root = now.part(path);
    return root == null ? new byte[0] : root.document.bytes();
  }

  private CuratorOp setRoot(CuratorFramework client, Reading now, byte[] text) throws Exception {
    return client.transactionOp().setData().withVersion(now.root.getVersion()).forPath(path, text);
  }

  private static CuratorOp change(
      CuratorFramework client, String document, @Nullable Part old, byte @Nullable [] text)
      throws Exception {
    if (text == null) {
      return client
          .transactionOp()
          .delete()
          .withVersion(old == null ? 0 : old.stat.getVersion())
          .forPath(document);
    }
    return old == null
        ? client.transactionOp().create().forPath(document, text)
        : client
            .transactionOp()
            .setData()
            .withVersion(old.stat.getVersion())
            .forPath(document, text);
  }

  // ---- history

  @Override
  public synchronized void remember(List<JobVersion> versions) throws Unavailable {
    for (JobVersion version : versions) {
      remember(version);
    }
  }

  private void remember(JobVersion version) throws Unavailable {
    try {
      CuratorFramework client = client();
      byte[] entry = JobVersionText.write(version);
      if (entry.length > MAX_BYTES) {
        throw unavailable("the job is too long for its history in ZooKeeper", null);
      }
      history.add(client, version.name(), entry);
    } catch (Unavailable e) {
      throw e;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw unavailable("interrupted", null);
    } catch (Exception e) {
      throw failed("cannot write the history of job " + version.name(), e);
    }
  }

  /** Returns the newest hundred versions. */
  @Override
  public synchronized List<JobVersion> history(String job) throws Unavailable {
    try {
      CuratorFramework client = client();
      return history.read(
          client,
          job,
          znode -> {
            Part part = part(client, znode);
            return part == null ? null : part.document.bytes();
          });
    } catch (Unavailable e) {
      throw e;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw unavailable("interrupted", null);
    } catch (Exception e) {
      throw failed("cannot read the history of job " + job, e);
    }
  }

  // ---- the connection

  private CuratorFramework client() throws Unavailable, InterruptedException {
    boolean first = link == null;
    try {
      ZooKeeperLink open = link;
      if (open == null) {
        open = ZooKeeperLink.open(target);
        open.client()
            .getConnectionStateListenable()
            .addListener(
                (source, state) -> {
                  if (state == ConnectionState.CONNECTED || state == ConnectionState.RECONNECTED) {
                    // A new session has no watches, and changes may have been missed.
                    setWatch(source);
                  }
                  changed();
                });
        link = open;
      }
      open.awaitConnected(first ? FIRST_PATIENCE : PATIENCE);
      if (first) {
        setWatch(open.client());
      }
      return open.client();
    } catch (IOException e) {
      throw unavailable(String.valueOf(e.getMessage()), null);
    }
  }

  private void setWatch(CuratorFramework source) {
    for (String watched : List.of(path, jobs())) {
      try {
        source
            .watchers()
            .add()
            .withMode(
                watched.equals(path) ? AddWatchMode.PERSISTENT : AddWatchMode.PERSISTENT_RECURSIVE)
            .inBackground(
                (curator, event) -> {
                  if (event.getResultCode() != 0) {
                    LOG.warn("{} cannot be watched: {}", watched, event);
                  }
                })
            .usingWatcher(watcher)
            .forPath(watched);
      } catch (Exception e) {
        LOG.warn("{} cannot be watched; it is read every {} ns", watched, TRUST_NANOS, e);
      }
    }
  }

  private Unavailable failed(String what, Exception e) {
    return unavailable(String.valueOf(ZooKeeperException.of(what, target, e).getMessage()), null);
  }

  private Unavailable unavailable(String message, @Nullable String hint) {
    return ConfigText.unavailable(name(), message, hint);
  }

  @Override
  public synchronized void close() {
    ZooKeeperLink open = link;
    link = null;
    known = null;
    if (open != null) {
      open.close();
    }
  }
}
