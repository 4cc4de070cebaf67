package io.espalier.nodes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.espalier.core.config.Levels;
import io.espalier.core.json.Json;
import io.espalier.core.problem.Problem;
import io.espalier.core.topology.NodeSource;
import io.espalier.core.topology.NodeSourceException;
import io.espalier.core.topology.NodeSourceType;
import io.espalier.core.topology.NodeSpec;
import io.espalier.testkit.nodes.NodeRecorder;
import io.espalier.testkit.nodes.NodeSourceContract;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.apache.curator.test.TestingServer;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Id;
import org.apache.zookeeper.server.auth.DigestAuthenticationProvider;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Against a real server of ZooKeeper. */
@Timeout(120)
class ZooKeeperNodesTest extends NodeSourceContract {
  private static final Levels ONE = Levels.of(List.of("host"));
  private static final Levels TWO = Levels.of(List.of("host", "db"));

  private final Path directory;
  private final TestingServer server;
  private final CuratorFramework client;
  private final List<NodeSource> open = new ArrayList<>();

  ZooKeeperNodesTest(@TempDir Path directory) throws Exception {
    this.directory = directory;
    System.setProperty("zookeeper.admin.enableServer", "false");
    server = new TestingServer(true);
    client = CuratorFrameworkFactory.newClient(server.getConnectString(), new RetryOneTime(100));
    client.start();
  }

  @AfterEach
  void stop() throws Exception {
    open.forEach(NodeSource::close);
    client.close();
    server.close();
  }

  @Override
  protected NodeSourceType type() {
    return new ZooKeeperNodes.Type();
  }

  @Override
  protected String configDirectory() {
    return directory.toString();
  }

  private void znode(String path, String data) throws Exception {
    byte[] bytes = data.getBytes(StandardCharsets.UTF_8);
    if (client.checkExists().forPath(path) == null) {
      String created = client.create().creatingParentsIfNeeded().forPath(path, bytes);
      assertThat(created).isEqualTo(path);
    } else {
      assertThat(client.setData().forPath(path, bytes)).isNotNull();
    }
  }

  private void delete(String path) throws Exception {
    client.delete().deletingChildrenIfNeeded().forPath(path);
  }

  @Override
  protected Example example() throws Exception {
    znode("/inventory", "");
    znode("/inventory/b", "");
    znode("/inventory/b/d2", "");
    znode("/inventory/b/d1", "{\"tags\": [\"ssd\"], \"disabled\": true}");
    znode("/inventory/a", "{\"attributes\": {\"gb\": 5}}");
    Json.Obj prefs =
        Tree.prefs(
            "{\"parent_level\": \"rack\", \"connect\": \""
                + server.getConnectString()
                + "\", \"path\": \"/{parent}\", \"depth\": 2, \"format\": \"{parent}.{name}\","
                + " \"data\": \"node\", \"auth_file\": \"account\", \"refresh_sec\": 60,"
                + " \"timeout_sec\": 20}");
    Files.writeString(directory.resolve("account"), "digest joe:s3cret\n");
    return new Example(
        Levels.of(List.of("rack", "host", "db")),
        prefs,
        List.of(NodeSpec.child(1, "inventory", null)),
        List.of(
            new NodeSpec(
                2,
                "inventory.a",
                "inventory",
                1,
                true,
                Set.of(),
                Json.object().put("gb", 5).build()),
            NodeSpec.child(2, "inventory.b", "inventory"),
            new NodeSpec(
                3, "inventory.b.d1", "inventory.b", 2, false, Set.of("ssd"), Json.Obj.EMPTY),
            NodeSpec.child(3, "inventory.b.d2", "inventory.b")));
  }

