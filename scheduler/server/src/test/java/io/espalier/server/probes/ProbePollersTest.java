package io.espalier.server.probes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpServer;
import io.espalier.core.config.Settings;
import io.espalier.core.config.read.ConfigParser;
import io.espalier.core.loop.health.ProbeAnswer;
import io.espalier.core.loop.health.ProbeAnswer.Sample;
import io.espalier.core.problem.Problem;
import io.espalier.core.topology.NodeSourceContext;
import io.espalier.core.topology.NodeSourceType;
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
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
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
    List<Problem> problems = fetcher().check(settings("fiel", ""));
    assertThat(problems).hasSize(1);
    assertThat(problems.get(0).toString()).contains("there is no node source \"fiel\"");
    assertThat(fetcher().check(settings("file", "'pathh': 'x'"))).isNotEmpty();
    assertThat(fetcher().check(settings("file", "'path': 'x.csv'"))).isEmpty();
    assertThat(fetcher().check(settings("push", ""))).isEmpty();
    assertThat(ask("file", "'pathh': 'x'").problem()).contains("path");
  }
}
