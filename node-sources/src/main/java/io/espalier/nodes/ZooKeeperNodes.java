package io.espalier.nodes;

import io.espalier.core.config.Levels;
import io.espalier.core.config.NodeSourceSpec;
import io.espalier.core.json.Json;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Result;
import io.espalier.core.problem.Suggestions;
import io.espalier.core.topology.NodeLookup;
import io.espalier.core.topology.NodeSink;
import io.espalier.core.topology.NodeSource;
import io.espalier.core.topology.NodeSourceContext;
import io.espalier.core.topology.NodeSourceException;
import io.espalier.core.topology.NodeSourceType;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.regex.Pattern;
import org.apache.curator.utils.PathUtils;
import org.apache.zookeeper.KeeperException;
import org.jspecify.annotations.Nullable;

/**
 * {@code zookeeper}: the children of a znode, and their descendants.
 *
 * <p>Preferences: {@code parent_level}; {@code connect}, as {@code host:2181,other:2181}; {@code
 * path} of the znode, with the placeholder {@code {parent}} one for each parent; {@code depth} (1),
 * the number of levels to fill; {@code format} of the names (default {@code {name}}, placeholders
 * {@code {name} {parent}}); {@code data} of the znodes: {@code attributes} (the default, a JSON
 * object, or empty), {@code node} (a JSON object with {@code tags}, {@code disabled}, {@code
 * attributes}) or {@code ignore}; {@code auth_file}, a file with a line {@code digest
 * user:password}; {@code refresh_sec}; {@code timeout_sec} of a whole answer (60).
 *
 * <p>The source is watched: it reports a change anywhere below the path at once.
 */
public final class ZooKeeperNodes implements NodeSource {
  private final int parentLevel;
  private final ZooKeeperTree tree;
  private final NameFormat znode;
  private final int depth;
  private final Optional<Duration> refresh;
  private final Duration timeout;
  private final String path;
  private final ZooKeeperAccess access;

  private ZooKeeperNodes(
      int parentLevel,
      ZooKeeperTree tree,
      NameFormat znode,
      int depth,
      Optional<Duration> refresh,
      Duration timeout,
      String path,
      ZooKeeperAccess access) {
    this.parentLevel = parentLevel;
    this.tree = tree;
    this.znode = znode;
    this.depth = depth;
    this.refresh = refresh;
    this.timeout = timeout;
    this.path = path;
    this.access = access;
  }

  @Override
  public Optional<Duration> refreshEvery() {
    return refresh;
  }

  @Override
  public void watch(Runnable changed) {
    access.watch(changed);
  }

  @Override
  public void fetch(NodeLookup soFar, Instant now, NodeSink sink)
      throws NodeSourceException, InterruptedException {
    List<String> parents = soFar.names(parentLevel);
    ZooKeeperTree.Delivery delivery = new ZooKeeperTree.Delivery(sink, path, depth, parentLevel);
    try {
      boolean done =
          TimeLimit.call(
              timeout,
              "node-zookeeper",
              () -> {
                for (String parent : parents) {
                  if (parent.indexOf('/') >= 0 && znode.uses("parent")) {
                    delivery.problem(
                        "the node \"" + parent + "\" has no znode: its name holds a slash");
                  } else {
                    tree.read(access.client(), znode.name(placeholder -> parent), parent, delivery);
                  }
                }
                return true;
              });
      assert done;
    } catch (TimeoutException e) {
      throw failure("did not answer within " + timeout.toMillis() / 1000.0 + " s");
    } catch (ExecutionException e) {
      if (e.getCause() instanceof NodeSourceException problem) {
        throw problem;
      }
      throw failure(why(e.getCause()));
    }
    delivery.finish();
  }

  private static String why(@Nullable Throwable cause) {
    if (cause instanceof KeeperException.NoNodeException missing) {
      return "has no znode " + missing.getPath();
    }
    if (cause instanceof KeeperException.NoAuthException refused) {
      return "does not let "
          + refused.getPath()
          + " be read: auth_file names a file with the right to";
    }
    if (cause instanceof NoSuchFileException file) {
      return "has no file with its account: " + file.getFile();
    }
    return "failed: " + (cause == null ? "" : cause.getMessage());
  }

  private NodeSourceException failure(String message) {
    return new NodeSourceException(
        List.of(Problem.error(path, "ZooKeeper at " + access.connect() + " " + message)));
  }