  @Override
  protected Map<Json.Obj, List<String>> badPrefs() {
    return Map.of(
        Json.Obj.EMPTY,
        List.of("parent_level", "connect", "path"),
        Tree.prefs(
            "{\"parent_level\": \"host\", \"connect\": \"a b\", \"path\": \"hosts/\", \"depth\": 2,"
                + " \"format\": \"x\", \"data\": \"all\", \"auth_file\": \"\", \"refresh_sec\": 0,"
                + " \"timeout_sec\": []}"),
        List.of(
            "connect",
            "path",
            "depth",
            "format",
            "data",
            "auth_file",
            "refresh_sec",
            "timeout_sec"),
        Tree.prefs("{\"parent_level\": \"host\", \"connect\": \"zk:2181/x\", \"path\": \"/x\"}"),
        List.of("path"));
  }

  @Override
  protected List<Json.Obj> failingPrefs() {
    return List.of(
        Tree.prefs(
            "{\"parent_level\": \"rack\", \"connect\": \""
                + server.getConnectString()
                + "\", \"path\": \"/nowhere/{parent}\"}"));
  }

  private NodeSource hosts(String more) {
    NodeSource source =
        source(
            ONE,
            Tree.prefs(
                "{\"parent_level\": \"instance\", \"connect\": \"%s\", \"path\": \"/hosts\"%s}"
                    .formatted(server.getConnectString(), more.replace('\'', '"'))));
    open.add(source);
    return source;
  }

  private static List<String> names(NodeSource source) throws Exception {
    return NodeRecorder.fetch(source, ONE, List.of(), NOW).stream().map(NodeSpec::name).toList();
  }

  private static List<String> problems(NodeSource source) {
    List<String> problems = new ArrayList<>();
    assertThatThrownBy(() -> names(source))
        .isInstanceOfSatisfying(
            NodeSourceException.class,
            e -> e.problems().stream().map(Problem::message).forEach(problems::add));
    return problems;
  }

  @Test
  void childrenAreNodesAndTheirDataAttributes() throws Exception {
    znode("/hosts", "not looked at");
    znode("/hosts/h2", "");
    znode("/hosts/h1", "{\"gb\": 5, \"rack\": [1]}");
    List<NodeSpec> nodes = NodeRecorder.fetch(hosts(""), ONE, List.of(), NOW);
    assertThat(nodes).extracting(NodeSpec::name).containsExactly("h1", "h2");
    assertThat(nodes.get(0).attributes()).hasToString("{\"gb\":5,\"rack\":[1]}");
    assertThat(nodes.get(0).parent()).isNull();
    znode("/hosts/h2", "raw");
    assertThat(problems(hosts("")))
        .singleElement()
        .asString()
        .startsWith("the znode /hosts/h2 holds data that is not a JSON object: ")
        .endsWith("; \"data\": \"ignore\" leaves it alone");
    assertThat(names(hosts(", 'data': 'ignore'"))).containsExactly("h1", "h2");
  }

  @Test
  void theSameNameUnderSeveralParentsIsAReplica() throws Exception {
    znode("/hosts/a/d", "");
    znode("/hosts/b/d", "");
    NodeSource source =
        source(
            TWO,
            Tree.prefs(
                "{\"parent_level\": \"instance\", \"connect\": \"%s\", \"path\": \"/hosts\","
                        .formatted(server.getConnectString())
                    + " \"depth\": 2, \"data\": \"ignore\"}"));
    open.add(source);
    assertThat(NodeRecorder.fetch(source, TWO, List.of(), NOW))
        .containsExactly(
            NodeSpec.child(1, "a", null),
            NodeSpec.child(1, "b", null),
            NodeSpec.child(2, "d", "a"),
            NodeSpec.child(2, "d", "b"));
  }

  @Test
  void aChangeAnywhereBelowIsNewsAtOnceAlsoAfterTheServerWasAway() throws Exception {
    znode("/hosts/h1", "");
    AtomicInteger news = new AtomicInteger();
    NodeSource source = hosts("");
    source.watch(news::incrementAndGet);
    assertThat(names(source)).containsExactly("h1");
    // The watch is set beside the first answer, and says so itself.
    await().until(() -> news.get() > 0);
    awaitNews(news, () -> znode("/hosts/h2", ""));
    assertThat(names(source)).containsExactly("h1", "h2");
    awaitNews(news, () -> znode("/hosts/h2", "{\"gb\": 1}"));
    awaitNews(news, () -> delete("/hosts/h1"));
    assertThat(names(source)).containsExactly("h2");
    awaitNews(news, server::restart);
    awaitNews(news, () -> znode("/hosts/h3", ""));
    assertThat(names(source)).contains("h3");
  }

