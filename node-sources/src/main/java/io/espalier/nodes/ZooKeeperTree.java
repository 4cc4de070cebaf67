package io.espalier.nodes;

import io.espalier.core.config.RoleFilter;
import io.espalier.core.json.Json;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Result;
import io.espalier.core.topology.NodeSink;
import io.espalier.core.topology.NodeSourceException;
import io.espalier.core.topology.NodeSpec;
import io.espalier.json.JsonReader;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import org.apache.curator.framework.CuratorFramework;
import org.apache.zookeeper.KeeperException;
import org.jspecify.annotations.Nullable;

/**
 * Reads znodes and their data, many at a time, and turns them into nodes, in the order of names.
 */
final class ZooKeeperTree {
  /** The maximum number of concurrent requests. */
  private static final int AT_ONCE = 500;

  private static final ColumnMapping NODE = ColumnMapping.usual();

  private final NameFormat format;
  private final Data data;

  /** How to interpret the data of a znode. */
  enum Data {
    ATTRIBUTES,
    NODE,
    IGNORED;

    static Data of(String word) {
      return switch (word) {
        case "node" -> NODE;
        case "ignore" -> IGNORED;
        default -> ATTRIBUTES;
      };
    }
  }

  /** Receives nodes as long as there is no problem. For one fetch. */
  static final class Delivery {
    private static final int MAX_PROBLEMS = 20;

    private final NodeSink sink;
    private final String path;
    private final int depth;
    private final int parentLevel;
    private final List<Problem> problems = new ArrayList<>();
    private long nodes;

    Delivery(NodeSink sink, String path, int depth, int parentLevel) {
      this.sink = sink;
      this.path = path;
      this.depth = depth;
      this.parentLevel = parentLevel;
    }

    void problem(String message) throws NodeSourceException {
      problems.add(Problem.error(path, message));
      if (problems.size() >= MAX_PROBLEMS) {
        finish();
      }
    }

    void finish() throws NodeSourceException {
      if (!problems.isEmpty()) {
        throw new NodeSourceException(problems);
      }
    }

    private void add(NodeSpec node) throws NodeSourceException {
      if (++nodes > RowToNodes.MAX_NODES) {
        problem("there are more than %,d znodes".formatted(RowToNodes.MAX_NODES));
        finish();
      }
      if (problems.isEmpty()) {
        sink.add(node);
      }
    }
  }

  ZooKeeperTree(NameFormat format, Data data) {
    this.format = format;
    this.data = data;
  }

  /**
   * Delivers the children of a znode as the children of a node.
   *
   * @throws KeeperException when the znode does not exist, or may not be read
   */
  void read(CuratorFramework client, String znode, String parent, Delivery to) throws Exception {
    List<String> children = client.getChildren().forPath(znode);
    read(client, Map.of(znode, children), Map.of(znode, parent), to, 1);
  }

  /**
   * Reads one level of the tree.
   *
   * @param children child names by znode
   * @param nodes node names by znode
   */
  private void read(
      CuratorFramework client,
      Map<String, List<String>> children,
      Map<String, String> nodes,
      Delivery to,
      int depth)
      throws Exception {
    List<String> paths = new ArrayList<>();
    children.forEach(
        (znode, names) -> names.stream().sorted().forEach(name -> paths.add(below(znode, name))));
    Map<String, byte[]> contents = data == Data.IGNORED ? Map.of() : contents(client, paths);
    Map<String, String> made = new LinkedHashMap<>();
    for (String path : paths) {
      // A missing znode was deleted meanwhile; the watch reports that.
      if (data == Data.IGNORED || contents.containsKey(path)) {
        String parent = String.valueOf(nodes.get(above(path)));
        NodeSpec node = node(path, parent, contents.get(path), to, depth);
        if (node != null) {
          to.add(node);
          made.put(path, node.name());
        }
      }
    }
    if (depth < to.depth && !made.isEmpty()) {
      Map<String, List<String>> below = childrenOf(client, List.copyOf(made.keySet()));
      read(client, below, made, to, depth + 1);
    }
  }

  private static String below(String znode, String name) {
    return znode.equals("/") ? "/" + name : znode + "/" + name;
  }

  private static String above(String path) {
    int slash = path.lastIndexOf('/');
    return slash == 0 ? "/" : path.substring(0, slash);
  }

