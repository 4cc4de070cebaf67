package io.espalier.server.probes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpServer;
import io.espalier.core.config.Levels;
import io.espalier.core.config.NodeOrder;
import io.espalier.core.config.Settings;
import io.espalier.core.config.read.ConfigParser;
import io.espalier.core.loop.health.ProbeAnswer;
import io.espalier.core.loop.health.ProbeAnswer.Sample;
import io.espalier.core.topology.NodeSourceContext;
import io.espalier.core.topology.NodeSourceType;
import io.espalier.core.topology.NodeSpec;
import io.espalier.core.topology.Topology;
import io.espalier.core.topology.TopologyBuilder;
import io.espalier.server.nodes.NodeFetcher;
import io.espalier.testkit.config.ConfigFixtures;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.ServiceLoader;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Sources of probes, each a real one (docs/probes.md#where-values-come-from). */
@Timeout(60)
@SuppressWarnings("NullAway.Init")
class ProbePollersTest {
  private static final Map<String, NodeSourceType> TYPES =
      ServiceLoader.load(NodeSourceType.class).stream()
          .map(ServiceLoader.Provider::get)
          .collect(Collectors.toMap(NodeSourceType::name, type -> type));

  private final LinkedBlockingQueue<ProbeAnswer> answers = new LinkedBlockingQueue<>();

  @TempDir private Path directory;

  private NodeFetcher fetcher() {
    return new NodeFetcher(
        TYPES, "here", new NodeSourceContext(directory.toString(), directory.toString()));
  }

  private static Settings settings(String source, String prefs) {
    String text =
        """
        {'bistro_settings': {'nodes': {'levels': ['host'], 'node_sources': [{'source': 'empty'}]},
          'resources': {}, 'probes': {'lag': {'source': '%s', 'prefs': {%s}, 'every': 1,
          'bad_above': 5, 'good_below': 2}}}}
        """
            .formatted(source, prefs);
    ConfigParser parser =
        new ConfigParser(ConfigFixtures.POLICIES, List.of("roundrobin"), TYPES.keySet());
    return Objects.requireNonNull(parser.parse(ConfigFixtures.json(text)).value()).settings();
  }

  private ProbeAnswer next() throws InterruptedException {
    return Objects.requireNonNull(answers.poll(30, TimeUnit.SECONDS));
  }

  private ProbeAnswer ask(String source, String prefs) throws InterruptedException {
    try (ProbePollers pollers = new ProbePollers(fetcher(), InstantSource.system(), answers::add)) {
      pollers.settings(settings(source, prefs));
      return next();
    }
  }

  private static Map<String, Double> values(ProbeAnswer answer) {
    return answer.samples().stream().collect(Collectors.toMap(Sample::node, Sample::value));
  }

  private void write(String name, String text) throws IOException {
    Files.writeString(directory.resolve(name), text);
  }

  @Test
  void aFileIsReadAgainAndAgain() throws Exception {
    write("lag.csv", "name,value\ndb-1,7.5\ndb-2, 1\n");
    try (ProbePollers pollers = new ProbePollers(fetcher(), InstantSource.system(), answers::add)) {
      pollers.settings(settings("file", "'path': 'lag.csv'"));
      assertThat(values(next())).isEqualTo(Map.of("db-1", 7.5, "db-2", 1.0));
      write("lag.csv", "name,value\ndb-1,0\n");
      await().until(() -> values(next()).equals(Map.of("db-1", 0.0)));
      Files.delete(directory.resolve("lag.csv"));
      await().until(() -> next().problem().contains("there is no file"));
    }
  }

  @Test
  void aValueMayTellWhenItWasSampled() throws Exception {
    write(
        "lag.json",
        """
        [{"name": "old", "value": 1, "at": 1700000000},
         {"name": "older", "value": 1, "at": "2020-01-01T00:00:00Z"},
         {"name": "future", "value": 1, "at": "2999-01-01T00:00:00Z"}]
        """);
    Instant before = Instant.now();
    Map<String, Long> at =
        ask("file", "'path': 'lag.json'").samples().stream()
            .collect(Collectors.toMap(Sample::node, Sample::atMillis));
    assertThat(at).containsEntry("old", 1_700_000_000_000L);
    assertThat(at).containsEntry("older", Instant.parse("2020-01-01T00:00:00Z").toEpochMilli());
    assertThat(at.get("future")).isBetween(before.toEpochMilli(), Instant.now().toEpochMilli());
  }

  @Test
  void aScriptPrintsNodesWithAValue() throws Exception {
    write("lag.sh", "#!/bin/sh\necho '{\"name\": \"db-1\", \"attributes\": {\"lag\": 3}}'\n");
    Files.setPosixFilePermissions(
        directory.resolve("lag.sh"), PosixFilePermissions.fromString("rwx------"));
    assertThat(values(ask("script", "'script': 'lag.sh'"))).isEqualTo(Map.of("db-1", 3.0));
  }

  @Test
  void aScriptThatHangsIsEndedByItsTimeLimit() throws Exception {
    write("lag.sh", "#!/bin/sh\nsleep 1000\n");
    Files.setPosixFilePermissions(
        directory.resolve("lag.sh"), PosixFilePermissions.fromString("rwx------"));
    ProbeAnswer answer = ask("script", "'script': 'lag.sh', 'timeout_sec': 0.2");
    assertThat(answer.samples()).isEmpty();
    assertThat(answer.problem()).contains("lag.sh");
  }

  @Test
  void aDatabaseAnswersOneQueryForAllNodes() throws Exception {
    String url = "jdbc:sqlite:" + directory.resolve("lag.db");
    try (Connection connection = DriverManager.getConnection(url);
        Statement statement = connection.createStatement()) {
      statement.executeUpdate("CREATE TABLE replica_lag (host TEXT, lag_s REAL)");
      statement.executeUpdate("INSERT INTO replica_lag VALUES ('db-1', 7.2), ('db-2', 0)");
    }
    String query = "'query': 'SELECT host AS name, lag_s FROM replica_lag'";
    assertThat(values(ask("sql", "'url': '" + url + "', " + query)))
        .isEqualTo(Map.of("db-1", 7.2, "db-2", 0.0));
  }

  @Test
  void aWebServiceAnswersWithAListInsideAnObject() throws Exception {
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    byte[] body =
        "{\"data\": {\"hosts\": [{\"id\": \"db-1\", \"lag\": \"4.5\"}, {\"id\": \"db-2\", \"lag\": \"NaN\"}]}}"
            .getBytes(StandardCharsets.UTF_8);
    server.createContext(
        "/",
        exchange -> {
          exchange.sendResponseHeaders(200, body.length);
          exchange.getResponseBody().write(body);
          exchange.close();
        });
    server.start();
    try {
      ProbeAnswer answer =
          ask(
              "http",
              "'url': 'http://127.0.0.1:"
                  + server.getAddress().getPort()
                  + "/', 'items': 'data.hosts',"
                  + " 'columns': {'name': 'id', 'attributes': ['lag']}");
      assertThat(values(answer)).as(answer.problem()).isEqualTo(Map.of("db-1", 4.5));
      assertThat(answer.problem()).isEqualTo("1 row of 2 cannot be used: that of db-2 is \"NaN\"");
    } finally {
      server.stop(0);
    }
  }

  private static Topology hosts(List<String> names) {
    TopologyBuilder builder = new TopologyBuilder(Levels.of(List.of("host")), "here");
    names.forEach(name -> builder.add(NodeSpec.child(1, name, null)));
    return Objects.requireNonNull(builder.build(NodeOrder.ORIGINAL).value());
  }

  private ProbeAnswer askEach(List<String> names, String source, String prefs) throws Exception {
    try (ProbePollers pollers = new ProbePollers(fetcher(), InstantSource.system(), answers::add)) {
      pollers.settings(settings(source, prefs));
      assertThat(next()).as("nobody to ask yet").isEqualTo(new ProbeAnswer("lag", List.of(), ""));
      pollers.nodes(hosts(names));
      return next();
    }
  }

  private void awaitAnswer(List<String> names, String prefs, Predicate<ProbeAnswer> wanted) {
    answers.clear();
    try (ProbePollers pollers = new ProbePollers(fetcher(), InstantSource.system(), answers::add)) {
      pollers.nodes(hosts(names));
      pollers.settings(settings("http", prefs));
      await().until(() -> wanted.test(next()));
    }
  }

  @Test
  void eachNodeIsAskedAndThoseThatGiveNoValueKeepNoOtherFromBeingKnown() throws Exception {
    CountDownLatch never = new CountDownLatch(1);
    ExecutorService threads = Executors.newCachedThreadPool();
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(threads);
    server.createContext(
        "/",
        exchange -> {
          try (exchange) {
            switch (exchange.getRequestURI().getPath()) {
              case "/well" -> {
                exchange.sendResponseHeaders(200, 3);
                exchange.getResponseBody().write("4.5".getBytes(StandardCharsets.UTF_8));
              }
              case "/hangs" -> awaitQuietly(never);
              case "/sick" -> exchange.sendResponseHeaders(503, -1);
              default -> {
                exchange.sendResponseHeaders(200, 6);
                exchange.getResponseBody().write("\"text\"".getBytes(StandardCharsets.UTF_8));
              }
            }
          }
        });
    server.start();
    try {
      String url = "http://127.0.0.1:" + server.getAddress().getPort() + "/";
      // On a machine with much to do, the well node may be late, too; it is asked first then.
      awaitAnswer(
          List.of("hangs", "sick", "text", "well"),
          "'url': '" + url + "{node}', 'timeout_sec': 0.5",
          answer ->
              values(answer).equals(Map.of("well", 4.5))
                  && answer.problem().startsWith("3 of 4 nodes gave no value: "));
      String refusal = "1 of 1 nodes gave no value: sick: " + url + "sick answered with status 503";
      awaitAnswer(
          List.of("sick"),
          "'url': '" + url + "{node}'",
          answer -> answer.samples().isEmpty() && answer.problem().equals(refusal));
    } finally {
      never.countDown();
      server.stop(0);
      threads.shutdownNow();
    }
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void eightNodesAreAskedAtTheSameTimeAndNoMore() throws Exception {
    int nodes = 24;
    AtomicInteger current = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    CyclicBarrier eight = new CyclicBarrier(8);
    ExecutorService threads = Executors.newCachedThreadPool();
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(threads);
    server.createContext(
        "/",
        exchange -> {
          try (exchange) {
            most.accumulateAndGet(current.incrementAndGet(), Math::max);
            eight.await();
            current.decrementAndGet();
            exchange.sendResponseHeaders(200, 1);
            exchange.getResponseBody().write('1');
          } catch (InterruptedException | BrokenBarrierException e) {
            throw new IOException(e);
          }
        });
    server.start();
    try {
      ProbeAnswer answer =
          askEach(
              IntStream.range(0, nodes).mapToObj(i -> "h" + i).toList(),
              "http",
              "'url': 'http://127.0.0.1:" + server.getAddress().getPort() + "/{node}'");
      assertThat(answer.problem()).isEmpty();
      assertThat(answer.samples()).hasSize(nodes);
      assertThat(most).hasValue(8);
    } finally {
      server.stop(0);
      threads.shutdownNow();
    }
  }

  @Test
  void aDatabaseIsAskedAboutEachNode() throws Exception {
    String url = "jdbc:sqlite:" + directory.resolve("lag.db");
    try (Connection connection = DriverManager.getConnection(url);
        Statement statement = connection.createStatement()) {
      statement.executeUpdate("CREATE TABLE lag (host TEXT, s REAL)");
      statement.executeUpdate("INSERT INTO lag VALUES ('db-1', 7.2), ('db-2', 0), ('db-9', 5)");
    }
    ProbeAnswer answer =
        askEach(
            List.of("db-1", "db-2", "db-3"),
            "sql",
            "'url': '" + url + "', 'query': 'SELECT s FROM lag WHERE host = {node}'");
    assertThat(values(answer)).isEqualTo(Map.of("db-1", 7.2, "db-2", 0.0));
    assertThat(answer.problem())
        .isEqualTo("1 of 3 nodes gave no value: db-3: the answer has no rows");
  }

  @Test
  void aSourceThatIsForProbesDeliversNoNodes() {
    for (String source :
        List.of(
            "'source': 'http', 'prefs': {'parent_level': 'instance', 'url': 'http://h/{node}'}",
            "'source': 'prometheus', 'prefs': {'url': 'http://h', 'query': 'up'}")) {
      String text =
          "{'bistro_settings': {'nodes': {'levels': ['host'], 'node_sources': [{"
              + source
              + "}]}, 'resources': {}}}";
      ConfigParser parser =
          new ConfigParser(ConfigFixtures.POLICIES, List.of("roundrobin"), TYPES.keySet());
      Settings settings =
          Objects.requireNonNull(parser.parse(ConfigFixtures.json(text)).value()).settings();
      assertThat(fetcher().check(settings)).hasSize(1).first().asString().contains("for probes");
    }
  }

  @Test
  void whatHasNoNumberIsToldAndTheRestIsUsed() throws Exception {
    write(
        "lag.json",
        """
        [{"name": "a", "value": "high"}, {"name": "b"}, {"name": "c", "value": 1},
         {"name": "d", "value": 1, "at": "yesterday"}, {"name": "c", "value": 9}]
        """);
    ProbeAnswer answer = ask("file", "'path': 'lag.json'");
    assertThat(values(answer)).as("the worse of two counts").isEqualTo(Map.of("c", 9.0));
    assertThat(answer.problem())
        .isEqualTo("3 rows of 5 cannot be used: that of a is \"high\", the first of them");
  }

  @Test
  void anAnswerWithTooManyRowsOrNoneIsAProblem() throws Exception {
    StringBuilder rows = new StringBuilder("name,value\n");
    for (int i = 0; i < 1_000_000; i++) {
      rows.append('n').append(i).append(",1\n");
    }
    write("lag.csv", rows.toString());
    ProbeAnswer answer = ask("file", "'path': 'lag.csv'");
    assertThat(answer.samples()).isEmpty();
    assertThat(answer.problem()).isEqualTo("the answer has more than 100000 rows");
    write("none.json", "[]");
    assertThat(ask("file", "'path': 'none.json'").problem()).isEqualTo("the answer has no rows");
    write("text.json", "we are fine");
    assertThat(ask("file", "'path': 'text.json'").problem()).contains("text.json");
  }

  @Test
  void editedSettingsAreFollowedAndRemovedProbesAreNotAsked() throws Exception {
    write("a.csv", "name,value\na,1\n");
    write("b.csv", "name,value\nb,1\n");
    try (ProbePollers pollers = new ProbePollers(fetcher(), InstantSource.system(), answers::add)) {
      pollers.settings(settings("file", "'path': 'a.csv'"));
      assertThat(values(next())).containsKey("a");
      pollers.settings(settings("file", "'path': 'b.csv'"));
      await().until(() -> values(next()).containsKey("b"));
      pollers.settings(settings("push", ""));
      answers.clear();
      assertThat(Thread.getAllStackTraces().keySet())
          .extracting(Thread::getName)
          .doesNotContain("probe-lag");
    }
  }

  @Test
  void sourcesThatCannotBeMadeAreProblemsOfTheConfiguration() throws Exception {
    assertThat(fetcher().check(settings("file", "'pathh': 'x'"))).isNotEmpty();
    assertThat(fetcher().check(settings("file", "'path': 'x.csv'"))).isEmpty();
    assertThat(fetcher().check(settings("push", ""))).isEmpty();
    assertThat(ask("file", "'pathh': 'x'").problem()).contains("path");
  }
}