  private interface Act {
    void run() throws Exception;
  }

  private static void awaitNews(AtomicInteger news, Act act) throws Exception {
    int before = news.get();
    act.run();
    await().until(() -> news.get() > before);
  }

  @Test
  void manyZnodesAreReadInTheOrderOfTheirNames() throws Exception {
    List<String> names = new ArrayList<>();
    for (int i = 0; i < 1200; i++) {
      names.add("h%04d".formatted(i));
      znode("/hosts/" + names.get(i), i % 2 == 0 ? "" : "{\"i\": " + i + "}");
    }
    assertThat(names(hosts(""))).isEqualTo(names);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{\"name\": \"x\"} | holds a \"name\" or a \"parent\", which its place already says",
        "{\"tag\": []} | has the unknown key \"tag\": did you mean \"tags\"?",
        "{\"disabled\": 5} | has \"disabled\" that is neither true nor false: 5",
        "[] | holds data that is not a JSON object; \"data\": \"ignore\" leaves it alone"
      })
  void dataThatIsNoNodeIsNamed(String data, String problem) throws Exception {
    znode("/hosts/h1", data);
    assertThat(problems(hosts(", 'data': 'node'")))
        .containsExactly("the znode /hosts/h1 " + problem);
  }

  @Test
  void hugeNamesAreRefused() throws Exception {
    znode("/hosts/" + "x".repeat(1025), "");
    assertThat(problems(hosts("")))
        .singleElement()
        .asString()
        .endsWith(" is not a node: its name is longer than 1024 bytes");
  }

  @Test
  void whatIsNotThereOrMayNotBeReadIsSaid() throws Exception {
    String at = "ZooKeeper at " + server.getConnectString() + " ";
    assertThat(problems(hosts(""))).containsExactly(at + "has no znode /hosts");
    String digest = DigestAuthenticationProvider.generateDigest("joe:s3cret");
    List<ACL> joe = List.of(new ACL(ZooDefs.Perms.ALL, new Id("digest", digest)));
    assertThat(client.create().withACL(joe).forPath("/hosts")).isEqualTo("/hosts");
    assertThat(problems(hosts("")).get(0)).startsWith(at + "does not let /hosts be read");
    String account = ", 'auth_file': 'account'";
    assertThat(problems(hosts(account)).get(0)).startsWith(at + "has no file with its account");
    Files.writeString(directory.resolve("account"), "s3cret");
    assertThat(problems(hosts(account)).get(0))
        .contains("does not hold a scheme and an account")
        .doesNotContain("s3cret");
    Files.writeString(directory.resolve("account"), "digest joe:s3cret\n");
    assertThat(names(hosts(account))).isEmpty();
  }

  @Test
  void aServerThatIsAwayIsGivenUpInTime() throws Exception {
    NodeSource source = hosts(", 'timeout_sec': 0.5");
    server.stop();
    assertThat(problems(source))
        .singleElement()
        .asString()
        .matches("ZooKeeper at .* (did not answer within 0.5 s|failed: no server can be reached)");
  }

  @Test
  void aNodeWhoseNameHoldsASlashHasNoZnode() {
    NodeSource source =
        source(
            TWO,
            Tree.prefs(
                "{\"parent_level\": \"host\", \"connect\": \"%s\", \"path\": \"/of/{parent}\"}"
                    .formatted(server.getConnectString())));
    open.add(source);
    assertThatThrownBy(
            () ->
                NodeRecorder.fetch(source, TWO, List.of(NodeSpec.child(1, "../secret", null)), NOW))
        .isInstanceOf(NodeSourceException.class)
        .hasMessage("the node \"../secret\" has no znode: its name holds a slash");
  }
}
