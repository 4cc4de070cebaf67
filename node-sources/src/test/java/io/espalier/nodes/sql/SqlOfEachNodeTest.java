package io.espalier.nodes.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.espalier.core.config.Levels;
import io.espalier.core.json.Json;
import io.espalier.core.topology.NodeSource;
import io.espalier.core.topology.NodeSourceException;
import io.espalier.core.topology.NodeSpec;
import io.espalier.core.topology.ProbeUse;
import io.espalier.core.topology.PushDown;
import io.espalier.nodes.Tree;
import io.espalier.testkit.nodes.NodeRecorder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A database of each parent or node, whose name is in the address. Against SQLite. */
@Timeout(120)
class SqlOfEachNodeTest {
  private static final Levels TWO = Levels.of(List.of("host", "db"));
  private static final Levels ONE = Levels.of(List.of("host"));

  private final Path directory;

  SqlOfEachNodeTest(@TempDir Path directory) {
    this.directory = directory;
  }

  private void database(String name, String... databases) throws SQLException {
    try (Connection connection =
            DriverManager.getConnection("jdbc:sqlite:" + directory.resolve(name + ".db"));
        Statement statement = connection.createStatement()) {
      statement.executeUpdate("create table dbs (db text, host text, lag real)");
      for (String each : databases) {
        statement.executeUpdate("insert into dbs values ('" + each + "', '" + name + "', 7.5)");
      }
    }
  }

  private NodeSource source(Levels levels, String parentLevel, String placeholder, String query) {
    return Tree.source(
        new SqlNodes.Type(),
        levels,
        "{\"parent_level\": \"%s\", \"url\": \"jdbc:sqlite:%s/%s.db\", \"query\": \"%s\"}"
            .formatted(parentLevel, directory, placeholder, query));
  }

  private static List<NodeSpec> fetch(NodeSource source, String... hosts) throws Exception {
    try {
      return NodeRecorder.fetch(
          source,
          TWO,
          Stream.of(hosts).map(host -> NodeSpec.child(1, host, null)).toList(),
          Instant.EPOCH);
    } finally {
      source.close();
    }
  }

  @Test
  void theDatabaseOfEachParentIsAskedAndTheOrderIsThatOfTheParents() throws Exception {
    List<String> hosts = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      hosts.add("host-" + i);
      database("host-" + i, i + "-a", i + "-b");
    }
    for (String query :
        List.of(
            "select db from dbs order by db", "select db from dbs where host = ? order by db")) {
      NodeSource source = source(TWO, "host", "{parent}", query);
      assertThat(source.pushDown()).isEqualTo(PushDown.NONE);
      assertThat(fetch(source, hosts.toArray(String[]::new)))
          .containsExactlyElementsOf(
              IntStream.range(0, 40)
                  .mapToObj(
                      i -> NodeSpec.child(2, i / 2 + (i % 2 == 0 ? "-a" : "-b"), "host-" + i / 2))
                  .toList());
    }
  }

  @Test
  void aRowCannotNameAnotherParent() throws Exception {
    database("a", "x");
    assertThatThrownBy(
            () ->
                fetch(
                    source(TWO, "host", "{parent}", "select db as name, 'b' as parent from dbs"),
                    "a"))
        .isInstanceOf(NodeSourceException.class)
        .hasMessageContaining("a.db")
        .hasMessageContaining("names another parent than \"a\"");
  }

  @Test
  void aDatabaseThatIsAwayIsNamedAndNothingIsDelivered() throws Exception {
    database("a", "x");
    assertThatThrownBy(() -> fetch(source(TWO, "host", "{parent}", "select db from dbs"), "a", "b"))
        .isInstanceOf(NodeSourceException.class)
        .hasMessageContaining("/b.db cannot be reached");
    assertThat(Files.exists(directory.resolve("b.db"))).isFalse();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "../a",
        "..",
        ".",
        "a/b",
        "a?mode=memory",
        "a b",
        "a&x=1",
        "a:1:2",
        "ä",
        "a%2e",
        "-a",
        "a#"
      })
  void aNameThatWouldChangeTheAddressIsRefused(String name) throws Exception {
    database("a", "x");
    assertThatThrownBy(
            () -> fetch(source(TWO, "host", "{parent}", "select db from dbs"), "a", name))
        .isInstanceOf(NodeSourceException.class)
        .hasMessageContaining("cannot be the address for this node");
  }

  @Test
  void aProbeAsksTheDatabaseOfEachNode() throws Exception {
    database("a", "x");
    for (String query : List.of("select lag from dbs", "select lag from dbs where host = {node}")) {
      NodeSource source =
          Tree.source(
              new SqlNodes.Type(),
              ONE,
              "{\"parent_level\": \"instance\", \"url\": \"jdbc:sqlite:%s/{node}.db\", \"query\": \"%s\", \"columns\": {\"attributes\": [\"value\"]}}"
                  .formatted(directory, query));
      assertThat(source.probeUse()).isEqualTo(ProbeUse.PER_NODE);
      assertThat(
              NodeRecorder.fetch(source, ONE, List.of(NodeSpec.child(1, "a", null)), Instant.EPOCH))
          .containsExactly(
              new NodeSpec(
                  1, "a", null, 0, true, Set.of(), Json.object().put("value", 7.5).build()));
      source.close();
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "jdbc:mysql://{parent}/{node} | select 1 | use one of them",
        "jdbc:mysql://{parents}/x | select 1 | an address is of one database",
        "jdbc:mysql://db/x?connectionAttributes={parent} | select 1 | a name cannot be an option",
        "jdbc:mysql://{parent}/x | select 1 where 1 in ({parents}) | the query is not",
        "jdbc:mysql://{parent}/x | select {node} | the query is not",
        "jdbc:mysql://{node}/x | select ? | the query is not",
      })
  void anAddressThatCannotBeMeantIsAnError(String url, String query, String message) {
    assertThat(
            Tree.create(
                    new SqlNodes.Type(),
                    TWO,
                    "{\"parent_level\": \"host\", \"url\": \"%s\", \"query\": \"%s\"}"
                        .formatted(url, query))
                .problems())
        .singleElement()
        .satisfies(problem -> assertThat(problem.toString()).contains(message));
  }
}