  @Override
  public void close() {
    access.close();
  }

  /** Checks the preferences and creates the source. */
  public static final class Type implements NodeSourceType {
    private static final Pattern SERVERS =
        Pattern.compile("[^\\s,/]+(:[0-9]{1,5})?(,[^\\s,/]+(:[0-9]{1,5})?)*(/[^\\s]*[^\\s/])?");
    private static final List<String> DATA = List.of("attributes", "node", "ignore");

    @Override
    public String name() {
      return "zookeeper";
    }

    @Override
    public Result<NodeSource> create(
        NodeSourceSpec spec, Levels levels, NodeSourceContext context) {
      Prefs prefs = new Prefs(spec);
      int parentLevel = prefs.parentLevel(levels);
      String connect = prefs.requireString("connect", "servers, such as \"zk1:2181,zk2:2181\"");
      if (connect != null && !SERVERS.matcher(connect).matches()) {
        NameFormat.problem(prefs, "connect", "these are not servers", "write host:port,host:port");
      }
      String text = prefs.requireString("path", "the path of a znode");
      NameFormat znode =
          NameFormat.read("path", text == null ? "/" : text, List.of("parent"), prefs);
      if (text != null && !prefs.hasErrorAt("path")) {
        checkPath(znode, parentLevel, prefs);
      }
      int most = parentLevel < 0 ? Integer.MAX_VALUE : Math.max(1, levels.bottom() - parentLevel);
      int depth = (int) prefs.integer("depth", 1, 1, most);
      String names = prefs.string("format", "a string", "{name}");
      NameFormat format = NameFormat.read("format", names, List.of("name", "parent"), prefs);
      if (!names.isEmpty() && !prefs.hasErrorAt("format") && !format.uses("name")) {
        NameFormat.problem(
            prefs,
            "format",
            "without {name} all children of a parent would have the same name",
            "put {name} into the format");
      }
      String data = prefs.string("data", "one of attributes, node, ignore", "attributes");
      if (!DATA.contains(data)) {
        NameFormat.problem(
            prefs,
            "data",
            "expected one of attributes, node, ignore",
            Suggestions.hint(data, DATA));
      }
      Path authFile = authFile(prefs, context.configDirectory());
      Optional<Duration> refresh = prefs.refresh();
      Duration timeout = prefs.timeout();
      return prefs.finish(
          () ->
              new ZooKeeperNodes(
                  parentLevel,
                  new ZooKeeperTree(format, ZooKeeperTree.Data.of(data)),
                  znode,
                  depth,
                  refresh,
                  timeout,
                  spec.path(),
                  new ZooKeeperAccess(
                      connect == null ? "" : connect, watched(text), authFile, timeout)));
    }

    /** Returns the common ancestor of all the znodes. */
    private static String watched(@Nullable String path) {
      if (path == null || path.indexOf('{') < 0) {
        return path == null ? "/" : path;
      }
      int slash = path.lastIndexOf('/', path.indexOf('{'));
      return slash <= 0 ? "/" : path.substring(0, slash);
    }

    private static void checkPath(NameFormat znode, int parentLevel, Prefs prefs) {
      String why = null;
      try {
        PathUtils.validatePath(znode.name(placeholder -> "x"));
      } catch (IllegalArgumentException e) {
        why = "this is not the path of a znode: " + e.getMessage();
      }
      if (why == null && parentLevel > 0 && !znode.uses("parent")) {
        why = "without {parent} the nodes of all parents would be the same";
      }
      if (why != null) {
        NameFormat.problem(prefs, "path", why, null);
      }
    }

    private static @Nullable Path authFile(Prefs prefs, String configDirectory) {
      Json value = prefs.get("auth_file");
      if (value == null) {
        return null;
      }
      String file = prefs.string("auth_file", "the path of a file", "");
      try {
        Path path = Path.of(file);
        if (!file.isEmpty() && (path.isAbsolute() || !configDirectory.isEmpty())) {
          return Path.of(configDirectory).resolve(path);
        }
      } catch (InvalidPathException e) {
        // Reported below.
      }
      if (value instanceof Json.Str) {
        prefs.expected(
            "auth_file", value, "the path of a file, absolute or beside the configuration");
      }
      return null;
    }
  }
}