  private @Nullable NodeSpec node(
      String path, String parent, byte @Nullable [] content, Delivery to, int depth)
      throws NodeSourceException {
    String last = path.substring(path.lastIndexOf('/') + 1);
    try {
      NodeRow row = NodeRow.named(format.name(what -> what.equals("name") ? last : parent));
      boolean underInstance = to.parentLevel == 0 && depth == 1;
      NodeRow about = about(row.name(), content);
      return new NodeSpec(
          to.parentLevel + depth,
          row.name(),
          underInstance ? null : parent,
          to.parentLevel + depth - 1,
          about.enabled(),
          about.tags(),
          about.attributes(),
          about.role());
    } catch (UnusableNodeException e) {
      to.problem("the znode " + path + " " + e.getMessage());
      return null;
    }
  }

  private NodeRow about(String name, byte @Nullable [] content) throws UnusableNodeException {
    if (data == Data.IGNORED || content == null || content.length == 0) {
      return NodeRow.named(name);
    }
    Result<Json> read = JsonReader.strict().read(content);
    if (!(read.value() instanceof Json.Obj object)) {
      String why = read.problems().stream().map(Problem::message).findFirst().orElse("");
      throw new UnusableNodeException(
          "holds data that is not a JSON object"
              + (why.isEmpty() ? "" : ": " + why)
              + "; \"data\": \"ignore\" leaves it alone");
    }
    if (data == Data.ATTRIBUTES) {
      Json.Obj attributes = new Json.Obj(object.members());
      return new NodeRow(name, null, Set.of(), true, attributes, RoleFilter.NONE, List.of());
    }
    if (object.get("name") != null || object.get("parent") != null) {
      throw new UnusableNodeException(
          "holds a \"name\" or a \"parent\", which its place already says");
    }
    if (object.get(ParentAlternatives.KEY) != null) {
      throw new UnusableNodeException(
          "holds \"alternatives\", but has only the place that it is in");
    }
    return NODE.node(object.with("name", Json.of(name)));
  }

  private static Map<String, byte[]> contents(CuratorFramework client, List<String> paths)
      throws Exception {
    Map<String, byte[]> found = new ConcurrentHashMap<>();
    Many many = new Many();
    for (String path : paths) {
      many.begin();
      client
          .getData()
          .inBackground(
              (source, event) -> {
                byte[] bytes = event.getData();
                if (event.getResultCode() == 0) {
                  found.put(path, bytes == null ? new byte[0] : bytes);
                }
                many.end(event.getResultCode(), path);
              })
          .forPath(path);
    }
    many.await();
    return found;
  }

  private static Map<String, List<String>> childrenOf(CuratorFramework client, List<String> paths)
      throws Exception {
    Map<String, List<String>> found = new ConcurrentHashMap<>();
    Many many = new Many();
    for (String path : paths) {
      many.begin();
      client
          .getChildren()
          .inBackground(
              (source, event) -> {
                if (event.getResultCode() == 0) {
                  found.put(path, event.getChildren());
                }
                many.end(event.getResultCode(), path);
              })
          .forPath(path);
    }
    many.await();
    Map<String, List<String>> ordered = new LinkedHashMap<>();
    for (String path : paths) {
      List<String> children = found.get(path);
      if (children != null) {
        ordered.put(path, children);
      }
    }
    return ordered;
  }

  /** Limits the number of concurrent requests, and remembers a failure. */
  private static final class Many {
    private final Semaphore free = new Semaphore(AT_ONCE);
    private volatile @Nullable KeeperException failure;

    void begin() throws InterruptedException, KeeperException {
      free.acquire();
      check();
    }

    void end(int code, String path) {
      KeeperException.Code meaning = KeeperException.Code.get(code);
      if (meaning != KeeperException.Code.OK && meaning != KeeperException.Code.NONODE) {
        failure =
            KeeperException.create(
                meaning == null ? KeeperException.Code.SYSTEMERROR : meaning, path);
      }
      free.release();
    }

    void await() throws InterruptedException, KeeperException {
      free.acquire(AT_ONCE);
      check();
    }

    private void check() throws KeeperException {
      KeeperException broken = failure;
      if (broken != null) {
        throw broken;
      }
    }
  }
}
